import Base
import Mdoc
import Vectors

/// `mdoc vectors run`: judges every case, and reports those that do not end with exactly the expected codes.
enum VectorsRun {
  static let command = Command(
    "run", "run the cases and report which do not end as they must",
    options: [.suite, .filter, .against, .without, .circuits, .measure, .junit, .html, .jsonReport],
    notes: [
      "With --against, each case is posted as JSON to the URL, without what tells the verdict. The harness there answers "
        + "{\"verdict\": \"accepted\" or \"rejected\", \"codes\": […]}; codes may be left out. One that is gone or silent "
        + "for a minute ends the run. mdoc vectors serve-harness is an example.",
      "With --measure, each case is judged twice, and the second time's processor time and peak of resident memory "
        + "stand in the reports. A case fails that takes more than "
        + "\(Limits.verificationMemoryBytes >> 20) MiB or \(Limits.verificationSeconds) s.",
      "Cases with zero-knowledge proofs need --circuits, and are skipped without the circuit that they are about.",
      "--suite also takes a set that others published, or a folder of such sets, in their own layout: Wycheproof, "
        + "ISO/IEC 18013-5 Annex D, Apple's sample, RFC 9180, RFC 8949 appendix A, COSE examples and more.",
      "Exit status: 0 all that were run pass, 1 a case fails or none was run, 64 usage, 65 the suite cannot be read, "
        + "75 the harness is gone.",
    ],
    examples: [
      .init("This verifier", "mdoc vectors run --html report.html --junit report.xml"),
      .init("Published sets beside the working copy", "mdoc vectors run --suite ../shared/vectors"),
      .init("One family of cases", "mdoc vectors run --filter device-mac"),
      .init("What each case costs", "mdoc vectors run --measure --json report.json"),
      .init(
        "Another verifier, which does not speak Apple's in-app protocol",
        "mdoc vectors run --against http://127.0.0.1:9000/ --without apple-in-app"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    if arguments.has(.circuits), arguments.has(.against) {
      throw .usage("--circuits is for this verifier: another has its own")
    }
    if arguments.has(.measure), arguments.has(.against) {
      throw .usage("--measure is for this verifier: another's memory and time cannot be seen from here")
    }
    let report = try await report(arguments)
    if report.results.isEmpty {
      throw .usage("no case has an id that contains \"\(arguments.value(.filter) ?? "")\"")
    }
    if let path = arguments.value(.junit) { try FileAccess.write(JUnitReport.xml(report), to: path) }
    if let path = arguments.value(.html) { try FileAccess.write(HTMLReport(report).bytes, to: path) }
    if let path = arguments.value(.jsonReport) {
      try FileAccess.write(JSONReport.json(report).serialized(pretty: true) + [UInt8(ascii: "\n")], to: path)
    }
    console.print(RunText(report: report, width: console.width, style: Style(isColored: console.isColored)).text)
    return report.hasPassed ? .done : .rejected
  }

  private static func report(_ arguments: ParsedArguments) async throws(Failure) -> RunReport {
    if let published = try published(arguments) {
      guard !arguments.has(.measure) else { throw .usage("--measure is for suites in this project's layout") }
      guard !arguments.has(.without) else { throw .usage("--without is for suites in this project's layout") }
      return published
    }
    let suite = try VectorsCommand.suite(arguments)
    var runner = try runner(suite, arguments)
    runner.filter = arguments.value(.filter)
    runner.missingFeatures.formUnion(try features(arguments, of: suite))
    runner.measures = arguments.has(.measure)
    do throws(VectorRunner.Interruption) {
      return try await runner.run()
    } catch {
      throw .temporary(text(error))
    }
  }

  /// What the verifier lacks. A name that no case has would skip nothing, and nobody would notice.
  private static func features(_ arguments: ParsedArguments, of suite: VectorSuite) throws(Failure) -> [String] {
    let names = arguments.values(.without)
    guard !names.isEmpty else { return [] }
    let known = Set(Corpus.features + suite.entries.flatMap(\.vector.features)).sorted()
    if let name = names.first(where: { !known.contains($0) }) {
      let nearest = Spelling.nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
      throw .usage("there is no feature \(name)\(nearest) (features are \(known.joined(separator: ", ")))")
    }
    return names
  }

  private static func text(_ interruption: VectorRunner.Interruption) -> String {
    guard interruption.judged > 0 else { return "\(interruption.reason): no case was judged" }
    return "\(interruption.reason) at case \(interruption.id), after \(interruption.judged) of \(interruption.total): "
      + "no report is made"
  }

  /// The run of a folder in a published set's layout; nil if it has none. Only our own verifier can be asked, since the
  /// harness protocol has no questions for such cases.
  private static func published(_ arguments: ParsedArguments) throws(Failure) -> RunReport? {
    guard !arguments.has(.against) else { return nil }
    let path = try arguments.required(.suite)
    do throws(SuiteError) {
      return try PublishedSuite.run(at: path, filter: arguments.value(.filter))
    } catch {
      throw .unreadable(error.description)
    }
  }

  private static func runner(_ suite: VectorSuite, _ arguments: ParsedArguments) throws(Failure) -> VectorRunner {
    guard let address = arguments.value(.against) else {
      return VectorRunner(suite, circuits: try CircuitFiles.library(arguments.value(.circuits)))
    }
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
  fileprivate static let measure = Option(flag: "measure", "measure processor time and memory of each case")
  fileprivate static let junit = Option("junit", "FILE", "write JUnit XML")
  fileprivate static let html = Option("html", "FILE", "write one HTML page for people")
  fileprivate static let jsonReport = Option("json", "FILE", "write JSON for programs")
}

/// A run as text for the terminal: the failures, the counts, and why cases were skipped.
struct RunText {
  let report: RunReport
  let width: Int
  let style: Style

  var text: String {
    let failures = report.failures.map { result in
      let lines =
        [result.problem.map { $0 + "." } ?? "", result.summary.description]
        + result.summary.flags.map { "\($0.name): \($0.bugClass.consequence)" }
      return style("FAILED \(result.summary.id)", .bold, .red) + "\n"
        + lines.map { "  " + Wrapping.wrap(Printable.line($0), indent: 2, width: width) }.joined(separator: "\n")
    }
    return (failures + [groups, skips, costs, summary]).filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private var groups: String {
    let longest = report.groups.map(\.name.count).max() ?? 0
    return report.groups.map { name, count in
      let failed = count.failed > 0 ? style("  \(count.failed) failed", .red) : ""
      let skipped = count.skipped > 0 ? "  \(count.skipped) skipped" : ""
      return name + String(repeating: " ", count: longest - name.count + 2) + padded(count.passed) + " passed" + failed
        + skipped
    }.joined(separator: "\n")
  }

  /// The cases that took most memory and most processor time; empty if the run did not measure.
  private var costs: String {
    guard let slowest = report.byProcessorTime.first, let time = slowest.measurement?.timeText else { return "" }
    let memory = report.byMemory.first.flatMap { result in
      result.measurement?.memoryText.map { "Most memory  \($0), by \(result.summary.id)\n" }
    }
    return (memory ?? "") + "Most processor time  \(time), by \(slowest.summary.id)"
  }

  /// Why cases were skipped, by group and with their number.
  private var skips: String {
    let reasons = report.results.compactMap { result in result.skipReason.map { "\(result.group): \($0)" } }
    return Dictionary(grouping: reasons) { $0 }.sorted { $0.key < $1.key }.map { reason, cases in
      "skipped" + padded(cases.count) + "  " + Wrapping.wrap(Printable.line(reason), indent: 13, width: width)
    }.joined(separator: "\n")
  }

  private var summary: String {
    let count = report.count
    let verdict =
      report.hasPassed
      ? style("PASSED", .bold, .green)
      : count.failed > 0 ? style("FAILED", .bold, .red) : style("NOTHING RUN", .bold, .yellow)
    return "\(verdict)  \(count.total) cases: \(count.passed) passed, \(count.failed) failed, "
      + "\(count.skipped) skipped, in \(report.durationText) s"
  }

  private func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, 4 - digits.count)) + digits
  }
}
