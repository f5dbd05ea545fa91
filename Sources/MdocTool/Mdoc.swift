@main
struct MdocTool {
  static func main() async throws {
    for b in AppleBenchmark.all {
      let f = try await b.run(rounds: 30, perRound: 100)
      print(b.name, f.answerBytes, f.known, f.unknown)
      for s in f.stages { print("  ", s.name, s.microseconds) }
      print(f.perSecond)
    }
  }
}
