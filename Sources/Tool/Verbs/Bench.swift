import App
import Base
import Bench
import Glibc
import HTTP
import Sessions

/// `mdoc bench`: measures the cost of one verification against the floor of its primitives.
enum BenchCommand {
  static let command = Command(
    "bench", "measure one verification against the floor of its cryptographic primitives",
    options: [
      .rounds, .server, .verifications, .connections, .rate, .seconds, .answers,
      .processors, .url, .afterwards, .store, .zk, .proofCircuits, .loop, .repetitions, .json,
    ] + NodesCommand.options,
    notes: [
      "ratio_to_floor is the processor time of one full verification over that of the primitives that none can avoid, "
        + "done by OpenSSL's fastest path in turn with it: ECDSA verifications (2, or 3 for an unknown document signer), "
        + "one ECDH, SHA-256 over the digested bytes, AES-128-GCM over the ciphertext.",
      "Cached revocation is what requiring a good status adds to a known signer's verification, where the signer's "
        + "revocation list and the document's status list are kept.",
      "--server starts a server in test mode as a process of its own, prepares answers in batches of 1000, and hands them "
        + "in over kept connections on the loopback interface; this program and the mock wallet use the same processors.",
      "--server --rate sends whole flows, a creation and a submit, at a fixed rate whatever comes back, with answers made "
        + "before (--answers; all of them by default), and tells how many were verified and how many shed. --url takes a "
        + "server in test mode that runs already, with its API key in MDOC_API_KEY.",
      NodesCommand.note,
      "--store measures a store of test mode by itself: sessions created, consumed and concluded, which stay in it.",
      "--zk has the mock wallet make a proof by each circuit, and verifies it --rounds times; the proof is made a tenth as "
        + "often. Figures are the circuit's loading and the memory that it keeps, the proof's bytes and making, its "
        + "verification by one thread and by two, by the clock and in processor time of the one, and the memory that one "
        + "verification takes at its peak.",
      "Other times are medians of processor time; on a shared machine only the ratios are worth comparing.",
    ],
    examples: [
      .init("The figures", "mdoc bench"),
      .init("A server under load, and its memory", "mdoc bench --server --verifications 100000"),
      .init(
        "Ten seconds of more than a server on processor 1 can do, from processor 0",
        "taskset -c 0 mdoc bench --server --processors 1 --rate 3000 --answers 15000"),
      .init(
        "A node of mdoc serve --test-mode --seed 01, every answer twice",
        "mdoc bench --node http://127.0.0.1:8080 --seed 01"),
      .init("Zero-knowledge proofs, by every circuit", "mdoc bench --zk --circuits circuits"),
      .init("Work for a profiler", "perf record mdoc bench --loop known-5k --repetitions 20000"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let rounds = Int(try arguments.integer(.rounds, in: 1...1_000))
    let repetitions = Int(try arguments.integer(.repetitions, in: 1...10_000_000))
    if arguments.has(NodesCommand.node) {
      return try await NodesCommand.run(
        arguments, connections: .connections, console, printsJSON: arguments.has(.json))
    }
    if arguments.has(.server), arguments.value(.rate) != nil { return try await runLoad(arguments, console) }
    if arguments.has(.server) { return try await runServer(arguments, console) }
    if arguments.has(.zk) { return try runProofs(rounds: rounds, arguments, console) }
    if arguments.has(.proofCircuits) { throw .usage("--circuits goes with --zk") }
    if let place = arguments.value(.store) { return try await runStore(place, arguments, console) }
    let loop = arguments.value(.loop)
    let report: BenchReport
    do {
      if let loop {
        try await BenchLoop(name: loop).run(repetitions)
        return .done
      }
      report = try await BenchReport(rounds: rounds)
    } catch {
      throw .internal("a verification of the benchmark failed")
    }
    if arguments.has(.json) { console.print(report.json) } else { console.print(report.text) }
    return .done
  }

  private static func table(_ facts: [(name: String, value: String)]) -> String {
    Wrapping.columns(facts, indent: 0, width: 100)
  }

  private static func runServer(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let benchmark = ServerBenchmark(
      connections: Int(try arguments.integer(.connections, in: 1...256)),
      verifications: Int(try arguments.integer(.verifications, in: 1_000...10_000_000)))
    let figures: ServerBenchmark.Figures
    do throws(ServerBenchmark.Failed) {
      figures = try await benchmark.run()
    } catch {
      throw .internal("the server's benchmark failed: \(error.reason)")
    }
    if arguments.has(.json) { console.print(figures.json) } else { console.print(table(figures.facts)) }
    return .done
  }
}

// MARK: Load

extension BenchCommand {
  private static func runLoad(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let rate = try arguments.integer(.rate, in: 1...1_000_000)
    let seconds = try arguments.integer(.seconds, in: 1...86_400)
    let all = Int(min(rate * seconds, 10_000_000))
    let answers = arguments.value(.answers) == nil ? all : Int(try arguments.integer(.answers, in: 1...10_000_000))
    let benchmark = LoadBenchmark(
      rate: Double(rate), seconds: Double(seconds),
      connections: Int(try arguments.integer(.connections, in: 1...1_000)),
      answers: answers, afterwards: Double(try arguments.integer(.afterwards, in: 0...1_000_000)),
      target: try target(arguments))
    let figures: LoadFigures
    do throws(LoadBenchmark.Failed) {
      figures = try await benchmark.run()
    } catch {
      throw .internal("the load failed: \(error.reason)")
    }
    if arguments.has(.json) { console.print(figures.json) } else { console.print(table(figures.facts)) }
    return .done
  }

  private static func target(_ arguments: ParsedArguments) throws(Failure) -> LoadBenchmark.Target {
    guard let url = arguments.value(.url) else {
      return .own(processors: arguments.value(.processors), store: arguments.value(.store))
    }
    let start = "http://127.0.0.1:"
    guard url.hasPrefix(start), let port = UInt16(url.dropFirst(start.count)) else {
      throw .usage("--url must be \(start) and a port")
    }
    guard let token = getenv("MDOC_API_KEY") else { throw .usage("--url needs the API key in MDOC_API_KEY") }
    return .running(port: port, token: String(cString: token))
  }
}

// MARK: Stores

extension BenchCommand {
  private static func runStore(
    _ place: String, _ arguments: ParsedArguments, _ console: Console
  ) async throws(Failure) -> ExitStatus {
    let sessions = Int(try arguments.integer(.verifications, in: 1_000...10_000_000))
    let store: any SessionStore
    do {
      store = try StoreLocation(place).open(mode: .test)
    } catch let error as ConfigurationError {
      throw .usage("--store \(error.message)")
    } catch {
      throw .temporary("\(error)")
    }
    let figures: [StoreBenchmark.Figures]
    do {
      figures = try await StoreBenchmark(store: store, sessions: sessions).run()
    } catch {
      throw .temporary("the store's benchmark failed: \(error)")
    }
    await store.close()
    if arguments.has(.json) {
      console.print(["store": .array(figures.map(\.json))])
    } else {
      console.print(figures.map(\.text).joined(separator: "\n"))
    }
    return .done
  }
}

// MARK: Proofs

extension BenchCommand {
  private static func runProofs(
    rounds: Int, _ arguments: ParsedArguments, _ console: Console
  ) throws(Failure) -> ExitStatus {
    guard let folder = arguments.value(.proofCircuits) else { throw .usage("--zk needs --circuits") }
    let figures: [ProofBenchmark.Figures]
    do throws(ProofBenchmark.Failed) {
      figures = try ProofBenchmark(rounds: rounds).run(folder: folder)
    } catch {
      throw .unreadable("circuits \(error.reason)")
    }
    if arguments.has(.json) {
      console.print(["circuits": .array(figures.map(\.json))])
    } else {
      console.print(ProofBenchmark.Figures.text(figures))
    }
    return .done
  }
}

extension Option {
  fileprivate static let zk = Option(flag: "zk", "measure zero-knowledge proofs instead, by each circuit of --circuits")
  fileprivate static let proofCircuits = Option("circuits", "FOLDER", "where the circuits are, with --zk")
  fileprivate static let rate = Option("rate", "N", "flows a second, with --server, whatever comes back")
  fileprivate static let seconds = Option("seconds", "N", "for how long, with --rate", fallback: "10")
  fileprivate static let answers = Option("answers", "N", "answers made before, with --rate")
  fileprivate static let processors = Option(
    "processors", "LIST", "processors of the server's process, as taskset takes them, with --rate")
  fileprivate static let url = Option("url", "URL", "a server in test mode that runs already, with --rate")
  fileprivate static let afterwards = Option(
    "afterwards", "N", "flows a second for 15 seconds after the load, to see it recover", fallback: "0")
  fileprivate static let rounds = Option("rounds", "N", "measurements a figure", fallback: "31")
  fileprivate static let server = Option(flag: "server", "measure a server over HTTP instead")
  fileprivate static let verifications = Option(
    "verifications", "N", "how many, with --server or --store", fallback: "5000")
  fileprivate static let connections = Option("connections", "N", "how many at once, with --server", fallback: "16")
  fileprivate static let store = Option(
    "store", "STORE", "measure sqlite:FILE or a postgresql:// URL instead, or serve with it, with --rate")
  fileprivate static let loop = Option(
    "loop", "CASE", "only verify again and again, for a profiler", choices: BenchLoop.names)
  fileprivate static let repetitions = Option("repetitions", "N", "how often, with --loop", fallback: "1000")
}

/// `mdoc bench --node`: measures several nodes on one store, with faults or without.
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
      console.print(
        printsJSON ? figures.json.text() : Wrapping.columns(figures.facts, indent: 0, leftLimit: 60, width: 110))
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
