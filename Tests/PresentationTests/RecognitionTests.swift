import Base
import CBOR
import Cryptography
import Mdoc
import Testing

@testable import Mock
@testable import Presentation

/// Data in place of a response or an envelope are rejected, and the rejection names their form.
@Suite struct RecognitionTests {
  let setup: MockSetup
  private let response: [UInt8]
  private let transcript: SessionTranscript

  init() throws {
    setup = try MockSetup()
    transcript = try SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0xf6])
    response = try setup.wallet.answer(.standard, transcript: transcript.encoded, at: setup.now).bytes
  }

  /// The first failed check of the bytes, as a DeviceResponse.
  private func failure(_ bytes: [UInt8]) throws -> Check {
    let verdict = Proximity(verifier: MdocVerifier(trust: setup.trust))
      .authenticate(bytes, transcript: transcript, readerKey: nil, request: nil, at: setup.now).conclude()
    return try #require(verdict.report.checks.first { $0.outcome == .failed })
  }

  private func expect(_ bytes: [UInt8], _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(
      try failure(bytes).detail == "this is \(name), not a DeviceResponse", sourceLocation: sourceLocation)
  }

  @Test func `parts of a DeviceResponse are named, tagged or not`() throws {
    let item = try CBORItem(parsing: response)
    let document = try #require(item[key: "documents"]?.elements.map(Array.init)?.first)
    let issuerSigned = try #require(document[key: "issuerSigned"])
    let issuerAuth = try #require(issuerSigned[key: "issuerAuth"])
    let payload = try #require(issuerAuth.elements.map(Array.init)?[2].bytes)
    let mso = try #require(try CBORItem(parsing: Array(payload)).embedded)
    try expect(Array(document.encoded), "a Document without the DeviceResponse around it")
    try expect(Array(issuerSigned.encoded), "an IssuerSigned, as issuers deliver it")
    try expect(Array(issuerAuth.encoded), "a COSE_Sign1 or COSE_Mac0")
    try expect(CBORValue.tagged(18, .encoded(Array(issuerAuth.encoded))).encoded(), "a COSE_Sign1 with tag 18")
    try expect(Array(mso.encoded), "a MobileSecurityObject")
    try expect(Array(payload), "a MobileSecurityObject inside tag 24")
    try expect(try #require(document[key: "deviceSigned"]).encoded.map { $0 }, "a DeviceSigned")
    try expect(transcript.encoded, "a SessionTranscript")
    try expect(CBORValue.bytes(response).encoded(), "a CBOR byte string")
    #expect(try failure(Array(issuerSigned.encoded)).code == .responseMalformed)
  }

  @Test func `texts in place of bytes are named`() throws {
    let base64 = Base64.encode(response)
    for (text, name) in [
      (Hex.encode(response), "hexadecimal text"), (base64 + "\n", "base64 text"),
      (Base64.encodeURLSafe(response), "base64 text"), ("\"\(base64)\"", "a text in quotation marks"),
      ("{\"documents\":[\"é\"]}", "JSON text"), ("-----BEGIN CERTIFICATE-----\nAA==", "PEM text"),
      ("eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.AA", "a signed JWT"), ("eyJhbGciOiJub25lIn0.eyJhIjoxfQ.", "an unsecured JWT"),
      ("eyJhbGciOiJFQ0RILUVTIn0..AA.AA.AA", "an encrypted JWT"), ("eyJhbGciOiJFUzI1NiJ9.e30.AA~", "an SD-JWT"),
    ] { try expect(Array(text.utf8), name) }
    try expect([], "empty")
    // Hexadecimal digits are also base64 characters, so a lenient reader may decode them.
    let digits = Hex.encode(response.prefix(response.count / 6 * 6))
    let read = try #require(Base64.decode(digits) ?? Base64.decodeURLSafe(digits))
    try expect(read, "hexadecimal text that was decoded as base64")
  }

  @Test func `what is not recognized is said by its place`() throws {
    #expect(try failure(Array(response.dropLast())).detail?.hasPrefix("at byte ") == true)
    #expect(try failure([0xa0]).detail == "version is missing")
    #expect(try failure([0x01]).detail == "the DeviceResponse is not a map")
  }

  // MARK: Apple's envelope

  private func apple(_ bytes: [UInt8]) throws -> Check {
    try #require(try setup.verifyApple(bytes).report.checks.first { $0.outcome == .failed })
  }

  private func changed(_ change: @escaping MockChange<MapDraft>) throws -> Check {
    try apple(setup.answerApple(MockVariant("changed", "", .init(Stages.envelope, change))))
  }

  @Test func `each member of Apple's envelope is named with what it is`() throws {
    let expected: [(Code, String, MockChange<MapDraft>)] = [
      (.envelopeMalformed, "algorithm is missing", { $0["algorithm"] = nil }),
      (.envelopeMalformed, "data is not a byte string", { $0["data"] = "text" }),
      (.envelopeMalformed, "params is not a map", { $0["params"] = [] }),
      (.envelopeMalformed, "mode is missing", { $0.nested("params") { $0["mode"] = nil } }),
      (
        .envelopeMalformed, "pkRHash is a byte string of 1 bytes, not 32",
        { $0.nested("params") { $0["pkRHash"] = .bytes([1]) } }
      ),
      (
        .envelopeAlgorithmUnsupported, "algorithm is \"HPKE\", not \"APPLE-HPKE-v1\"", { $0["algorithm"] = "HPKE" }
      ),
      (.envelopeModeUnsupported, "mode is 2, not 0", { $0.nested("params") { $0["mode"] = 2 } }),
      (
        .envelopeEncapsulatedKeyInvalid,
        "the length of pkEm is 1, not the 65 bytes of an uncompressed point on P-256",
        { $0.nested("params") { $0["pkEm"] = .bytes([4]) } }
      ),
    ]
    for (code, detail, change) in expected {
      let check = try changed(change)
      #expect(check.code == code && check.detail == detail)
    }
    #expect(try changed { $0["data"] = nil }.clause == "Apple, Verifying Wallet identity requests: HPKEEnvelope")
    let damaged = try changed { $0["data"] = .bytes([UInt8](repeating: 7, count: 40)) }
    #expect(damaged.code == .envelopeDecryptionFailed)
    #expect(damaged.detail?.hasPrefix("data (40 bytes) does not decrypt") == true)
  }

  @Test func `what stands in place of Apple's envelope, and in it, is named`() throws {
    #expect(try apple(response).detail == "this is a DeviceResponse, not an HPKEEnvelope of Apple")
    #expect(try apple(Array("a1b2".utf8)).detail == "this is hexadecimal text, not an HPKEEnvelope of Apple")
    var checks = CheckList()
    #expect(AppleInApp.identity(in: response, checks: &checks) == nil)
    #expect(checks.checks.first?.code == .envelopePlaintextMalformed)
    #expect(checks.checks.first?.detail?.hasPrefix("this is a DeviceResponse, not the map with `identity`") == true)
    var others = CheckList()
    let more = CBORValue.map([(key: "identity", value: [:]), (key: "more", value: 1)]).encoded()
    #expect(AppleInApp.identity(in: more, checks: &others) == nil)
    #expect(others.checks.first?.detail == "identity is not the only member")
  }

  // MARK: Annex C and readers in person

  @Test func `what stands in place of an EncryptedResponse is named`() throws {
    func failure(_ bytes: [UInt8]) throws -> Check {
      let challenge = try AnnexCChallenge(freshFor: "https://shop.example")
      let verdict = AnnexC(verifier: MdocVerifier(trust: setup.trust))
        .authenticate(bytes, answering: challenge, request: nil, at: setup.now).conclude()
      return try #require(verdict.report.checks.first { $0.outcome == .failed })
    }
    let place = "an EncryptedResponse of ISO/IEC TS 18013-7, Annex C"
    #expect(try failure(response).detail == "this is a DeviceResponse, not \(place)")
    #expect(try failure(response).clause == "ISO/IEC TS 18013-7, Annex C")
    let request: CBORValue = ["dcapi", ["nonce": .bytes([1]), "recipientPublicKey": [:]]]
    #expect(
      try failure(request.encoded()).detail
        == "this is an EncryptionInfo, which belongs to the request, not \(place)")
    for (value, detail) in [
      (["dcapi"], "the EncryptedResponse is an array of 1 elements, not 2"),
      (["dc_api", [:]], "the first element is not the text \"dcapi\""), (["dcapi", [:]], "enc is missing"),
      (["dcapi", ["enc": .bytes([4]), "cipherText": "x"]], "cipherText is not a byte string"),
      (
        ["dcapi", ["enc": .bytes([4]), "cipherText": .bytes([])]],
        "the length of enc is 1, not the 65 bytes of an uncompressed point on P-256"
      ),
    ] as [(CBORValue, String)] { #expect(try failure(value.encoded()).detail == detail) }
  }

  @Test func `what stands in place of a SessionData is named`() throws {
    for (bytes, detail) in [
      (response, "this is a DeviceResponse, not a SessionData"),
      (CBORValue.map([]).encoded(), "data is missing, and so is status"),
      (CBORValue.map([(key: "data", value: "x")]).encoded(), "data is not a byte string"),
      (Array("\"AA\"".utf8), "this is a text in quotation marks, not a SessionData"),
    ] {
      let error = #expect(throws: MdocParseError.self) { try SessionMessage(parsing: bytes) }
      #expect(error?.detail == detail)
    }
  }
}
