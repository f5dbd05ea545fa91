import App
import Base
import Glibc
import TestMode
import Vectors

/// Puts several nodes on one store under load, with faults or without. Every response is posted to two nodes at once,
/// and their acknowledgements are recorded.
struct NodesBenchmark {
  let ports: [UInt16]
  /// The `--seed` that the nodes were started with.
  let seed: [UInt8]
  let connections: Int
  /// How many sessions to create without faults. With faults, the load lasts as long as they do.
  let sessions: Int
  var faults: FaultScenario?
  /// Receives the nodes' webhooks; nil if they have no endpoint.
  var receiver: WebhookReceiver?
  /// Whether the faults are wrong clocks, so that a response may fail.
  var mayFail = false

  struct Failed: Error { let reason: String }

  /// Seconds that nodes may take to be ready, before the load and after it.
  private static let readyTime = 60

  func run() async throws(Failed) -> NodesFigures {
    let mode = try ownMode()
    let figures: NodesFigures
    do throws(Failed) {
      figures = try await run(mode)
    } catch {
      await mode.server.stop()
      throw error
    }
    await mode.server.stop()
    return figures
  }

  private func run(_ mode: TestServer) async throws(Failed) -> NodesFigures {
    let wallet: LoadWallet
    do { wallet = try LoadWallet(mode) } catch { throw Failed(reason: "no mock wallet") }
    // With one node both submits go to it.
    let ports = ports.count == 1 ? ports + ports : ports
    let watch = LoadWatch(nodes: ports.count, sessions: faults == nil ? sessions : nil)
    let workers = (0..<connections).map { _ in
      NodesWorker(ports: ports, token: mode.apiKey, wallet: wallet, watch: watch)
    }
    let observer = NodesObserver(ports: ports, token: mode.apiKey)
    guard await observer.areReady(within: Self.readyTime) else { throw Failed(reason: "a node is not ready") }
    receiver?.begin()
    async let recoveries = faults?.run(watch)
    await Self.each(workers) { $0.load() }
    let loadTime = watch.now
    var figures = NodesFigures(verified: watch.verified, seconds: loadTime, recoveries: await recoveries ?? [])
    guard await observer.areReady(within: Self.readyTime) else {
      throw Failed(reason: "a node did not get ready again")
    }
    try await settle(workers, observer)
    let entries = workers.flatMap(\.entries)
    figures.account = Account(entries, mayFail: mayFail)
    figures.notCreated = workers.reduce(into: [:]) { sum, worker in
      sum.merge(worker.notCreated, uniquingKeysWith: +)
    }
    if let receiver {
      figures.deliveries = await receiver.waitForAll(Set(entries.filter { $0.verifiedEvents > 0 }.map(\.session)))
    }
    return figures
  }

  /// Reads the state of every session. If one is still being processed, reads again after the time that an attempt may
  /// take.
  private func settle(_ workers: [NodesWorker], _ observer: NodesObserver) async throws(Failed) {
    await Self.each(workers) { $0.settle() }
    if workers.contains(where: { $0.entries.contains { $0.end == .processing } }) {
      try? await Task.sleep(for: .seconds(Limits.processingTimeout + 2))
      await Self.each(workers) { $0.settle() }
    }
    guard let events = await observer.verifiedEvents() else { throw Failed(reason: "the events cannot be read") }
    for worker in workers { worker.noteEvents(events) }
  }

  /// A server of the nodes' seed, for its keys, its authority and the lists that it publishes. Nobody calls its API.
  private func ownMode() throws(Failed) -> TestServer {
    var options = TestModeOptions()
    options.seed = seed
    do throws(StartError) { return try TestServer.start(options) } catch {
      throw Failed(reason: error.message)
    }
  }

  /// Runs every worker on a thread of its own, because its calls block.
  private static func each(_ workers: [NodesWorker], _ body: @escaping @Sendable (NodesWorker) -> Void) async {
    await withDiscardingTaskGroup { group in
      for worker in workers {
        group.addTask { await BackgroundThread.run { body(worker) } }
      }
    }
  }
}

/// Asks the nodes for the data about all sessions together.
struct NodesObserver: Sendable {
  let ports: [UInt16]
  let token: String

  /// Waits until every node says that it is ready; false if one does not in time.
  func areReady(within seconds: Int) async -> Bool {
    await onOwnThread { () -> Bool in
      let end = CPUClock.wall() + Double(seconds) * 1e6
      return ports.allSatisfy { port in
        let node = NodeConnection(port: port, token: token)
        while node.call("GET", "/readyz")?.status != 200 {
          guard CPUClock.wall() < end else { return false }
          usleep(100_000)
        }
        return true
      }
    }
  }

  /// How many events of each session say that it was verified; nil if the events cannot be read.
  func verifiedEvents() async -> [String: Int]? {
    await onOwnThread { () -> [String: Int]? in
      guard let port = ports.first else { return nil }
      let node = NodeConnection(port: port, token: token)
      let path = "/v1/events?limit=\(Limits.largestPage)&type=verification_session.verified"
      var counts: [String: Int] = [:]
      var last: String?
      while true {
        let page = path + (last.map { "&starting_after=" + $0 } ?? "")
        guard let reply = node.call("GET", page), reply.status == 200, let list = try? JSON(parsing: reply.body),
          let events = list["data"]?.array
        else { return nil }
        for event in events { counts[event["data"]?["id"]?.string ?? "", default: 0] += 1 }
        guard list["has_more"] == true, let next = events.last?["id"]?.string else { return counts }
        last = next
      }
    }
  }

  private func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      Task { await BackgroundThread.run { continuation.resume(returning: body()) } }
    }
  }
}
