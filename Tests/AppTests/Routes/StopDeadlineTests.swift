import Base
import Glibc
import HTTP
import Testing

@testable import App

@Suite struct StopDeadlineTests {
  /// Neither the task that stops the server nor any request finds a thread, and none of them can be told to return.
  @Test("a stop ends the process in its time, though every thread for verification hangs in a call")
  func hangingThreads() async {
    let result = await #expect(
      processExitsWith: .exitCode(StopWatchdog.status), observing: [\.standardErrorContent]
    ) {
      for _ in 0..<(4 * HTTPServerConfiguration.processorCount) {
        Task.detached(executorPreference: WorkerThreads.shared) { while true { pause() } }
      }
      // To the process: this thread blocks it. It waits until there is a server to stop.
      StopSignal.install()
      kill(getpid(), SIGTERM)
      try await withFolder { path in
        let folder = try LiveFolder(path)
        try folder.writeConfiguration(["stop_notice": 0, "stop_drain": 1])
        _ = await VerifierServer.run(configurationFile: folder.configurationFile)
      }
    }
    let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(log.contains("server.stop_overdue"))
  }

  @Test("a stop that ends in its time ends with 0") func gracefulStop() async {
    await #expect(processExitsWith: .exitCode(0)) {
      StopSignal.install()
      kill(getpid(), SIGTERM)
      try await withFolder { path in
        let folder = try LiveFolder(path)
        try folder.writeConfiguration(["stop_notice": 0, "stop_drain": 1])
        exit(await VerifierServer.run(configurationFile: folder.configurationFile))
      }
    }
  }
}
