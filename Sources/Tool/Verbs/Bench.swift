import Base
import Bench

enum BenchCommand {
  static let command = Command(
    "bench", "measure one verification against the floor of its cryptographic primitives",
    options: [.rounds, .zk, .proofCircuits, .loop, .repetitions, .json],
    notes: [
      "ratio_to_floor is the processor time of one full verification, divided by the time of its unavoidable "
        + "primitives. The primitives and the verification run alternately, by OpenSSL's fastest path: ECDSA "
        + "verifications (2, or 3 "
        + "for an unknown document signer), one ECDH, SHA-256 over the digested bytes, AES-128-GCM over the "
        + "ciphertext.",
      "Cached revocation is the added cost of require_good for a known signer, with both lists in memory.",
      "--zk makes a proof with each circuit, and verifies it --rounds times; a tenth as many proofs are made. It "
        + "prints, for each circuit: load time, memory, proof size, proving time, verification with one and two "
        + "threads (elapsed and processor time), and peak memory of a verification.",
      "Other times are medians of processor time; on a shared machine only the ratios are worth comparing.",
    ],
    examples: [
      .init("The figures", "mdoc bench"),
      .init("Measure proofs with every circuit", "mdoc bench --zk --circuits circuits"),
      .init("Profile a verification", "perf record mdoc bench --loop known-5k --repetitions 20000"),
    ], action: run)

  private static func run(_ arguments: Arguments) async throws(Failure) -> ExitStatus {
    let rounds = Int(try arguments.integer(.rounds, in: 1...1_000))
    let repetitions = Int(try arguments.integer(.repetitions, in: 1...10_000_000))
    if arguments.has(.zk) { return try runProofs(rounds: rounds, arguments) }
    if arguments.has(.proofCircuits) { throw .usage("--circuits needs --zk") }
    let loop = arguments.value(.loop)
    let report: BenchReport
    do {
      if let loop {
        try await BenchLoop.run(loop, repetitions)
        return .done
      }
      report = try await BenchReport(rounds: rounds, progress: arguments.console.progress)
    } catch {
      arguments.console.erase()
      throw .internal("a verification of the benchmark failed")
    }
    arguments.print([.document(report.json), .verbatim(report.text)])
    return .done
  }
}

// MARK: Proofs

extension BenchCommand {
  private static func runProofs(rounds: Int, _ arguments: Arguments) throws(Failure) -> ExitStatus {
    guard let folder = arguments.value(.proofCircuits) else { throw .usage("--zk needs --circuits") }
    let figures: [ProofBenchmark.Figures]
    do {
      figures = try ProofBenchmark(rounds: rounds).run(folder: folder, progress: arguments.console.progress)
    } catch {
      arguments.console.erase()
      throw .unreadable("circuits \(error)")
    }
    arguments.print([.member("circuits", figures.map(\.json)), .verbatim(ProofBenchmark.Figures.text(figures))])
    return .done
  }
}

extension Option {
  fileprivate static let zk = Option(
    flag: "zk", "measure zero-knowledge proofs instead, with each circuit of --circuits")
  fileprivate static let proofCircuits = Option("circuits", "FOLDER", "the folder of circuits, with --zk")
  fileprivate static let rounds = Option("rounds", "N", "measurements a figure", fallback: "31")
  fileprivate static let loop = Option(
    "loop", "CASE", "repeat one verification, for a profiler", choices: BenchLoop.names)
  fileprivate static let repetitions = Option(
    "repetitions", "N",
    "number of repetitions, with --loop", fallback: "1000")
}
