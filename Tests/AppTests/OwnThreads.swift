import HTTP
import Testing

@testable import App

/// Runs the tests of a suite on the server's verification threads.
///
/// All tests of the package share Swift's cooperative pool of one thread a core, and some compute for seconds; here
/// there are deadlines to keep.
struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(WorkerThreads.shared) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  static var onOwnThreads: Self { OwnThreads() }
}
