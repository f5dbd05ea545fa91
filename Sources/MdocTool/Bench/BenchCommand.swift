import Primitives

/// `mdoc bench`: what one verification costs, against the floor of its primitives.
enum BenchCommand {
  static let command = Command(
    "bench", "measure one verification against the floor of its cryptographic primitives",
    options: [.rounds, .loop, .repetitions, .json],
    notes: [
      "ratio_to_floor is the processor time of one full verification over that of the primitives that none can avoid, "
        + "done by OpenSSL's fastest path in turn with it: ECDSA verifications (2, or 3 for an unknown document signer), "
        + "one ECDH, SHA-256 over the digested bytes, AES-128-GCM over the ciphertext.",
      "Times are medians of processor time; on a shared machine only the ratios are worth comparing.",
    ],
    examples: [
      .init("The figures", "mdoc bench"),
      .init("Work for a profiler", "perf record mdoc bench --loop known-5k --repetitions 20000"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let rounds = Int(try arguments.integer(.rounds, in: 1...1_000))
    let repetitions = Int(try arguments.integer(.repetitions, in: 1...10_000_000))
    let loop = arguments.value(.loop)
    let report: BenchReport
    do {
      if let loop {
        try BenchLoop(name: loop).run(repetitions)
        return .done
      }
      report = try await BenchReport(rounds: rounds)
    } catch {
      throw .internal("a verification of the benchmark failed")
    }
    if arguments.has(.json) { console.print(report.json) } else { console.print(report.text) }
    return .done
  }
}

extension Option {
  fileprivate static let rounds = Option("rounds", "N", "measurements a figure", fallback: "31")
  fileprivate static let loop = Option(
    "loop", "CASE", "only verify again and again, for a profiler", choices: BenchLoop.names)
  fileprivate static let repetitions = Option("repetitions", "N", "how often, with --loop", fallback: "1000")
}
