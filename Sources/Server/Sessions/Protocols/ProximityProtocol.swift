import Base
import Cryptography
import Mdoc
import Presentation

/// Proximity presentation (ISO/IEC 18013-5:2021) as the service sees it: a reader app asks and receives, and hands in
/// what it received with the parts of its session's transcript.
///
/// The challenge is the reader's own ephemeral key: this server has none, and cannot tell an answer that was handed in
/// before. It verifies what a reader says of its session; that it may, the API key shows.
package struct ProximityProtocol: WalletProtocol {
  package let name = "iso-18013-5-proximity"
  package let takesTranscriptFromCaller = true

  package init() {}

  /// `{"device_request": base64url}`, not signed: reader authentication needs the session's transcript.
  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    OutgoingRequest(
      data: ["device_request": .string(Base64.encodeURLSafe(DeviceRequest(request).encoded))],
      material: SecretBytes(copying: [UInt8]()))
  }

  package func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    _ = try ProximityInput(parsing: data)
    return .answer(.parameters(data))
  }

  package func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication {
    guard case .parameters(let data) = answer, let input = try? ProximityInput(parsing: data) else {
      // It was read before the challenge was consumed: only a fault of ours can make it.
      return verifier.refuse([Check(.sessionInterrupted, .failed)], at: now)
    }
    return Proximity(verifier: verifier).authenticate(input.answer, in: input.session, request: request, at: now)
  }
}
