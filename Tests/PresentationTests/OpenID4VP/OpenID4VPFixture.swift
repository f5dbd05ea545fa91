import Base
import Cryptography
import Mdoc
import Mock
import PKIX
import Presentation
import TestSupport

/// One page, one server, one wallet, and responses of that wallet with one change.
struct OpenID4VPFixture {
  static let nonce = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA"
  static let state = "3xQ0z2ZXXZ1OT4zTn5bTjFBlWw0vTGGFhLVyX2Cp0lE"
  static let page = OpenID4VPRecipient.origin("https://shop.example")
  static let server = OpenID4VPRecipient.client(
    id: "x509_san_dns:verifier.example", responseURI: "https://verifier.example/v1/wallet/shop/vs_1/response")
  static let names = RelyingPartyNames(
    origins: ["https://shop.example", "https://www.shop.example"],
    clientIDs: ["x509_san_dns:verifier.example", "x509_hash:abc"])

  let setup: MockSetup
  let key: PrivateKey
  /// `given_name` and `family_name` of an mDL or a photo ID.
  let request: PresentationRequest

  init(request: PresentationRequest = Self.anyDocument) throws {
    setup = try MockSetup()
    key = try PrivateKey(generatingOn: .p256)
    self.request = request
  }

  static let mDL = DocumentRequest(
    docType: DocType.mDL,
    elements: ["given_name", "family_name", "portrait"].map { ElementRequest(ElementReference(Namespace.mDL, $0)) },
    ageOver: [21])
  static let photoID = DocumentRequest(
    docType: DocType.photoID, elements: [ElementRequest(ElementReference(Namespace.iso23220, "family_name_unicode"))])
  static let anyDocument = PresentationRequest(documents: [mDL, photoID])
  static let bothDocuments = PresentationRequest(documents: [mDL, photoID], requiresAllDocuments: true)

  /// A challenge with the fixture's nonce, state and key.
  func challenge(_ recipient: OpenID4VPRecipient = page, isEncrypted: Bool = true) -> OpenID4VPChallenge {
    let state: String? = if case .client = recipient { Self.state } else { nil }
    return OpenID4VPChallenge(
      recipient: recipient, nonce: Self.nonce, state: state, key: isEncrypted ? key : nil)
  }

  func reader(
    _ dnsName: String = "verifier.example", by identifier: ReaderIdentity.ClientIdentifier = .certificateHash
  ) throws -> ReaderIdentity {
    let reader = try setup.authority.reader(dnsName: dnsName, at: setup.now)
    return try ReaderIdentity(
      key: reader.key, certificates: reader.certificates.map { try Certificate(der: $0) },
      clientIdentifier: identifier)
  }

  // MARK: The wallet's side

  /// A DeviceResponse for one document of the request, over any transcript.
  func deviceResponse(
    _ document: DocumentRequest = mDL, over transcript: SessionTranscript,
    authentication: MockDeviceAuthentication = .signature
  ) throws -> [UInt8] {
    let asked = MockRequest(documents: [
      .init(
        docType: document.docType, elements: document.elements.map { ($0.element.namespace, $0.element.identifier) },
        ageOver: document.ageOver)
    ])
    return try setup.wallet.answer(
      asked, transcript: transcript.encoded, authentication: authentication, at: setup.now
    ).bytes
  }

  /// `{"document_0": [mDL]}`, device-signed over the transcript of the challenge unless another is given.
  func token(_ recipient: OpenID4VPRecipient = page, over transcript: SessionTranscript? = nil) throws -> JSON {
    let response = try deviceResponse(over: transcript ?? challenge(recipient).transcript)
    return ["document_0": [.string(Base64.encodeURLSafe(response))]]
  }

  /// The parameters that a wallet sends, unencrypted.
  func parameters(_ token: JSON, state: String? = nil) -> JSON {
    .members(["vp_token": token, "state": state.map(JSON.string)])
  }

  /// `{"response": JWE}`.
  func encrypt(_ parameters: JSON, _ change: (inout JWEDraft) throws -> Void = { _ in }) throws -> JSON {
    try encrypt(bytes: parameters.serialized(), change)
  }

  func encrypt(bytes: [UInt8], _ change: (inout JWEDraft) throws -> Void = { _ in }) throws -> JSON {
    var draft = try JWEDraft(to: key.publicKey, keyID: Base64.encodeURLSafe(thumbprint(of: key.publicKey)))
    try change(&draft)
    return ["response": .string(try draft.encrypt(bytes))]
  }

  // MARK: Ours

  func verify(
    _ response: JSON, as recipient: OpenID4VPRecipient = page, isEncrypted: Bool = true, isStrict: Bool = false
  ) -> Verdict {
    OpenID4VP(verifier: MdocVerifier(trust: setup.trust, isStrict: isStrict)).authenticate(
      response, answering: challenge(recipient, isEncrypted: isEncrypted), request: request, names: Self.names,
      at: setup.now
    ).conclude()
  }
}

/// RFC 7638, written independently of the tested code.
func thumbprint(of key: PublicKey) -> [UInt8] {
  let (x, y) = key.coordinates.map { (Base64.encodeURLSafe($0.x), Base64.encodeURLSafe($0.y)) } ?? ("", "")
  return HashAlgorithm.sha256.hash(Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8))
}
