import Primitives
import VerificationService
import VerifierHTTP

/// `mdoc bench`: what one verification costs, against the floor of its primitives.
enum BenchCommand {
  static let command = Command(
    "bench", "measure one verification against the floor of its cryptographic primitives",
    options: [.rounds, .server, .verifications, .connections, .store, .loop, .repetitions, .json],
    notes: [
      "ratio_to_floor is the processor time of one full verification over that of the primitives that none can avoid, "
        + "done by OpenSSL's fastest path in turn with it: ECDSA verifications (2, or 3 for an unknown document signer), "
        + "one ECDH, SHA-256 over the digested bytes, AES-128-GCM over the ciphertext.",
      "Cached revocation is what requiring a good status adds to a known signer's verification, where the signer's "
        + "revocation list and the document's status list are kept.",
      "--server starts a server in test mode as a process of its own, prepares answers in batches of 1000, and hands them "
        + "in over kept connections on the loopback interface; this program and the mock wallet use the same processors.",
      "--store measures a store of test mode by itself: sessions created, consumed and concluded, which stay in it.",
      "Times are medians of processor time; on a shared machine only the ratios are worth comparing.",
    ],
    examples: [
      .init("The figures", "mdoc bench"),
      .init("A server under load, and its memory", "mdoc bench --server --verifications 100000"),
      .init("Work for a profiler", "perf record mdoc bench --loop known-5k --repetitions 20000"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let rounds = Int(try arguments.integer(.rounds, in: 1...1_000))
    let repetitions = Int(try arguments.integer(.repetitions, in: 1...10_000_000))
    if arguments.has(.server) { return try await runServer(arguments, console) }
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
    if arguments.has(.json) { console.print(figures.json) } else { console.print(figures.text) }
    return .done
  }
}

extension BenchCommand {
  private static func runStore(
    _ place: String, _ arguments: ParsedArguments, _ console: Console
  ) async throws(Failure) -> ExitStatus {
    let sessions = Int(try arguments.integer(.verifications, in: 1_000...10_000_000))
    let store: any SessionStore
    do {
      store = try StoreLocation(place).open(isLive: false)
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

extension Option {
  fileprivate static let rounds = Option("rounds", "N", "measurements a figure", fallback: "31")
  fileprivate static let server = Option(flag: "server", "measure a server over HTTP instead")
  fileprivate static let verifications = Option(
    "verifications", "N", "how many, with --server or --store", fallback: "5000")
  fileprivate static let connections = Option("connections", "N", "how many at once, with --server", fallback: "16")
  fileprivate static let store = Option("store", "STORE", "measure sqlite:FILE or a postgresql:// URL instead")
  fileprivate static let loop = Option(
    "loop", "CASE", "only verify again and again, for a profiler", choices: BenchLoop.names)
  fileprivate static let repetitions = Option("repetitions", "N", "how often, with --loop", fallback: "1000")
}
