import Primitives

/// Ends a session that nobody has answered yet; its challenge and its client secret are then dead.
struct CancelSession {
  let context: ServiceContext

  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> OperationReply {
    let address = try caller.address(of: id)
    let now = context.clock()
    let transition: Transition
    do { transition = try await context.store.cancel(address, at: now) } catch { throw ServiceError(error) }
    switch transition {
    case .changed(let record):
      return OperationReply(
        reply: Reply(200, SessionRendering(isLive: context.isLive, now: now).json(record)), session: address.id)
    case .notFound: throw .sessionNotFound
    case .refused(let record):
      switch record.state(at: now) {
      case .expired: throw ServiceError(.sessionExpired)
      case .redacted: throw ServiceError(.sessionRedacted)
      case .canceled: throw ServiceError(.sessionCanceled)
      default: throw ServiceError(.sessionWrongState, "Only a session that requires input can be canceled.")
      }
    }
  }
}
