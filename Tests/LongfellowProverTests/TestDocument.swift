import CBOR
import Cryptography
import Longfellow

@testable import LongfellowProver

/// A self-made document, each part of which can be changed.
struct TestDocument {
  var elements: [(identifier: String, value: CBORValue)] = [("family_name", "Mustermann")]
  var randomLength = 16
  var memberOrder = ["digestID", "random", "elementIdentifier", "elementValue"]
  var digestAlgorithm: CBORValue = "SHA-256"
  var validFrom = CBORValue.tagged(0, "2026-01-01T00:00:00Z")
  var validUntil = CBORValue.tagged(0, "2027-01-01T00:00:00Z")
  var deviceKeyInfo: [(key: CBORValue, value: CBORValue)] = []
  var coseKey: (_ x: [UInt8], _ y: [UInt8]) -> CBORValue = { x, y in
    .map([(1, 2), (.integer(-1), 1), (.integer(-2), .bytes(x)), (.integer(-3), .bytes(y))])
  }
  var protected: [UInt8] = [0xa1, 0x01, 0x26]
  /// An unknown member pads the MSO to this length.
  var securityObjectLength: Int?
  var issuerCurve = Curve.p256
  /// Changes signatures after they are made.
  var issuerSignature: ([UInt8]) -> [UInt8] = { $0 }
  var deviceSignature: ([UInt8]) -> [UInt8] = { $0 }
  /// Digests that the MSO does not have.
  var leavesOutDigests = false

  static let documentType = "org.iso.18013.5.1.mDL"
  static let transcript = CBORValue.array([nil, nil, ["test", .bytes([1, 2, 3])]]).encoded()
  static let timestamp = "2026-06-01T00:00:00Z"

  struct Made {
    let document: ProvableDocument
    let request: ProverRequest
    let statement: LongfellowStatement
  }

  func make(timestamp: String = timestamp) throws -> Made {
    let (issuer, device) = (try PrivateKey(generatingOn: issuerCurve), try PrivateKey(generatingOn: .p256))
    let items = elements.enumerated().map { item($0, $1) }
    let payload = CBORValue.embedded(.encoded(securityObject(items, device.publicKey))).encoded()
    let signed = CBORValue.array(["Signature1", .bytes(protected), .bytes([]), .bytes(payload)]).encoded()
    let certificate = (issuerCurve == .p256 ? PublicKey.p256InfoPrefix : []) + issuer.publicKey.encoded
    let issuerAuth = CBORValue.array([
      .bytes(protected), [33: .bytes(certificate)], .bytes(payload),
      .bytes(issuerSignature(try issuer.signECDSA(signed, hash: .sha256))),
    ])
    let signature = deviceSignature(try device.signECDSA(Self.deviceStructure, hash: .sha256))
    let request = ProverRequest(
      elements: elements.map { ($0.identifier, $0.value.encoded()) }, transcript: Self.transcript, timestamp: timestamp)
    let coordinates = issuer.publicKey.encoded.dropFirst()
    return Made(
      document: ProvableDocument(
        documentType: Self.documentType, issuerAuth: issuerAuth.encoded(), items: items, device: .signature(signature)),
      request: request,
      statement: LongfellowStatement(
        issuerX: Array(coordinates.prefix(32)), issuerY: Array(coordinates.suffix(32)),
        documentType: Self.documentType, transcript: Self.transcript, elements: request.elements,
        timestamp: timestamp))
  }

  private func item(_ index: Int, _ element: (identifier: String, value: CBORValue)) -> [UInt8] {
    let members: [String: CBORValue] = [
      "digestID": .unsigned(UInt64(index)), "random": .bytes([UInt8](repeating: 7, count: randomLength)),
      "elementIdentifier": .text(element.identifier), "elementValue": element.value, "other": 1,
    ]
    return CBORValue.embedded(.map(memberOrder.compactMap { key in members[key].map { (.text(key), $0) } })).encoded()
  }

  private func securityObject(_ items: [[UInt8]], _ device: PublicKey) -> [UInt8] {
    let digests = items.enumerated().map { index, item in
      (key: CBORValue.unsigned(UInt64(index)), value: CBORValue.bytes(HashAlgorithm.sha256.hash(item)))
    }
    let point = device.encoded.dropFirst()
    let key = coseKey(Array(point.prefix(32)), Array(point.suffix(32)))
    var members: [(key: CBORValue, value: CBORValue)] = [
      ("version", "1.0"), ("digestAlgorithm", digestAlgorithm),
      ("valueDigests", ["org.iso.18013.5.1": .map(leavesOutDigests ? [] : digests)]),
      ("deviceKeyInfo", .map([("deviceKey", key)] + deviceKeyInfo)), ("docType", .text(Self.documentType)),
      ("validityInfo", ["signed": validFrom, "validFrom": validFrom, "validUntil": validUntil]),
    ]
    let plain = CBORValue.map(members).encoded()
    guard let length = securityObjectLength else { return plain }
    // "pad", and a byte string with a head of three bytes.
    members.append(("pad", .bytes([UInt8](repeating: 0, count: length - plain.count - 7))))
    return CBORValue.map(members).encoded()
  }

  private static var deviceStructure: [UInt8] {
    let authentication = CBORValue.array([
      "DeviceAuthentication", .encoded(transcript), .text(documentType), .embedded([:]),
    ])
    return CBORValue.array([
      "Signature1", .bytes([0xa1, 0x01, 0x26]), .bytes([]), .bytes(CBORValue.embedded(authentication).encoded()),
    ]).encoded()
  }
}
