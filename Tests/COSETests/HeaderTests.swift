import Base
import CBOR
import COSE
import Cryptography
import Testing

/// mdoc's rules for COSE headers beyond the working group's examples (RFC 9052, 3; RFC 9360).
@Suite struct HeaderTests {
  let key: PrivateKey

  init() throws { key = try PrivateKey(generatingOn: .p256) }

  @Test func anAlgorithmThatIsNotSignedDoesNotCount() throws {
    let message = try message(protected: [:], unprotected: [1: -7])
    #expect(message.verify(payload: payload, key: key.publicKey) == .algorithmUnsupported)
  }

  @Test(arguments: [-7, -35] as [Int64])
  func anAlgorithmInBothHeadersIsRefused(second: Int64) {
    #expect(throws: COSEError.duplicateHeader) {
      try message(protected: [1: -7], unprotected: [1: .integer(second)])
    }
  }

  static let criticals: [(String, CBORValue, Bool)] = [
    ("unknown label", .array([99]), true), ("text label", .array(["what"]), true),
    ("byte string", .array([.bytes([1])]), true), ("empty", .array([]), true), ("no array", 1, true),
    ("unprocessed content type", .array([3]), true), ("unprocessed typ", .array([16]), true),
    ("label that is not there", .array([34]), true), ("alg", .array([1]), false),
    ("x5chain in the same header", .array([1, 33]), false),
  ]

  @Test(arguments: criticals)
  func criticalParametersAreUnderstoodOrRefused(name: String, labels: CBORValue, isRefused: Bool) throws {
    let protected = CBORValue.map([
      (1, -7), (2, labels), (3, 0), (16, 1), (33, .bytes([0x30])), (99, true), ("what", true),
    ])
    if isRefused {
      #expect(throws: COSEError.unsupportedCritical, "\(name)") { try message(protected: protected) }
    } else {
      #expect(try message(protected: protected).verify(payload: payload, key: key.publicKey) == .valid)
    }
  }

  @Test func criticalIsRefusedOutsideTheProtectedHeader() {
    #expect(throws: COSEError.unsupportedCritical) { try message(protected: [1: -7], unprotected: [2: [1]]) }
  }

  /// Labels of one header are looked up in the other: two headers with thousands of labels would take millions of
  /// steps.
  @Test(arguments: [64, 65])
  func headersHaveFewParameters(count: Int) {
    let header = CBORValue.map((0..<count).map { (.integer(Int64(1_000 + $0)), 0) })
    let other = CBORValue.map((0..<count).map { (.integer(Int64(5_000 + $0)), 0) })
    for (protected, unprotected) in [(header, CBORValue.map([])), (.map([]), header), (header, other)] {
      let headers = try? message(protected: protected, unprotected: unprotected).headers
      #expect((headers != nil) == (count <= Limits.headerParameters))
    }
  }

  static let chains: [(CBORValue?, [[UInt8]]?)] = [
    (nil, nil), (.bytes([1, 2]), [[1, 2]]), (.array([.bytes([1]), .bytes([2])]), [[1], [2]]),
    (.array([.bytes([1])]), [[1]]), (.bytes([]), []), (.array([]), []), (.array([.bytes([1]), .bytes([])]), []),
    (.array([.bytes([1]), .text("text")]), []), (.text("text"), []),
  ]

  @Test(arguments: chains)
  func certificateChainsComeAsOneStringOrAnArray(value: CBORValue?, expected: [[UInt8]]?) throws {
    for isProtected in [false, true] {
      let chain: [(key: CBORValue, value: CBORValue)] = value.map { [(key: CBORValue.integer(33), value: $0)] } ?? []
      let message = try message(
        protected: .map([(1, -7)] + (isProtected ? chain : [])), unprotected: .map(isProtected ? [] : chain))
      #expect(message.headers.x5chain.map { $0.map(Array.init) } == expected)
    }
  }

  @Test func aCertificateChainInBothHeadersIsRefused() {
    #expect(throws: COSEError.duplicateHeader) {
      try message(protected: [1: -7, 33: .bytes([1])], unprotected: [33: .bytes([1])])
    }
  }

  static let strangeLabels: [CBORValue] = [.bytes([1]), .array([1]), .unsigned(.max), .bool(true)]

  @Test(arguments: strangeLabels)
  func labelsAreIntegersOrText(label: CBORValue) {
    let headers = CBORValue.map([(label, 0)])
    let fault = COSEError.malformed("a header's label is neither an integer nor text")
    #expect(throws: fault) { try message(protected: [1: -7], unprotected: headers) }
    #expect(throws: fault) { try message(protected: headers) }
  }

  @Test(arguments: [[0xa0], [0xb8, 0x00], [0xbf, 0xff], []] as [[UInt8]])
  func anEmptyProtectedHeaderIsSignedAsNoBytes(header: [UInt8]) throws {
    let item = try CBORItem(parsing: CBORValue.array([.bytes(header), [:], .null, .bytes([])]).encoded())
    let message = try COSESign1(parsing: item)
    #expect(message.headers.protectedBytes.isEmpty)
    let structure = CBORValue.array(["Signature1", .bytes([]), .bytes([]), .bytes([])]).encoded()
    #expect(message.toBeSigned(payload: []) == structure)
  }

  @Test func aDetachedPayloadIsNil() throws {
    #expect(try message(protected: [1: -7]).payload == nil)
    let attached = try message(protected: [1: -7], presenting: .bytes([]))
    #expect(attached.payload?.bytes == [])
    for other in [CBORValue.text(""), 0, [], .encoded([0xf7])] {
      #expect(throws: COSEError.malformed("its payload, signature or tag is not a byte string")) {
        try message(protected: [1: -7], presenting: other)
      }
    }
  }

  @Test func aTagIsNeitherAddedNorOverlooked() throws {
    let untagged = try structure(protected: [1: -7], unprotected: [:], presenting: .null)
    let tagged = try CBORItem(parsing: CBORValue.tagged(18, untagged).encoded())
    #expect(throws: COSEError.malformed("it has tag 18, but must be untagged")) { try COSESign1(parsing: tagged) }
    #expect(throws: COSEError.malformed("it lacks tag 18")) {
      try COSESign1(parsing: CBORItem(parsing: untagged.encoded()), tag: 18)
    }
    #expect(throws: COSEError.malformed("it lacks tag 17")) { try COSESign1(parsing: tagged, tag: 17) }
    #expect(throws: Never.self) { try COSESign1(parsing: tagged, tag: 18) }
  }

  @Test(arguments: [63, 65, 0, 128])
  func aSignatureOfAnotherLengthIsInvalid(length: Int) throws {
    let item: CBORValue = [
      .bytes(CBORValue.map([(1, -7)]).encoded()), [:], .null, .bytes([UInt8](repeating: 1, count: length)),
    ]
    let message = try COSESign1(parsing: CBORItem(parsing: item.encoded()))
    #expect(message.verify(payload: payload, key: key.publicKey) == .invalid)
  }

  private var payload: ArraySlice<UInt8> { [1, 2, 3] }

  private func message(
    protected: CBORValue, unprotected: CBORValue = [:], presenting presented: CBORValue = .null
  ) throws -> COSESign1 {
    let value = try structure(protected: protected, unprotected: unprotected, presenting: presented)
    return try COSESign1(parsing: CBORItem(parsing: value.encoded()))
  }

  /// Correctly signed, with any headers.
  private func structure(
    protected: CBORValue, unprotected: CBORValue, presenting presented: CBORValue
  ) throws -> CBORValue {
    var header = protected.encoded()
    if header == [0xa0] { header = [] }
    let message = CBORValue.array(["Signature1", .bytes(header), .bytes([]), .bytes(Array(payload))]).encoded()
    return [.bytes(header), unprotected, presented, .bytes(try key.signECDSA(message, hash: .sha256))]
  }
}
