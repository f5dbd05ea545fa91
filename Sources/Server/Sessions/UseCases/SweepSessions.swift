import Base

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
