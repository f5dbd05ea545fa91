import App
import Base
import Bench
import Glibc
import HTTP
import Sessions

/// `load`: puts a load on a server in test mode, on a store, or on several nodes with faults.
@main
enum Program {
  static let usage = """
    usage: load CASE [OPTION…] [--json]
      server  verifications over kept connections, and how the server's memory grows
              --verifications N (5000), --connections N (16), --mdoc FILE (beside this program)
      rate    whole flows at a fixed rate, whatever comes back
              --rate N, --seconds N (10), --responses N (all), --connections N (16), --afterwards N (0)
              --processors LIST, --store STORE, --mdoc FILE, or --url URL with the API key in MDOC_API_KEY
      store   sessions created, consumed and concluded in a store of test mode, in which they stay
              --store STORE, --sessions N (5000)
      nodes   every response to two nodes at once; status 1 if a promise is broken
              --node URL…, --seed HEX, --sessions N (1000), --connections N (16), --may-fail
              --fault COMMAND --faults N (5), --webhook-port PORT --silence SECONDS (20)
    """

  /// The output of a run, and its exit status: 0, 1 if a promise was broken, 64 for a wrong command line, 70 and 75.
  struct Outcome {
    var status: Int32 = 0
    var output = ""
    var error = ""
  }

  struct Failure: Error {
    let status: Int32
    let reason: String

    static func usage(_ reason: String) -> Failure { Failure(status: EX_USAGE, reason: reason) }
    static func failed(_ reason: String) -> Failure { Failure(status: EX_SOFTWARE, reason: reason) }
  }

  static func main() async {
    let outcome = await run(Array(CommandLine.arguments.dropFirst()))
    write(outcome.output, to: STDOUT_FILENO)
    write(outcome.error, to: STDERR_FILENO)
    exit(outcome.status)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  static func run(_ words: [String]) async -> Outcome {
    do throws(Failure) {
      let arguments = try Arguments(words)
      return switch words.first {
      case "server": try await server(arguments)
      case "rate": try await rate(arguments)
      case "store": try await store(arguments)
      case "nodes": try await nodes(arguments)
      default: throw .usage("no such case")
      }
    } catch {
      return Outcome(
        status: error.status, error: "load: \(error.reason)\n" + (error.status == EX_USAGE ? usage + "\n" : ""))
    }
  }

  private static func outcome(_ json: JSON, _ facts: [(name: String, value: String)], _ arguments: Arguments) -> Outcome
  {
    guard !arguments.has("json") else { return Outcome(output: json.text() + "\n") }
    let width = facts.map(\.name.count).max() ?? 0
    let lines = facts.map { name, value in name + String(repeating: " ", count: width + 2 - name.count) + value + "\n" }
    return Outcome(output: lines.joined())
  }
}

// MARK: Cases

extension Program {
  private static func server(_ arguments: Arguments) async throws(Failure) -> Outcome {
    let benchmark = ServerBenchmark(
      connections: try arguments.integer("connections", in: 1...256, or: 16),
      verifications: try arguments.integer("verifications", in: 1_000...10_000_000, or: 5_000),
      program: arguments.program)
    do throws(ServerBenchmark.Failed) {
      let figures = try await benchmark.run()
      return outcome(figures.json, figures.facts, arguments)
    } catch {
      throw .failed(error.reason)
    }
  }

  private static func rate(_ arguments: Arguments) async throws(Failure) -> Outcome {
    guard arguments.value("rate") != nil else { throw .usage("--rate is required") }
    let rate = try arguments.integer("rate", in: 1...1_000_000, or: 1)
    let seconds = try arguments.integer("seconds", in: 1...86_400, or: 10)
    let all = min(rate * seconds, 10_000_000)
    let benchmark = LoadBenchmark(
      rate: Double(rate), seconds: Double(seconds),
      connections: try arguments.integer("connections", in: 1...1_000, or: 16),
      answers: try arguments.integer("responses", in: 1...10_000_000, or: all),
      afterwards: Double(try arguments.integer("afterwards", in: 0...1_000_000, or: 0)),
      target: try target(arguments))
    do throws(LoadBenchmark.Failed) {
      let figures = try await benchmark.run()
      return outcome(figures.json, figures.facts, arguments)
    } catch {
      throw .failed(error.reason)
    }
  }

  private static func target(_ arguments: Arguments) throws(Failure) -> LoadBenchmark.Target {
    guard let url = arguments.value("url") else {
      return .own(
        program: arguments.program, processors: arguments.value("processors"), store: arguments.value("store"))
    }
    guard let token = getenv("MDOC_API_KEY") else { throw .usage("--url needs the API key in MDOC_API_KEY") }
    return .running(port: try port(of: url, "url"), token: String(cString: token))
  }

