// A build with a static standard library has no `Testing`, and no test either.
#if canImport(Testing)
  import HTTP
  import Testing

  /// Runs the tests of a suite on the server's verification threads.
  ///
  /// All tests share Swift's cooperative pool with one thread for each core. Some compute for seconds, but these tests
  /// have deadlines.
  package struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      try await withTaskExecutorPreference(WorkerThreads.shared) { try await function() }
    }
  }

  extension Trait where Self == OwnThreads {
    package static var onOwnThreads: Self { OwnThreads() }
  }
#endif
