/// One case verified again and again, so that a profiler sees nothing else.
struct BenchLoop {
  static let names = ["known-45k", "known-5k", "unknown-45k", "unknown-5k", "revocation-5k"]

  private let portraitBytes: Int
  private let knowsSigners: Bool
  private let isRevocation: Bool

  init(name: String) {
    portraitBytes = name.hasSuffix("-45k") ? AppleBenchmark.all[0].portraitBytes : AppleBenchmark.all[1].portraitBytes
    isRevocation = name.hasPrefix("revocation")
    knowsSigners = name.hasPrefix("known")
  }

  func run(_ repetitions: Int) async throws {
    if isRevocation { return try await RevocationBenchmark(portraitBytes: portraitBytes).loop(repetitions) }
    let answer = try BenchmarkAnswer(portraitBytes: portraitBytes)
    let verifier = try answer.verifier(knowsSigners: knowsSigners)
    for _ in 0..<repetitions {
      guard answer.isAccepted(by: verifier) else { throw AppleBenchmark.Failed() }
    }
  }
}
