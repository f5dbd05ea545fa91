import CBOR
import Longfellow
import Testing

@testable import LongfellowProver

/// Unprovable requests are refused with the reason. No circuit is needed.
struct RefusalTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let refusal: ProverError
    let versions: [Int]
    let change: @Sendable (inout TestDocument) -> Void
    var testDescription: String { name }

    init(
      _ name: String, _ refusal: ProverError, versions: [Int] = [6, 7],
      _ change: @escaping @Sendable (inout TestDocument) -> Void
    ) {
      (self.name, self.refusal, self.versions, self.change) = (name, refusal, versions, change)
    }
  }

  private func witness(
    _ document: ProvableDocument, _ request: ProverRequest, version: Int, elements: Int = 1
  ) throws {
    _ = try MdocWitness(
      document, request, for: known(version, elements), keys: [FieldGF128](repeating: .one, count: 6))
  }

  static let cases = [
    Case("a header with more than the algorithm", .issuerAlgorithm) { $0.protected = [0xa2, 0x01, 0x26, 0x04, 0x40] },
    Case("ES384", .issuerAlgorithm) { $0.protected = [0xa1, 0x01, 0x38, 0x22] },
    Case("an issuer's key on another curve", .issuerKey) {
      $0.issuerCurve = .p384
      $0.issuerSignature = { Array($0.prefix(64)) }
    },
    Case("a wrong issuer signature", .issuerSignature) { $0.issuerSignature = { $0.dropLast() + [$0[63] ^ 1] } },
    Case("an issuer signature of zeros", .issuerSignature) {
      $0.issuerSignature = { _ in [UInt8](repeating: 0, count: 64) }
    },
    Case("a short issuer signature", .issuerSignature) { $0.issuerSignature = { Array($0.dropLast()) } },
    Case("a wrong device signature", .deviceSignature) { $0.deviceSignature = { [$0[0] ^ 1] + $0.dropFirst() } },
    Case("a short device signature", .deviceSignature) { $0.deviceSignature = { Array($0.dropLast()) } },
    Case("an MSO one byte too long for version 6", .securityObjectTooLong, versions: [6]) {
      $0.securityObjectLength = 2207
    },
    Case("an MSO one byte too long for version 7", .securityObjectTooLong) { $0.securityObjectLength = 2527 },
    Case("digests by another function", .digestAlgorithm) { $0.digestAlgorithm = "SHA-512" },
    Case("a validity without tag", .validityFormat) { $0.validFrom = "2026-01-01T00:00:00Z" },
    Case("a validity with fractions", .validityFormat) { $0.validUntil = .tagged(0, "2027-01-01T00:00:00.0Z") },
    Case("a validity that has not begun", .outsideValidity) { $0.validFrom = .tagged(0, "2026-06-01T00:00:01Z") },
    Case("a validity that has ended", .outsideValidity) { $0.validUntil = .tagged(0, "2026-05-31T23:59:59Z") },
    Case("key authorisations", .deviceKeyFormat) { $0.deviceKeyInfo = [("keyAuthorizations", [:])] },
    Case("a device key in another order", .deviceKeyFormat) {
      $0.coseKey = { x, y in
        .map([(.integer(-1), 1), (1, 2), (.integer(-2), .bytes(x)), (.integer(-3), .bytes(y))])
      }
    },
    Case("a compressed device key", .deviceKeyFormat) {
      $0.coseKey = { x, _ in .map([(1, 2), (.integer(-1), 1), (.integer(-2), .bytes(x)), (.integer(-3), true)]) }
    },
    Case("an item without its digest", .digestMissing) { $0.leavesOutDigests = true },
    Case("an item of five members", .itemFormat) { $0.memberOrder.append("other") },
    Case("an item of 120 bytes", .itemLength) { $0.randomLength = 42 },
    Case("a value before its identifier", .itemOrder, versions: [6]) {
      $0.memberOrder = ["elementValue", "digestID", "random", "elementIdentifier"]
    },
    Case("an identifier of 24 bytes", .identifierLength, versions: [7]) {
      $0.elements = [(String(repeating: "i", count: 24), .bool(true))]
    },
    Case("an identifier of 33 bytes", .identifierLength) {
      $0.elements = [(String(repeating: "i", count: 33), .bool(true))]
    },
    Case("a value of 65 bytes", .valueTooLong) { $0.elements = [("i", .bytes([UInt8](repeating: 1, count: 63)))] },
    Case("identifier and value of 97 bytes", .valueTooLong, versions: [6]) {
      $0.elements = [(String(repeating: "i", count: 32), .bytes([UInt8](repeating: 1, count: 48)))]
    },
    Case("an empty identifier", .identifierLength) { $0.elements = [("", .bool(true))] },
    Case("an array", .valueNotSimple) { $0.elements = [("i", ["a"])] },
    Case("another tag", .valueNotSimple) { $0.elements = [("i", .tagged(37, "2000-01-01"))] },
    Case("a null", .valueNotSimple) { $0.elements = [("i", nil)] },
    Case("a number with a fraction", .valueNotSimple) { $0.elements = [("i", .double(1.5))] },
  ]

  @Test(arguments: cases)
  func `an unprovable document is refused`(_ refused: Case) throws {
    var document = TestDocument()
    refused.change(&document)
    let made = try document.make()
    for version in refused.versions {
      #expect(throws: refused.refusal) { try witness(made.document, made.request, version: version) }
    }
  }

  /// Just inside the bounds.
  static let accepted: [@Sendable (inout TestDocument) -> Void] = [
    { _ in },
    { $0.securityObjectLength = 2206 },
    {
      $0.validFrom = .tagged(0, "2026-06-01T00:00:00Z")
      $0.validUntil = $0.validFrom
    },
    { $0.randomLength = 41 },
    { $0.elements = [(String(repeating: "i", count: 23), .tagged(1004, "2000-01-01"))] },
  ]

  @Test(arguments: accepted.indices, [6, 7])
  func `a provable document has a witness`(_ index: Int, version: Int) throws {
    var document = TestDocument()
    Self.accepted[index](&document)
    let made = try document.make()
    try witness(made.document, made.request, version: version)
  }

  @Test(arguments: [
    "2026-06-01T00:00:00", "2026-06-01 00:00:00Z", "2026-06-01T00:00:0zZ", "2026-06-01T00:00:00.0Z", "",
  ])
  func `a timestamp of another form is refused`(_ timestamp: String) throws {
    let made = try TestDocument().make(timestamp: timestamp)
    #expect(throws: ProverError.timestampMalformed) { try witness(made.document, made.request, version: 7) }
  }

  @Test func `a request that does not fit the document is refused`() throws {
    let made = try TestDocument().make()
    func refused(_ elements: [(identifier: String, value: [UInt8])], _ refusal: ProverError, of count: Int = 1) {
      let request = ProverRequest(
        elements: elements, transcript: TestDocument.transcript, timestamp: TestDocument.timestamp)
      #expect(throws: refusal) { try witness(made.document, request, version: 7, elements: count) }
    }
    refused([], .elementCount)
    refused(made.request.elements + made.request.elements, .elementCount)
    refused(made.request.elements + made.request.elements, .identifierRepeated, of: 2)
    refused([("given_name", [0xf5])], .elementMissing)
    refused([("family_name", CBORValue.text("Musterfrau").encoded())], .elementValueDiffers)
    // The same text with a longer head.
    refused([("family_name", [0x78, 10] + Array("Mustermann".utf8))], .elementValueDiffers)
  }

  @Test func `a document that the device did not sign so is refused`() throws {
    let made = try TestDocument().make()
    let (document, request) = (made.document, made.request)
    func changed(
      documentType: String? = nil, issuerAuth: [UInt8]? = nil,
      device: ProvableDocument.DeviceAuthentication? = nil
    ) -> ProvableDocument {
      ProvableDocument(
        documentType: documentType ?? document.documentType, issuerAuth: issuerAuth ?? document.issuerAuth,
        items: document.items, device: device ?? document.device)
    }
    func refused(_ document: ProvableDocument, _ request: ProverRequest, _ refusal: ProverError) {
      #expect(throws: refusal) { try witness(document, request, version: 7) }
    }
    refused(changed(device: .mac), request, .deviceMAC)
    refused(changed(documentType: "org.iso.18013.5.1.mdl"), request, .deviceSignature)
    refused(changed(documentType: String(repeating: "d", count: 256)), request, .documentTypeLength)
    refused(changed(issuerAuth: [0x80]), request, .issuerAuthMalformed)
    refused(changed(issuerAuth: Array(document.issuerAuth.dropLast())), request, .issuerAuthMalformed)
    let other = ProverRequest(
      elements: request.elements, transcript: CBORValue.array([nil]).encoded(), timestamp: request.timestamp)
    refused(document, other, .deviceSignature)
  }
}
