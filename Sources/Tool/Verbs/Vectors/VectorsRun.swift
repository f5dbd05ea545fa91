import Base
import Mdoc
import Vectors

/// `mdoc vectors run`: judges every case, and reports those that do not end with exactly the expected codes.
enum VectorsRun {
  static let command = Command(
    "run", "run the cases and report which do not end as they must",
    options: [
      .suite, .filter, .exec, .against, .profile, .without, .expectedFailures, .writeExpectedFailures, .answerSeconds,
      .memory, .circuits, .measure, .junit, .html, .jsonReport,
    ],
    notes: [
      "With --exec, the command is given to /bin/sh, and each case is written to its standard input as JSON on one line, "
        + "without what tells the verdict. It answers {\"verdict\": \"accepted\", \"rejected\" or \"unsupported\", "
        + "\"codes\": […]} on one line; codes may be left out. A crash, an answer that does not come in time and memory "
        + "beyond the bound fail the case, and the command is started again. What it claims to do, by its answer to "
        + "{\"describe\": {}} or by --profile, is asked and nothing else.",
      "With --against, each case is posted as JSON to the URL. A harness there that is gone or silent for a minute ends "
        + "the run. mdoc vectors serve-harness is an example of both.",
      "--expected-failures names a file of ids, one a line, with a reason behind #. A case that is not on it and fails, "
        + "and one that is on it and passes, fail the run. In place of ids it may have sha256: and the SHA-256 of the sorted "
        + "ids, a line each: then all that fails must be exactly that.",
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
        "Another verifier, as a program",
        "mdoc vectors run --exec \"python3 verify.py\" --expected-failures failures.txt"),
      .init(
        "Another verifier, which does not speak Apple's in-app protocol",
        "mdoc vectors run --against http://127.0.0.1:9000/ --without apple-in-app"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    try refuseContradictions(arguments)
    let (whole, expected) = try await report(arguments)
    if whole.results.isEmpty {
      throw .usage("no case has an id that contains \"\(arguments.value(.filter) ?? "")\"")
    }
    if let path = arguments.value(.writeExpectedFailures) {
      try FileAccess.write(ExpectedFailures(of: whole).fileContent, to: path)
    }
    let report = expected.map(whole.holding) ?? whole
    if let path = arguments.value(.junit) { try FileAccess.write(JUnitReport.xml(report), to: path) }
    if let path = arguments.value(.html) { try FileAccess.write(HTMLReport(report).bytes, to: path) }
    if let path = arguments.value(.jsonReport) {
      try FileAccess.write(JSONReport.json(report).serialized(pretty: true) + [UInt8(ascii: "\n")], to: path)
    }
    console.print(RunText(report: report, width: console.width, style: Style(isColored: console.isColored)).text)
    if let expected, !expected.fits(whole) {
      console.print(
        "\nOther cases fail than those of the digest: \(whole.failures.count) in all. Add --write-expected-failures FILE to "
          + "list them.")
      return .rejected
    }
    return report.hasPassed ? .done : .rejected
  }

  private static func refuseContradictions(_ arguments: ParsedArguments) throws(Failure) {
    if arguments.has(.exec), arguments.has(.against) { throw .usage("--exec and --against name two verifiers") }
    guard arguments.has(.exec) || arguments.has(.against) else { return }
    if arguments.has(.circuits) { throw .usage("--circuits is for this verifier: another has its own") }
    if arguments.has(.measure) {
      throw .usage("--measure is for this verifier: another's memory and time cannot be seen from here")
    }
  }

  private static func report(
    _ arguments: ParsedArguments
  ) async throws(Failure) -> (report: RunReport, expected: ExpectedFailures?) {
    if let published = try published(arguments) {
      for option in [Option.measure, .without, .profile, .expectedFailures, .writeExpectedFailures]
      where arguments.has(option) {
        throw .usage("--\(option.name) is for suites in this project's layout")
      }
      return (published, nil)
    }
    let suite = try VectorsCommand.suite(arguments)
    let expected = try expectedFailures(arguments, of: suite)
    var runner = try await runner(suite, arguments)
    runner.filter = arguments.value(.filter)
    runner.missingFeatures.formUnion(try features(arguments, of: suite))
    if arguments.has(.profile) { runner.profiles = arguments.values(.profile).compactMap(VectorProfile.init) }
    runner.measures = arguments.has(.measure)
    do throws(VectorRunner.Interruption) {
      return (try await runner.run(), expected)
    } catch {
      throw .temporary(text(error))
    }
  }

  private static func expectedFailures(
    _ arguments: ParsedArguments, of suite: VectorSuite
  ) throws(Failure) -> ExpectedFailures? {
    guard let path = arguments.value(.expectedFailures) else { return nil }
    let text = String(decoding: try FileAccess.readPrefix(path, purpose: "the expected failures"), as: UTF8.self)
    let expected: ExpectedFailures
    do throws(SuiteError) {
      expected = try ExpectedFailures(parsing: text, path: path)
    } catch {
      throw .unreadable(error.description)
    }
    if let id = expected.unknown(in: suite).first { throw .unreadable("\(path): there is no case \(id)") }
    return expected
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
    guard !arguments.has(.against), !arguments.has(.exec) else { return nil }
    let path = try arguments.required(.suite)
    guard !SuiteFolder(path).isFile else { return nil }
    do throws(SuiteError) {
      return try PublishedSuite.run(at: path, filter: arguments.value(.filter))
    } catch {
      throw .unreadable(error.description)
    }
  }

  private static func runner(
    _ suite: VectorSuite, _ arguments: ParsedArguments
  ) async throws(Failure) -> VectorRunner {
    if let command = arguments.value(.exec) {
      return try await HarnessCommand(command, arguments).runner(of: suite)
    }
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
  fileprivate static let exec = Option("exec", "COMMAND", "ask the verifier that this command starts in place of ours")
  fileprivate static let expectedFailures = Option(
    "expected-failures", "FILE", "cases that fail, and do not fail the run")
  fileprivate static let writeExpectedFailures = Option(
    "write-expected-failures", "FILE", "write what fails as such a file")
  fileprivate static let against = Option("against", "URL", "ask the verifier behind this harness in place of ours")
  fileprivate static let without = Option(
    "without", "FEATURE", "skip cases that need this feature", occurrence: .repeatable)
  fileprivate static let measure = Option(flag: "measure", "measure processor time and memory of each case")
  fileprivate static let junit = Option("junit", "FILE", "write JUnit XML")
}

/// A run as text for the terminal: the failures, the counts, and why cases were skipped.
struct RunText {
  let report: RunReport
  let width: Int
  let style: Style

  var text: String {
    let failures = report.failures.map { result in
      let lines =
        [
          result.problem.map { $0 + "." } ?? "",
          "\(result.summary.description) (\(result.summary.importance.rawValue))",
        ]
        + result.consequences
      return style("FAILED \(result.summary.id)", .bold, .red) + "\n"
        + lines.map { "  " + Wrapping.wrap(Printable.line($0), indent: 2, width: width) }.joined(separator: "\n")
    }
    return (failures + [groups, skips, costs, summary]).filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private var groups: String {
    let longest = report.groups.map(\.name.count).max() ?? 0
    return report.groups.map { name, count in
      let failed = count.failed > 0 ? style("  \(count.failed) failed", .red) : ""
      let known = count.known > 0 ? "  \(count.known) failed as expected" : ""
      let skipped = count.skipped > 0 ? "  \(count.skipped) skipped" : ""
      return name + String(repeating: " ", count: longest - name.count + 2) + padded(count.passed) + " passed" + failed
        + known + skipped
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
    let known = count.known > 0 ? "\(count.known) failed as expected, " : ""
    return "\(verdict)  \(count.total) cases: \(count.passed) passed, \(count.failed) failed, \(known)"
      + "\(count.skipped) skipped, in \(report.durationText) s"
  }

  private func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, 4 - digits.count)) + digits
  }
}
