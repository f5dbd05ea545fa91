import Base
import CBOR
import Cryptography
import Testing

@testable import Mdoc

/// The device proves that the response is its own and for this session. Each rule is broken by itself, and has its own
/// code.
@Suite struct DeviceAuthenticationTests {
  private let deviceKey: PrivateKey
  private let readerKey: PrivateKey
  private let ours = SessionTranscript(written: [nil, nil, "ours"])
  private let another = SessionTranscript(written: [nil, nil, "another"])

  init() throws {
    deviceKey = try PrivateKey(generatingOn: .p256)
    readerKey = try PrivateKey(generatingOn: .p256)
  }

  private var made: HandMadeDocument {
    var made = HandMadeDocument()
    made.deviceKey = deviceKey.publicKey
    return made
  }

  /// DeviceAuthenticationBytes (9.1.3.4), written independently of the verifier.
  private func signedBytes(
    _ made: HandMadeDocument, _ transcript: SessionTranscript, docType: String = HandMadeDocument.docType
  ) -> [UInt8] {
    CBORValue.embedded([
      "DeviceAuthentication", .encoded(transcript.encoded), .text(docType), .embedded(made.deviceNamespaces),
    ]).encoded()
  }

  private func signature(
    _ made: HandMadeDocument, over transcript: SessionTranscript, algorithm: Int64 = -7, payload: [UInt8]? = nil,
    docType: String = HandMadeDocument.docType
  ) throws -> CBORValue {
    try HandMadeMessage(algorithm: algorithm, payload: payload)
      .encoded("Signature1", over: signedBytes(made, transcript, docType: docType)) {
        try deviceKey.signECDSA($0, hash: .sha256)
      }
  }

  /// The key is derived from both sides' keys (9.1.3.5).
  private func mac(
    _ made: HandMadeDocument, over transcript: SessionTranscript, algorithm: Int64 = 5, payload: [UInt8]? = nil
  ) throws -> CBORValue {
    let secret = try deviceKey.sharedSecret(with: readerKey.publicKey)
    let key = try HKDF.deriveKey(
      from: secret, salt: HashAlgorithm.sha256.hash(transcript.taggedBytes), info: Array("EMacKey".utf8), length: 32)
    return HandMadeMessage(algorithm: algorithm, payload: payload).encoded("MAC0", over: signedBytes(made, transcript))
    {
      HMAC.authenticate($0, key: key, hash: .sha256)
    }
  }

  private func run(
    _ made: HandMadeDocument, _ deviceAuth: CBORValue, readerKey: PrivateKey? = nil,
    alternatives: [AlternativeTranscript] = [], issuerKey: PublicKey? = nil
  ) throws -> (method: DeviceAuthenticationMethod?, checks: CheckList) {
    var checks = CheckList()
    let stage = DeviceAuthentication(
      document: try made.document(deviceAuth: deviceAuth), mso: try made.mso(), transcript: ours, readerKey: readerKey,
      alternatives: alternatives, issuerKey: issuerKey)
    let method = stage.run(into: &checks)
    #expect(Set(checks.checks.map(\.code)) == Set(DeviceAuthentication.codes), "every check is noted")
    return (method, checks)
  }

  // MARK: Signatures

  @Test func `a signature over our transcript authenticates`() throws {
    let (method, checks) = try run(made, ["deviceSignature": signature(made, over: ours)])
    #expect(method == .signature && checks.codes(.failed) == [] && checks.codes(.warning) == [])
  }

  @Test func `a signature over another session's transcript does not`() throws {
    let (method, checks) = try run(made, ["deviceSignature": signature(made, over: another)])
    #expect(method == nil && checks.codes(.failed) == [.deviceSignatureInvalid])
  }

  @Test func `a session that is known is named, and stays refused`() throws {
    let alternatives = [AlternativeTranscript("another session", another)]
    let (method, checks) = try run(
      made, ["deviceSignature": signature(made, over: another)], alternatives: alternatives)
    #expect(method == nil && checks.codes(.failed) == [.deviceSignatureInvalid])
    let detail = checks.checks.first { $0.code == .deviceSignatureInvalid }?.detail
    #expect(detail == "the device signed for another session")
  }

  @Test func `a signature for another document type does not authenticate`() throws {
    let signature = try signature(made, over: ours, docType: DocType.photoID)
    #expect(try run(made, ["deviceSignature": signature]).checks.codes(.failed) == [.deviceSignatureInvalid])
  }

  @Test func `elements that the device adds afterwards are not signed`() throws {
    let signature = try signature(made, over: ours)
    var changed = made
    changed.deviceNamespaces = ["org.example": ["claim": true]]
    changed.keyAuthorizations = ["nameSpaces": ["org.example"]]
    #expect(try run(changed, ["deviceSignature": signature]).checks.codes(.failed) == [.deviceSignatureInvalid])
  }

  @Test func `an algorithm is one of the table's, and the key's`() throws {
    func failures(_ algorithm: Int64) throws -> [Code] {
      try run(made, ["deviceSignature": signature(made, over: ours, algorithm: algorithm)]).checks.codes(.failed)
    }
    #expect(try failures(-257) == [.deviceAlgorithmUnsupported])
    #expect(try failures(-35) == [.deviceAlgorithmKeyMismatch])
  }

  // MARK: Required members

