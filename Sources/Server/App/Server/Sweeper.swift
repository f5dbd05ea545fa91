import Base
import Sessions

/// Lets the store catch up with time: expired sessions, results past their end, old rows. And counts what is in it.
struct Sweeper: Sendable {
  private static let interval = Duration.seconds(5)

  /// The one in force: one that was replaced is not held on to, with its keys.
  let service: @Sendable () -> VerificationService
  let log: Log
  let clock: @Sendable () -> Timestamp

  /// Runs until it is cancelled.
  func start() -> Task<Void, Never> {
    Task {
      while !Task.isCancelled {
        await sweep()
        await service().measureUsage()
        try? await Task.sleep(for: Self.interval)
      }
    }
  }

  /// In portions, until nothing is left to do.
  private func sweep() async {
    do throws(ServiceError) {
      while !Task.isCancelled, try await service().sweep().total > 0 {}
    } catch {
      // Nothing depends on it: readers judge by the time themselves.
      log.write(.warning, "sweep.failed", at: clock(), ["code": .string(error.code.rawValue)])
    }
  }
}
