import Base
import Mdoc

/// What a session asks, for a mock wallet to answer.
package struct PendingRequest: Sendable {
  package let session: SessionID
  package let protocolName: String
  package let data: JSON
  package let request: PresentationRequest
  package let relyingParty: RelyingParty
  package let origin: String?
}

/// Test mode's way to a mock answer; live mode has none.
struct GetPendingRequest {
  let context: ServiceContext

  func run(_ id: String, by protocolName: String?, as caller: Caller) async throws(ServiceError) -> PendingRequest {
    guard !context.isLive else { throw ServiceError(.apiNotFound) }
    try caller.require(.sessionsWrite)
    let record = try await context.record(at: try caller.address(of: id))
    guard let content = record.content, let first = record.offers.first else { throw ServiceError(.sessionRedacted) }
    guard let offer = record.offers.first(where: { $0.protocolName == protocolName ?? first.protocolName }) else {
      throw ServiceError(.sessionProtocolMismatch)
    }
    guard let data = try? offer.data.parsed() else { throw ServiceError(.apiInternal) }
    return PendingRequest(
      session: record.address.id, protocolName: offer.protocolName, data: data, request: content.request,
      relyingParty: caller.relyingParty, origin: content.origin)
  }
}
