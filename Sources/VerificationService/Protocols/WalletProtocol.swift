import Cryptography
import Mdoc
import Primitives

/// A way to ask a wallet and to read its answer: what `Presentation` knows, as this module needs it.
///
/// Implementations have no state of their own between calls: what they need to open an answer is the material that
/// they gave away with the request.
public protocol WalletProtocol: Sendable {
  /// As in the API: `apple-in-app`.
  var name: String { get }

  /// The request to hand to the platform, with a fresh nonce and key, and the material to keep for opening its answer.
  /// Throws where this relying party or this request cannot be served by the protocol.
  func makeRequest(
    _ request: PresentationRequest, for relyingParty: RelyingParty, origin: String?
  ) throws(ServiceError) -> OutgoingRequest

  /// Reads `data` of a submit strictly (unknown members, base64), before anything is consumed. Pointers begin with
  /// `/data`.
  func decodeAnswer(_ data: JSON) throws(ServiceError) -> [UInt8]

  /// Opens and authenticates. It never throws: every fault is in the verdict that follows.
  func authenticate(
    _ answer: [UInt8], answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication
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
