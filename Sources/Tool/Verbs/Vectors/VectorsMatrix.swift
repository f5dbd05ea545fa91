import Base
import Vectors

/// `mdoc vectors matrix`: runs several verifiers and puts what each lets through side by side.
enum VectorsMatrix {
  static let command = Command(
    "matrix", "run several verifiers, and show what each lets through",
    options: [
      .suite, .filter, .verifier, .withoutOurs, .circuits, .answerSeconds, .memory, .html, .markdown, .counts,
      .jsonReport,
    ],
    notes: [
      "Each command is a harness, as mdoc vectors run --exec takes it. It is asked the cases of what it claims to do. This "
        + "verifier comes first.",
      "The result is no judgement: the exit status is 0 where every verifier could be asked, whatever it said. Others are "
        + "64 usage, 65 the suite cannot be read, 75 a harness did not start or is gone.",
    ],
    examples: [
      .init(
        "Two verifiers and this one",
        "mdoc vectors matrix --verifier \"TestVectors/harnesses/run isomdoc\" \\\n"
          + "  --verifier \"TestVectors/harnesses/run pymdoccbor\" --html matrix.html")
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let suite = try VectorsCommand.suite(arguments)
    var runs: [RunReport] = []
    if !arguments.has(.withoutOurs) {
      let circuits = try CircuitFiles.library(arguments.value(.circuits))
      var runner = VectorRunner(suite, circuits: circuits)
      runner.description = HarnessHandler(circuits: circuits).description
      runs.append(try await report(runner, arguments))
    }
    for command in arguments.values(.verifier) {
      runs.append(try await report(try await HarnessCommand(command, arguments).runner(of: suite), arguments))
    }
    let matrix = VerifierMatrix(runs)
    let text = MatrixText(matrix)
    if let path = arguments.value(.html) { try FileAccess.write(text.html, to: path) }
    if let path = arguments.value(.markdown) { try FileAccess.write(text.markdown(), to: path) }
    if let path = arguments.value(.counts) { try FileAccess.write(text.markdown(showsCases: false), to: path) }
    if let path = arguments.value(.jsonReport) {
      try FileAccess.write(matrix.json.serialized(pretty: true) + [UInt8(ascii: "\n")], to: path)
    }
    for run in runs { console.print(Printable.line(summary(run))) }
    return .done
  }

  private static func report(_ runner: VectorRunner, _ arguments: ParsedArguments) async throws(Failure) -> RunReport {
    var runner = runner
    runner.filter = arguments.value(.filter)
    do throws(VectorRunner.Interruption) {
      return try await runner.run()
    } catch {
      throw .temporary("\(runner.subject): \(error.reason) at case \(error.id)")
    }
  }

  private static func summary(_ run: RunReport) -> String {
    let judged = run.results.filter { $0.skipReason == nil }
    return "\(run.title): \(judged.count) cases judged, \(judged.count(where: \.isLetThrough)) wrong ones accepted, "
      + "\(judged.count(where: \.isRefusedThoughRight)) right ones refused, "
      + "\(judged.count { $0.judgement == nil }) without a verdict, \(run.count.skipped) not asked"
  }
}

extension Option {
  static let html = Option("html", "FILE", "write one HTML page for people")
  static let jsonReport = Option("json", "FILE", "write JSON for programs")
  fileprivate static let verifier = Option(
    "verifier", "COMMAND", "a command that starts a verifier's harness", occurrence: .requiredRepeatable)
  fileprivate static let withoutOurs = Option(flag: "without-ours", "leave this verifier out")
  fileprivate static let markdown = Option("markdown", "FILE", "write Markdown")
  fileprivate static let counts = Option("counts", "FILE", "write Markdown that counts, and names no case")
}
