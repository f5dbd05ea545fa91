import Cryptography
import Mdoc
import Base

/// A way to ask a wallet and to read its answer: what `Presentation` knows, as this module needs it.
///
/// Implementations have no state of their own between calls: what they need to open an answer is the material that
/// they gave away with the request.
public protocol WalletProtocol: Sendable {
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
  public var takesTranscriptFromCaller: Bool { false }

  public func openingSecret(of answer: WalletAnswer.Content, relyingParty: RelyingParty) -> SecretBytes? { nil }

  public func reopening(with secret: consuming SecretBytes?) -> any WalletProtocol { self }
}

/// Whose session a request is made for, and where its answer is to go.
public struct RequestContext: Sendable {
  public let session: SessionAddress
  public let relyingParty: RelyingParty
  /// The relying party's merchant that asks in-app.
  public let apple: AppleConfiguration?
  /// Of the page that asks: web protocols have one.
  public let origin: String?
  /// Where wallets reach this server, `https://host[:port]` without a path; nil where the operator has not said.
  public let publicURL: String?
  public let now: Timestamp

  public init(
    session: SessionAddress, relyingParty: RelyingParty, apple: AppleConfiguration? = nil, origin: String?,
    publicURL: String?, now: Timestamp
  ) {
    self.session = session
    self.relyingParty = relyingParty
    self.apple = apple
    self.origin = origin
    self.publicURL = publicURL
    self.now = now
  }
}

/// What a wallet sent, as far as it can be read before the challenge is consumed.
public enum WalletAnswer: Sendable {
  case answer(Content)
  /// The wallet's own word that there will be no answer (OpenID4VP 1.0, 8.5).
  case refusal(Code)

  public enum Content: Sendable {
    /// An envelope or a response as bytes.
    case bytes([UInt8])
    /// The parameters of an authorization response.
    case parameters(JSON)
  }
}

/// A request for the platform, and what is needed to open its answer.
public struct OutgoingRequest: ~Copyable, Sendable {
  /// `data` of an entry of the session's `requests`; public.
  public let data: JSON
  /// Serialised as the protocol likes; sealed at rest, given back once in a `ConsumedChallenge`.
  public let material: SecretBytes

  public init(data: JSON, material: consuming SecretBytes) {
    self.data = data
    self.material = material
  }
}
