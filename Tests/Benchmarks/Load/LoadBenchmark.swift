import App
import Base
import Bench
import TestMode
import Vectors

/// Puts a load on a server that it starts, or on a running server in test mode.
struct LoadBenchmark {
  let rate: Double
  let seconds: Double
  let connections: Int
  /// The number of responses to prepare before the load. Once they are used up, a flow ends after its creation.
  let answers: Int
  /// Flows a second that follow the load for some seconds, to measure how soon the server recovers; 0 for none.
  let afterwards: Double
  let target: Target

  enum Target {
    /// Starts `mdoc` at this path. It runs on these processors (as `taskset` takes them) and with this store, if they
    /// are given.
    case own(program: String, processors: String?, store: String?)
    case running(port: UInt16, token: String)
  }

  typealias Failed = ServerBenchmark.Failed

  /// Connections that prepare responses. The mock wallet runs in the server, so more connections than processors would
  /// only queue there.
  private static let preparingConnections = 8

  func run() async throws(Failed) -> LoadFigures {
    switch target {
    case .running(let port, let token): return try await load(port, token, nil)
    case .own(let program, let processors, let store):
      let server: ServerProcess
      do throws(ServerProcess.Failed) {
        server = try ServerProcess(program, processors: processors, store: store)
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
    try await ServerBenchmark.each(workers) { worker throws(ClientError) in try worker.prepare(share) }
    let prepared = workers.flatMap { $0.takeAnswers() }
    let generator = LoadGenerator(port: port, token: token, connections: connections)
    let (rate, seconds, afterwards) = (rate, seconds, afterwards)
    let before = server?.processorSeconds() ?? [:]
    let countsBefore = server?.counts()
    let stagesBefore = StageTimes(port: port, token: token)
    let database = ProcessorTime.ofProcesses(named: "postgres")
    let own = CPUClock.process()
    let outcome = Locked<Result<LoadFigures, LoadGenerator.Failed>>(.failure(.init(reason: "no thread for the load")))
    await BackgroundThread.run {
      let result = Result { () throws(LoadGenerator.Failed) in
        try generator.run(rate: rate, seconds: seconds, afterwards: afterwards, answers: prepared)
      }
      outcome.withLock { $0 = result }
    }
    do throws(LoadGenerator.Failed) {
      var figures = try outcome.withLock { $0 }.get()
      figures.memory = server?.peakMemory()
      figures.processors = server?.processorSeconds().merging(before) { $0 - $1 } ?? [:]
      figures.counts = countsBefore.flatMap { before in server.map { $0.counts() - before } }
      figures.stages = StageTimes(port: port, token: token) - stagesBefore
      figures.generator = (CPUClock.process() - own) / 1e6
      figures.database = ProcessorTime.ofProcesses(named: "postgres") - database
      figures.floor = try? Self.floor()
      return figures
    } catch {
      throw Failed(reason: error.reason)
    }
  }

  /// Processor seconds of one verification's primitives, measured now on this machine.
  private static func floor() throws -> Double {
    let floor = try PrimitiveFloor.ofSmallResponse()
    var times = Samples()
    for _ in 0..<11 {
      let start = CPUClock.thread()
      for _ in 0..<100 where !floor.run() { throw Failed(reason: "a primitive failed") }
      times.add((CPUClock.thread() - start) / 100)
    }
    return times.median / 1e6
  }
}
