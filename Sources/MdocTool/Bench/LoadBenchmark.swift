import Primitives
import VerifierHTTP

/// A load on a server of its own process, or on one in test mode that runs already.
struct LoadBenchmark {
  let rate: Double
  let seconds: Double
  let connections: Int
  /// Answers that are made before; flows beyond them end with their creation.
  let answers: Int
  let target: Target

  enum Target {
    /// Starts a server, on these processors (`taskset`) where some are named.
    case own(processors: String?)
    case running(port: UInt16, token: String)
  }

  typealias Failed = ServerBenchmark.Failed

  /// The mock wallet works in the server: more connections than processors only queue there.
  private static let preparingConnections = 8

  func run() async throws(Failed) -> LoadFigures {
    switch target {
    case .running(let port, let token): return try await load(port, token, nil)
    case .own(let processors):
      let server: ServerProcess
      do throws(ServerProcess.Failed) {
        server = try ServerProcess(processors: processors)
      } catch {
        throw Failed(reason: error.reason)
      }
      defer { server.stop() }
      return try await load(server.port, server.apiKey, server)
    }
  }

  private func load(_ port: UInt16, _ token: String, _ server: ServerProcess?) async throws(Failed) -> LoadFigures {
    let workers = (0..<Self.preparingConnections).map { _ in ServerBenchmarkWorker(port: port, token: token) }
    let share = (answers + workers.count - 1) / workers.count
    try await ServerBenchmark.each(workers) { worker throws(KeptConnection.Fault) in try worker.prepare(share) }
    let prepared = workers.flatMap { $0.takeAnswers() }
    let generator = LoadGenerator(port: port, token: token, connections: connections)
    let (rate, seconds) = (rate, seconds)
    let before = server?.processorSeconds()
    let outcome = Locked<Result<LoadFigures, LoadGenerator.Failed>>(.failure(.init(reason: "no thread for the load")))
    await BackgroundThread.run {
      let result = Result { () throws(LoadGenerator.Failed) in
        try generator.run(rate: rate, seconds: seconds, answers: prepared)
      }
      outcome.withLock { $0 = result }
    }
    do throws(LoadGenerator.Failed) {
      var figures = try outcome.withLock { $0 }.get()
      figures.memory = server?.residentMemory()
      if let before, let after = server?.processorSeconds() { figures.processorSeconds = after - before }
      return figures
    } catch {
      throw Failed(reason: error.reason)
    }
  }
}
