import App
import Base
import TestMode
import Testing

@testable import Load

/// `load nodes`: loads on nodes that run already, with and without faults.
@Suite struct NodesTests {
  private static let seed = "6e6f646573"

  private static func run(_ arguments: String..., seed: String = seed) async throws -> Program.Outcome {
    var options = TestModeOptions()
    options.seed = Hex.decode(Self.seed)
    let node = try TestServer.start(options)
    let run = await Program.run(
      ["nodes", "--node", node.baseURL, "--seed", seed, "--connections", "2", "--json"] + arguments)
    await node.server.stop()
    return run
  }

  @Test func `every answer is accepted once, and the other submit is told so`() async throws {
    let run = try await Self.run("--sessions", "6")
    let figures = try JSON(parsing: Array(run.output.utf8))
    #expect(run.status == 0 && figures["kept"] == true)
    #expect(figures["sessions"] == 6 && figures["verified_once"] == 6 && figures["acknowledged"] == 6)
    #expect(figures["replies"] == ["session.already_used": 6, "verified": 6])
    #expect(figures["broken_rules"] == .object([]) && figures["not_acknowledged"] == .object([]))
  }

  @Test func `with a fault the load lasts until the nodes have recovered`() async throws {
    let run = try await Self.run("--fault", "true", "--faults", "1")
    let figures = try JSON(parsing: Array(run.output.utf8))
    #expect(run.status == 0 && figures["faults"] == 1)
    #expect(figures["verified_again_seconds"]?.array?.count == 1)
    #expect(figures["all_nodes_again_seconds"]?.array?.count == 1)
  }

  @Test func `a fault whose command fails makes the run fail`() async throws {
    let run = try await Self.run("--fault", "exit 3", "--faults", "2")
    #expect(run.status == 1)
    #expect(try JSON(parsing: Array(run.output.utf8))["faults"] == 1)
  }

  @Test func `nodes of another seed make the run fail`() async throws {
    let run = try await Self.run("--sessions", "2", seed: "ff")
    #expect(run.status != 0)
  }

  @Test func `a receiver that answers gets every event`() async throws {
    let receiver = WebhookReceiver(silence: 0)
    let server = try receiver.start(port: 0)
    receiver.begin()
    var options = TestModeOptions()
    options.seed = Hex.decode(Self.seed)
    options.webhookURL = "http://127.0.0.1:\(server.port)/hooks"
    let node = try TestServer.start(options)
    var benchmark = NodesBenchmark(
      ports: [node.server.listen.port], seed: try #require(options.seed), connections: 1, sessions: 3)
    benchmark.receiver = receiver
    let figures = try await benchmark.run()
    #expect(figures.isKept && figures.deliveries?.missing == 0)
    #expect(figures.deliveries.map { $0.taken >= 3 } == true)
    await node.server.stop()
    await server.stop(drainSeconds: 0)
  }

  @Test func `only what was sent after a fault tells of the recovery`() {
    let watch = LoadWatch(nodes: 2, sessions: nil)
    let before = watch.now
    watch.mark()
    watch.note(0, sentAt: before, answers: true, verified: true)
    #expect(watch.recovery.verified == nil)
    let after = watch.now
    watch.note(0, sentAt: after, answers: false, verified: false)
    watch.note(0, sentAt: after, answers: true, verified: true)
    #expect(watch.recovery.verified != nil && !watch.recovery.isComplete)
    watch.note(0, sentAt: after, answers: true, verified: false)
    #expect(!watch.recovery.isComplete)
    watch.note(1, sentAt: after, answers: true, verified: false)
    #expect(watch.recovery.isComplete)
    #expect(watch.verified.count == 2)
  }

  @Test func `a load without faults ends with its last session`() {
    let watch = LoadWatch(nodes: 2, sessions: 2)
    #expect(watch.begin() && watch.begin() && !watch.begin())
    watch.giveBack()
    #expect(watch.begin() && !watch.begin())
    let endless = LoadWatch(nodes: 2, sessions: nil)
    #expect(endless.begin())
    endless.end()
    #expect(!endless.begin())
  }
}
