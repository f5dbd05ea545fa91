import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import Mock
import PKIX
import Presentation
import Trust
import Vectors

/// One Apple in-app response of the mock wallet, with all inputs of its verification.
struct MeasuredResponse: Sendable {
  let envelope: [UInt8]
  private let response: [UInt8]
  private let transcript: [UInt8]
  private let session: MockAppleSession
  private let key: PrivateKey
  private let anchors: [TrustAnchor]
  private let request: PresentationRequest
  static let now = Timestamp(secondsSince1970: 1_795_000_000)

  static let sizes = [
    (name: "45 kB response, 35 kB portrait", portraitBytes: 35_000),
    (
      name: "5 kB response", portraitBytes: smallPortrait
    ),
  ]
  static let smallPortrait = 1_600

  /// - Parameter issuing: the authority's choices for the document, for example a status list.
  init(portraitBytes: Int, authority: MockAuthority? = nil, issuing: MockIssuing = MockIssuing()) throws {
    key = try PrivateKey(generatingOn: .p256)
    session = MockAppleSession(
      nonce: try Random.bytes(Limits.nonceBytes), merchantID: "merchant.example.shop", teamID: "ABCDE12345",
      recipientKey: key.publicKey)
    let authority = try authority ?? Self.authority()
    let documents = MockPerson.documents.map { $0.resizingPortrait(to: portraitBytes) }
    let wallet = MockWallet(authority: authority, documents: documents, issuing: issuing)
    let made = try wallet.answerApple(.standard, session: session, at: Self.now)
    envelope = made.bytes
    response = made.deviceResponse
    transcript = made.sessionTranscript
    anchors = try [authority.anchor(at: Self.now)].map {
      TrustAnchor(certificate: try Certificate(der: $0.certificate), docTypes: $0.docTypes)
    }
    request = PresentationRequest(
      documents: MockRequest.standard.documents.map { document in
        DocumentRequest(
          docType: document.docType,
          elements: document.elements.map { ElementRequest(ElementReference($0.namespace, $0.identifier)) },
          ageOver: document.ageOver)
      })
  }

  static func authority() throws -> MockAuthority { try MockAuthority(seed: Array("bench".utf8)) }

  func verifier(knowsSigners: Bool, revocation: RevocationPolicy = .off) throws -> AppleInApp {
    let store = try TrustStore(anchors: anchors, allowsTestCertificates: true)
    store.prepareForService()
    let trust: any IssuerTrust = knowsSigners ? store : Forgetful(validator: store.validator)
    return AppleInApp(verifier: MdocVerifier(trust: trust, revocation: revocation), keys: [key])
  }

  func isAccepted(by apple: AppleInApp) -> Bool {
    if case .accepted? = try? authenticate(apple).conclude().outcome { true } else { false }
  }

  /// Verifies the response without fetching revocation status from publishers.
  func authenticate(_ apple: AppleInApp) throws -> Authentication {
    let challenge = try AppleChallenge(
      nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID)
    return apple.authenticate(envelope, answering: challenge, request: request, at: Self.now)
  }

  /// The cryptographic primitives that verify this response. They include hashing every item and both signed messages.
  func floor(signatures: Int) throws -> PrimitiveFloor {
    let parts = try Parts(response)
    let messages = [parts.issuerAuth.toBeSigned(payload: parts.payload).count, transcript.count + 120]
    return try PrimitiveFloor(
      signatures: signatures, digestedBytes: parts.items.map(\.count) + messages, ciphertextBytes: response.count)
  }

  /// The processor time of each part that can be measured separately, in microseconds.
  func stages(repeating count: Int) throws -> [(name: String, microseconds: Double)] {
    let parts = try Parts(response)
    let chain = parts.issuerAuth.headers.x5chain ?? []
    let store = try TrustStore(anchors: anchors, allowsTestCertificates: true)
    let signer = try Certificate(der: chain.first ?? [])
    let item = try CBORItem(parsing: envelope)
    guard let ciphertext = item[key: "data"]?.bytes, let encapsulated = item[key: "params"]?[key: "pkEm"]?.bytes,
      let signerKey = signer.publicKey
    else { throw BenchError(reason: "the mock wallet's response has an unexpected structure") }
    func time(_ name: String, _ body: () throws -> Void) rethrows -> (String, Double) {
      let start = CPUClock.thread()
      for _ in 0..<count { try body() }
      return (name, (CPUClock.thread() - start) / Double(count))
    }
    return [
      try time("parse the envelope") { _ = try CBORItem(parsing: envelope) },
      try time("open it (HPKE)") {
        _ = try HPKE.p256SHA256AES128GCM.open(
          ciphertext, encapsulatedKey: encapsulated, recipient: key, info: transcript)
      },
      try time("parse the response") { _ = try DeviceResponse(parsing: response) },
      time("look the signer up") {
        _ = store.evaluate(chain: chain, docType: DocType.mDL, at: Self.now, skew: Limits.clockSkew)
      },
      time("issuer signature") { _ = parts.issuerAuth.verify(payload: parts.payload, key: signerKey) },
      time("hash the elements") { for item in parts.items { _ = HashAlgorithm.sha256.matches([], digestOf: item) } },
      try time("import the device key") { _ = try PublicKey(curve: .p256, encoded: signerKey.encoded) },
    ]
  }

  /// A trust store without a cache of validated signers.
  private struct Forgetful: IssuerTrust {
    let validator: PathValidator
    let snapshot = ""

    func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation {
      validator.evaluate(chain: chain, docType: docType, at: now, skew: skew)
    }
  }

  private struct Parts {
    let items: [ArraySlice<UInt8>]
    let issuerAuth: COSESign1
    let payload: ArraySlice<UInt8>

    init(_ response: [UInt8]) throws {
      let root = try CBORItem(parsing: response)
      guard let document = root[key: "documents"]?.elements?.first(where: { _ in true }),
        let issuerSigned = document[key: "issuerSigned"], let namespaces = issuerSigned[key: "nameSpaces"]?.entries,
        let issuerAuth = issuerSigned[key: "issuerAuth"]
      else { throw BenchError(reason: "the mock wallet's response has an unexpected structure") }
      items = namespaces.flatMap { entry in entry.value.elements.map { $0.map(\.encoded) } ?? [] }
      self.issuerAuth = try COSESign1(parsing: issuerAuth)
      payload = self.issuerAuth.payload?.bytes ?? []
    }
  }
}

extension PrimitiveFloor {
  /// The cryptographic primitives that verify one 5 kB response from a known signer.
  package static func ofSmallResponse() throws -> PrimitiveFloor {
    try MeasuredResponse(portraitBytes: MeasuredResponse.smallPortrait).floor(signatures: 2)
  }
}
