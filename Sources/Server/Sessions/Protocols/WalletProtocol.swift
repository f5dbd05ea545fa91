import Base
import Cryptography
import Mdoc
import Presentation

/// A way to ask a wallet and to read its answer: what `Presentation` knows, as this module needs it.
///
/// Implementations have no state of their own between calls: what they need to open an answer is the material that
/// they gave away with the request.
package protocol WalletProtocol: Sendable {
  /// As in the API: `apple-in-app`.
  var name: String { get }

  /// Whether the answer brings the transcript that it is to be verified over. Then only a relying party's API key may
  /// hand it in: whoever chooses the transcript decides what is proved.
  var takesTranscriptFromCaller: Bool { get }

  /// The request to hand to the platform, with a fresh nonce and key, and the material to keep for opening its answer.
  /// Throws where this relying party or this request cannot be served by the protocol.
  func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest

  /// Reads `data` of a submit strictly (unknown members, base64), before anything is consumed. Pointers begin with
  /// `/data`.
  func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer

  /// Opens and authenticates. It never throws: every fault is in the verdict that follows.
  func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication

  /// What opens this answer beside its challenge, for evidence; nil where the challenge has it all. It opens no other
  /// answer: a key of the relying party is not to leave its server.
  func openingSecret(of answer: WalletAnswer.Content, relyingParty: RelyingParty) -> SecretBytes?

  /// The same protocol for an answer out of evidence, with what `openingSecret` gave.
  func reopening(with secret: consuming SecretBytes?) -> any WalletProtocol
}

extension WalletProtocol {
  package var takesTranscriptFromCaller: Bool { false }

  package func openingSecret(of answer: WalletAnswer.Content, relyingParty: RelyingParty) -> SecretBytes? { nil }

  package func reopening(with secret: consuming SecretBytes?) -> any WalletProtocol { self }
}

/// Whose session a request is made for, and where its answer is to go.
package struct RequestContext: Sendable {
  package let session: SessionAddress
  package let relyingParty: RelyingParty
  /// The relying party's merchant that asks in-app.
  package let apple: AppleConfiguration?
  /// The relying party's registration for this request; nil if it has none.
  package let registration: RegistrationCertificate?
  /// Of the page that asks: web protocols have one.
  package let origin: String?
  /// Where wallets reach this server, `https://host[:port]` without a path; nil where the operator has not said.
  package let publicURL: String?
  package let now: Timestamp
  /// In the wallet's addresses.
  let walletPath: WalletPath

  package init(
    session: SessionAddress, relyingParty: RelyingParty, apple: AppleConfiguration? = nil,
    registration: RegistrationCertificate? = nil, origin: String?, publicURL: String?, now: Timestamp,
    code: ResponseCodeHash? = nil
  ) {
    self.session = session
    walletPath = WalletPath(session.id, code)
    self.relyingParty = relyingParty
    self.apple = apple
    self.registration = registration
    self.origin = origin
    self.publicURL = publicURL
    self.now = now
  }

  /// Without a registration certificate that has ended: wallets warn of both alike (ARF, RPRC_17).
  var additions: RequestAdditions {
    let isOver = registration?.expiresAt.map { $0 <= now } ?? false
    return RequestAdditions(
      acceptedIssuers: relyingParty.acceptedIssuers, registration: isOver ? nil : registration)
  }
}

/// What a wallet sent, as far as it can be read before the challenge is consumed.
package enum WalletAnswer: Sendable {
  case answer(Content)
  /// The wallet's own word that there will be no answer (OpenID4VP 1.0, 8.5), with its description, fit to be shown.
  case refusal(Code, description: String? = nil)

  package enum Content: Sendable {
    /// An envelope or a response as bytes.
    case bytes([UInt8])
    /// The parameters of an authorization response.
    case parameters(JSON)
  }
}

/// A request for the platform, and what is needed to open its answer.
package struct OutgoingRequest: ~Copyable, Sendable {
  /// `data` of an entry of the session's `requests`; public.
  package let data: JSON
  /// Serialised as the protocol likes; sealed at rest, given back once in a `ConsumedChallenge`.
  package let material: SecretBytes

  package init(data: JSON, material: consuming SecretBytes) {
    self.data = data
    self.material = material
  }
}