  private static func store(_ arguments: Arguments) async throws(Failure) -> Outcome {
    guard let place = arguments.value("store") else { throw .usage("--store is required") }
    let sessions = try arguments.integer("sessions", in: 1_000...10_000_000, or: 5_000)
    do {
      let store = try StoreLocation(place).open(mode: .test)
      let figures = try await StoreBenchmark(store: store, sessions: sessions).run()
      await store.close()
      return outcome(["store": .array(figures.map(\.json))], figures.map { ("", $0.text) }, arguments)
    } catch {
      throw Failure(status: EX_TEMPFAIL, reason: "the store failed: \(error)")
    }
  }

  private static func nodes(_ arguments: Arguments) async throws(Failure) -> Outcome {
    var ports: [UInt16] = []
    for url in arguments.values("node") { ports.append(try port(of: url, "node")) }
    guard !ports.isEmpty, let seed = arguments.value("seed").flatMap(Hex.decode), !seed.isEmpty else {
      throw .usage("--node and the nodes' --seed are required")
    }
    var benchmark = NodesBenchmark(
      ports: ports, seed: seed, connections: try arguments.integer("connections", in: 1...256, or: 16),
      sessions: try arguments.integer("sessions", in: 1...10_000_000, or: 1_000))
    benchmark.mayFail = arguments.has("may-fail")
    if let command = arguments.value("fault") {
      benchmark.faults = FaultScenario(
        command: command, count: try arguments.integer("faults", in: 1...10_000, or: 5))
    }
    var receiving: HTTPServer?
    if arguments.value("webhook-port") != nil {
      let receiver = WebhookReceiver(silence: Double(try arguments.integer("silence", in: 0...3_600, or: 20)))
      let port = UInt16(try arguments.integer("webhook-port", in: 1...65_535, or: 1))
      benchmark.receiver = receiver
      do throws(HTTPServerError) { receiving = try receiver.start(port: port) } catch {
        throw Failure(status: EX_TEMPFAIL, reason: "the receiver did not start: \(error.description)")
      }
    }
    let result: Result<NodesFigures, NodesBenchmark.Failed>
    do throws(NodesBenchmark.Failed) { result = .success(try await benchmark.run()) } catch { result = .failure(error) }
    await receiving?.stop(drainSeconds: 0)
    switch result {
    case .success(let figures):
      var outcome = outcome(figures.json, figures.facts, arguments)
      outcome.status = figures.isKept ? 0 : 1
      return outcome
    case .failure(let error): throw .failed(error.reason)
    }
  }

  private static func port(of url: String, _ option: String) throws(Failure) -> UInt16 {
    let start = "http://127.0.0.1:"
    guard url.hasPrefix(start), let port = UInt16(url.dropFirst(start.count)) else {
      throw .usage("--\(option) must be \(start) and a port")
    }
    return port
  }
}

// MARK: Arguments

/// The words after the case: `--name value`, and two flags.
struct Arguments {
  private static let flags: Set = ["json", "may-fail"]
  private static let names: Set = [
    "verifications", "connections", "mdoc", "rate", "seconds", "responses", "afterwards", "processors", "store", "url",
    "sessions", "node", "seed", "fault", "faults", "webhook-port", "silence",
  ]

  private var given: [(name: String, value: String)] = []

  init(_ words: [String]) throws(Program.Failure) {
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      let name = String(word.dropFirst(2))
      if word.hasPrefix("--"), Self.flags.contains(name) {
        given.append((name, ""))
      } else if word.hasPrefix("--"), Self.names.contains(name), let value = rest.popFirst() {
        given.append((name, value))
      } else {
        throw .usage("\(word) is no option, or lacks its value")
      }
    }
  }

  func values(_ name: String) -> [String] { given.filter { $0.name == name }.map(\.value) }

  func value(_ name: String) -> String? { values(name).last }

  func has(_ name: String) -> Bool { value(name) != nil }

  func integer(_ name: String, in range: ClosedRange<Int>, or fallback: Int) throws(Program.Failure) -> Int {
    guard let text = value(name) else { return fallback }
    guard let number = Int(text), range.contains(number) else {
      throw .usage("--\(name) must be \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The path of `mdoc`: by default in the folder of this program.
  var program: String {
    if let path = value("mdoc") { return path }
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
    let own = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/mdoc"
  }
}
