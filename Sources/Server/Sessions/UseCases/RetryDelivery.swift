import Base

/// Begins a dead letter anew. One that is not dead stays as it is: doing it twice is no error.
struct RetryDelivery {
  let context: ServiceContext

  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> OperationReply {
    let unknown = ServiceError(.apiNotFound, "No such delivery.")
    guard let id = DeliveryID(id) else { throw unknown }
    let retry: DeliveryRetry
    do {
      retry = try await context.store.retryDelivery(id, of: caller.relyingParty.id, at: context.clock())
    } catch {
      throw ServiceError(error)
    }
    switch retry {
    case .begun(let delivery), .refused(let delivery):
      return OperationReply(status: 200, body: EventRendering(isLive: context.isLive).json(delivery))
    case .notFound: throw unknown
    }
  }
}
