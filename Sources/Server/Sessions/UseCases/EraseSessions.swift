import Base

/// Erases everything of a session but ids, times, status and codes, in whatever state it is. An answer that is being
/// verified comes to nothing. Doing it twice is no error.
struct RedactSession {
  let context: ServiceContext

  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> OperationReply {
    let address = try caller.address(of: id)
    let now = context.clock()
    let transition: Transition
    do { transition = try await context.store.redact(address, at: now) } catch { throw ServiceError(error) }
    switch transition {
    case .changed(let record), .refused(let record):
      // Of no session: nothing is left in it that a redaction would have to erase.
      return OperationReply(status: 200, body: SessionRendering(isLive: context.isLive, now: now).json(record))
    case .notFound: throw .sessionNotFound
    }
  }
}

/// Lets the store catch up with time, in portions small enough that no caller waits long behind one.
struct SweepSessions {
  static let portion = 500
  let context: ServiceContext

  func run() async throws(ServiceError) -> SweepCount {
    do {
      return try await context.store.sweep(at: context.clock(), limit: Self.portion)
    } catch {
      throw ServiceError(error)
    }
  }
}
