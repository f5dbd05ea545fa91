import Primitives
import VectorKit

/// `mdoc vectors run`: every case with exactly the expected codes, or what came in their place.
enum VectorsRun {
  static let command = Command(
    "run", "run the cases and report which do not end as they must",
    options: [.suite, .filter, .against, .without, .junit, .html, .jsonReport],
    notes: [
      "With --against, each case is posted without its expectation as JSON to the URL, which answers "
        + "{\"verdict\": \"accepted\" or \"rejected\", \"codes\": […]}; codes may be left out. "
        + "mdoc vectors serve-harness is an example.",
      "Exit status: 0 all pass, 1 a case fails, 64 usage, 65 the suite cannot be read.",
    ],
    examples: [
      .init("This verifier", "mdoc vectors run --html report.html --junit report.xml"),
      .init("One family of cases", "mdoc vectors run --filter device-mac"),
      .init(
        "Another verifier, which does not speak Apple's in-app protocol",
        "mdoc vectors run --against http://127.0.0.1:9000/ --without apple-in-app"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let suite = try VectorsCommand.suite(arguments)
    var runner = try runner(suite, arguments)
    runner.filter = arguments.value(.filter)
    runner.missingFeatures = Set(arguments.values(.without))
    let report = await runner.run()
    if report.results.isEmpty { throw .usage("no case has an id that contains \"\(runner.filter ?? "")\"") }
    if let path = arguments.value(.junit) { try FileAccess.write(JUnitReport.xml(report), to: path) }
    if let path = arguments.value(.html) { try FileAccess.write(HTMLReport(report).bytes, to: path) }
    if let path = arguments.value(.jsonReport) {
      try FileAccess.write(JSONReport.json(report).serialized(pretty: true) + [UInt8(ascii: "\n")], to: path)
    }
    console.print(RunText(report, width: console.width, style: Style(isColored: console.isColored)).text)
    return report.hasPassed ? .done : .rejected
  }

  private static func runner(_ suite: VectorSuite, _ arguments: ParsedArguments) throws(Failure) -> VectorRunner {
    guard let address = arguments.value(.against) else { return VectorRunner(suite) }
    guard let client = HarnessClient(address) else {
      throw .usage("--against is a URL like http://127.0.0.1:9000/, not \"\(address)\"")
    }
    return VectorRunner(suite, subject: address) { vector throws(VectorRunner.NoVerdict) in
      try await client.judge(vector, anchors: suite.anchors)
    }
  }
}

extension Option {
  fileprivate static let against = Option("against", "URL", "ask the verifier behind this harness in place of ours")
  fileprivate static let without = Option(
    "without", "FEATURE", "skip cases that need this feature", occurrence: .repeatable)
  fileprivate static let junit = Option("junit", "FILE", "write JUnit XML")
  fileprivate static let html = Option("html", "FILE", "write one HTML page for people")
  fileprivate static let jsonReport = Option("json", "FILE", "write JSON for programs")
}
