import Base
import Cryptography
import Mdoc

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
  /// Of the page that asks: web protocols have one.
  package let origin: String?
  /// Where wallets reach this server, `https://host[:port]` without a path; nil where the operator has not said.
  package let publicURL: String?
  package let now: Timestamp

  package init(
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
package enum WalletAnswer: Sendable {
  case answer(Content)
  /// The wallet's own word that there will be no answer (OpenID4VP 1.0, 8.5).
  case refusal(Code)

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