  @Test func `there is one proof and no more`() throws {
    #expect(try run(made, [:]).checks.codes(.failed) == [.deviceAuthMissing])
    let both: CBORValue = ["deviceSignature": try signature(made, over: ours), "deviceMac": try mac(made, over: ours)]
    let (method, checks) = try run(made, both, readerKey: readerKey)
    #expect(method == nil && checks.codes(.failed) == [.deviceAuthAmbiguous])
  }

  @Test func `a proof carries no payload of its own, or ours to the byte`() throws {
    for other in [
      signedBytes(made, another), signedBytes(made, ours) + [0], Array(signedBytes(made, ours).dropLast()), [],
    ] {
      // The signature covers our payload or the attached one: neither makes a different payload good.
      for signed in [ours, another] {
        let attached = try signature(made, over: signed, payload: other)
        let (method, checks) = try run(made, ["deviceSignature": attached])
        #expect(method == nil && checks.codes(.failed) == [.deviceAuthMalformed])
        #expect(
          checks.checks.first { $0.code == .deviceAuthMalformed }?.detail
            == "deviceSignature: its payload is attached, but is not this session's DeviceAuthenticationBytes")
      }
    }
    let attached = try signature(made, over: ours, payload: signedBytes(made, ours))
    let slip = "deviceSigned.deviceAuth.deviceSignature: the payload is attached"
    #expect(try made.document(deviceAuth: ["deviceSignature": attached]).deviations == [slip])
    let (method, checks) = try run(made, ["deviceSignature": attached])
    #expect(method == .signature && checks.codes(.failed) == [])
    let forged = try signature(made, over: another, payload: signedBytes(made, ours))
    #expect(try run(made, ["deviceSignature": forged]).checks.codes(.failed) == [.deviceSignatureInvalid])
    #expect(try run(made, ["deviceSignature": "no message"]).checks.codes(.failed) == [.deviceAuthMalformed])
  }

  @Test func `without a key that the issuer signed nothing authenticates`() throws {
    var without = made
    without.deviceKey = nil
    let (method, checks) = try run(without, ["deviceSignature": signature(without, over: ours)])
    #expect(method == nil && checks.codes(.failed) == [.deviceKeyInvalid])
  }

  @Test func `the issuer's own key warns`() throws {
    let (method, checks) = try run(
      made, ["deviceSignature": signature(made, over: ours)], issuerKey: deviceKey.publicKey)
    #expect(method == .signature && checks.codes(.warning) == [.deviceKeySameAsIssuer])
  }

  @Test func `the device signs what the issuer allows it to sign`() throws {
    func failures(_ authorizations: CBORValue?) throws -> [Code] {
      var made = made
      made.deviceNamespaces = ["org.example": ["claim": true]]
      made.keyAuthorizations = authorizations
      return try run(made, ["deviceSignature": signature(made, over: ours)]).checks.codes(.failed)
    }
    #expect(try failures(nil) == [.deviceElementUnauthorized])
    #expect(try failures(["dataElements": ["org.example": ["another"]]]) == [.deviceElementUnauthorized])
    #expect(try failures(["dataElements": ["org.example": ["claim"]]]) == [])
    #expect(try failures(["nameSpaces": ["org.example"]]) == [])
  }

  // MARK: MACs

  @Test func `a MAC under the agreed key authenticates`() throws {
    let (method, checks) = try run(
      made, ["deviceMac": mac(made, over: ours)], readerKey: readerKey)
    #expect(method == .mac && checks.codes(.failed) == [])
  }

  @Test func `a MAC needs a reader's key, on the device's curve`() throws {
    let deviceAuth: CBORValue = ["deviceMac": try mac(made, over: ours)]
    #expect(try run(made, deviceAuth).checks.codes(.failed) == [.deviceMacNotAllowed])
    let other = try PrivateKey(generatingOn: .p384)
    let (method, checks) = try run(made, deviceAuth, readerKey: other)
    #expect(method == nil && checks.codes(.failed) == [.deviceMacNotAllowed])
  }

  @Test func `a MAC of another session or with another key is none`() throws {
    let foreign = try run(
      made, ["deviceMac": mac(made, over: another)], readerKey: readerKey)
    #expect(foreign.method == nil && foreign.checks.codes(.failed) == [.deviceMacInvalid])
    let otherKey = try PrivateKey(generatingOn: .p256)
    let wrong = try run(made, ["deviceMac": mac(made, over: ours)], readerKey: otherKey)
    #expect(wrong.method == nil && wrong.checks.codes(.failed) == [.deviceMacInvalid])
  }

  @Test func `a MAC carries no payload of its own, or ours to the byte`() throws {
    for mac in [try mac(made, over: ours, payload: signedBytes(made, another)), "no message"] {
      let (method, checks) = try run(made, ["deviceMac": mac], readerKey: readerKey)
      #expect(method == nil && checks.codes(.failed) == [.deviceAuthMalformed])
    }
    let attached = try mac(made, over: ours, payload: signedBytes(made, ours))
    let (method, checks) = try run(made, ["deviceMac": attached], readerKey: readerKey)
    #expect(method == .mac && checks.codes(.failed) == [])
  }

  @Test func `a MAC has the standard's algorithm`() throws {
    let (method, checks) = try run(
      made, ["deviceMac": mac(made, over: ours, algorithm: 4)], readerKey: readerKey)
    #expect(method == nil && checks.codes(.failed) == [.deviceAlgorithmUnsupported])
  }
}
