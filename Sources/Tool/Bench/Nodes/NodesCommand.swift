import App
import Base
import HTTP

/// `mdoc bench --node`: several nodes on one store, and faults.
enum NodesCommand {
  static let node = Option(
    "node", "URL", "a node in test mode that runs already; several share a store", occurrence: .repeatable)
  static let seed = Option("seed", "HEX", "what the nodes were started with, with --node")
  static let sessions = Option("sessions", "N", "how many, with --node and without --fault", fallback: "1000")
  static let fault = Option("fault", "COMMAND", "a shell command that makes a fault and ends it, with --node")
  static let faults = Option("faults", "N", "how often", fallback: "5")
  static let mayFail = Option(flag: "may-fail", "answers may be out of date, where the faults are wrong clocks")
  static let webhook = Option("webhook-port", "PORT", "receives the nodes' webhooks there, with --node")
  static let silence = Option("silence", "N", "seconds in which the receiver does not answer", fallback: "20")

  static let options = [node, seed, sessions, fault, faults, mayFail, webhook, silence]

  static let note =
    "--node posts every answer to two nodes at the same moment, reads every session back from a third, and tells what was "
    + "acknowledged and what is true: status 1 where an answer was accepted twice, something acknowledged is lost, or an "
    + "error is none of 503. With --fault the command runs at random moments, until the nodes have recovered from the "
    + "last one."

  static func run(
    _ arguments: ParsedArguments, connections: Option, _ console: Console, printsJSON: Bool
  ) async throws(Failure) -> ExitStatus {
    var ports: [UInt16] = []
    for url in arguments.values(node) { ports.append(try port(of: url)) }
    guard let seed = try arguments.hex(seed, length: 1...1_024) else { throw .usage("--node needs the nodes' --seed") }
    var benchmark = NodesBenchmark(
      ports: ports, seed: seed, connections: Int(try arguments.integer(connections, in: 1...256)),
      sessions: Int(try arguments.integer(sessions, in: 1...10_000_000)))
    benchmark.mayFail = arguments.has(mayFail)
    if let command = arguments.value(fault) {
      benchmark.faults = FaultScenario(command: command, count: Int(try arguments.integer(faults, in: 1...10_000)))
    }
    var server: HTTPServer?
    if arguments.has(webhook) {
      let receiver = WebhookReceiver(silence: Double(try arguments.integer(silence, in: 0...3_600)))
      benchmark.receiver = receiver
      let port = UInt16(try arguments.integer(webhook, in: 1...65_535))
      do throws(HTTPServerError) { server = try receiver.start(port: port) } catch {
        throw .temporary("the receiver did not start: \(error.description)")
      }
    }
    let result: Result<NodesFigures, NodesBenchmark.Failed>
    do throws(NodesBenchmark.Failed) { result = .success(try await benchmark.run()) } catch { result = .failure(error) }
    await server?.stop(drainSeconds: 0)
    switch result {
    case .success(let figures):
      console.print(printsJSON ? figures.json.text() : figures.text)
      return figures.isKept ? .done : .rejected
    case .failure(let error): throw .internal("the load failed: \(error.reason)")
    }
  }

  private static func port(of url: String) throws(Failure) -> UInt16 {
    let start = "http://127.0.0.1:"
    guard url.hasPrefix(start), let port = UInt16(url.dropFirst(start.count)) else {
      throw .usage("--node must be \(start) and a port")
    }
    return port
  }
}