/// A protocol whose request the wallet fetches from this server (`request_uri`, RFC 9101; OpenID4VP 1.0, 5.10).
package protocol FetchedRequestProtocol: WalletProtocol {
  /// The signed request object of a session that waits for its answer, made anew at each fetch: what it holds of the
  /// challenge stays sealed in the session until the answer comes.
  ///
  /// - Parameters:
  ///   - material: what `makeRequest` gave away.
  ///   - wallet: what the wallet posted; empty if it fetches by GET.
  func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, wallet: PostedByWallet,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8]

  /// Whether this is the `state` of the request that gave this material away.
  func isState(_ given: String?, _ material: borrowing SecretBytes) -> Bool
}

/// The parameters of a wallet that fetches its request by POST (OpenID4VP 1.0, 5.10). Others are ignored.
package struct PostedByWallet: Sendable {
  /// `wallet_nonce`, which the request object repeats.
  package let nonce: String?
  /// `wallet_metadata`, as it came: JSON text.
  package let metadata: String?

  package static let schema: Schema = Schema.openObject([
    "wallet_nonce": Schema.text(0...Limits.walletNonceBytes).described(
      "A text of at most \(Limits.walletNonceBytes) bytes, which the request object repeats."),
    "wallet_metadata": .text.described(
      "The wallet's capabilities: JSON text of at most \(Limits.walletMetadataBytes) bytes (OpenID4VP 1.0, 10). With `jwks` "
        + "the request object comes encrypted."),
  ]).described("The form by which a wallet asks for its request.").titled("WalletRequestForm")

  /// - Throws: `api.invalid_request` for a nonce that is too long: the server signs it at each fetch.
  package init(_ form: JSON?) throws(ServiceError) {
    nonce = form?["wallet_nonce"]?.string
    metadata = form?["wallet_metadata"]?.string
    guard nonce?.utf8.count ?? 0 <= Limits.walletNonceBytes else {
      throw .invalidMember("/wallet_nonce", "must have at most \(Limits.walletNonceBytes) bytes")
    }
  }
}

/// Protocols that can be offered together, and what they have in common.
package enum ProtocolFamily: Sendable, Hashable, CaseIterable {
  /// Apple's in-app requests: alone.
  case inApp
  /// The Digital Credentials API: any of its protocols together.
  case web
  /// OpenID4VP by redirect or QR code; its European age verification profile, or its older profile in ISO/IEC TS
  /// 18013-7, Annex B: one of them.
  case redirect
  /// A reader in person that hands in what it received: alone.
  case proximity

  /// The protocols of `redirect` of which one can be offered together with those of `web`.
  package static let besideWeb = ["openid4vp", "openid4vp-eu-age-verification"]

  /// All names of the API, built or not.
  package var protocolNames: [String] {
    switch self {
    case .inApp: ["apple-in-app"]
    case .web: ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"]
    case .redirect: Self.besideWeb + ["openid4vp-iso-18013-7-annex-b"]
    case .proximity: ["iso-18013-5-proximity"]
    }
  }

  package init?(ofProtocol name: String) {
    guard let family = Self.allCases.first(where: { $0.protocolNames.contains(name) }) else { return nil }
    self = family
  }

  /// Whether each document is asked for, and answered, under an id of its own (DCQL). The other protocols name documents
  /// by their types.
  static func namesQueries(_ protocolName: String) -> Bool {
    protocolName.hasPrefix("openid4vp") && protocolName != AnnexBProtocol().name
  }

  /// Age thresholds that can be asked (HTTP API, Sessions).
  package var ageThresholds: ClosedRange<Int> { self == .inApp ? 1...125 : 1...99 }

  /// In-app requests cannot hold an age and an age threshold together.
  var allowsAgeWithThreshold: Bool { self != .inApp }
}

/// All protocols that there are.
package enum BuiltProtocols {
  /// What a relying party lacks keys for is refused at the creation of a session.
  package static func all(in mode: ServerMode) -> [any WalletProtocol] {
    let web = OpenID4VPWebProtocol.Signing.allCases.map(OpenID4VPWebProtocol.init)
    return [AppleInAppProtocol(showsSimulatedAnswers: mode == .test), AnnexCProtocol()] + web + [
      OpenID4VPRedirectProtocol(), AgeVerificationProtocol(), AnnexBProtocol(), ProximityProtocol(),
    ]
  }
}
