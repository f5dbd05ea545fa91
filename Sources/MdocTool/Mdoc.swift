@main
struct MdocTool {
  static func main() async throws {
    let a = try BenchmarkAnswer(portraitBytes: 1600)
    let k = try a.verifier(knowsSigners: true)
    let s = CPUClock.thread()
    let n = Int(CommandLine.arguments.dropFirst().first ?? "10000") ?? 1; for _ in 0..<n { _ = a.isAccepted(by: k) }
    print((CPUClock.thread() - s) / 10000)
  }
}
