import Base
import Mdoc
import Vectors

enum VectorsRun {
  static let command = Command(
    "run", "run the cases and report those with a wrong verdict",
    options: [
      .suite, .filter, .exec, .against, .profile, .without, .leaves, .expectedFailures, .writeExpectedFailures,
      .answerSeconds, .memory, .circuits, .measure, .junit, .html, .jsonReport, .verifierFile, .runProtocol, .parallel,
      .resume, .mayTest, .seed, .lists, .person, .issuerKey, .issuerChain,
    ],
    notes: [
      "With --exec, the command is given to /bin/sh, and each case is written to its standard input as JSON on one "
        + "line, without the expected verdict. It replies {\"verdict\": \"accepted\", \"rejected\" or \"unsupported\", "
        + "\"codes\": […]} on one line; codes may be left out. A crash, a late reply or too much memory fails the "
        + "case, and the command is started again. The run skips cases that the command does not claim to support: it "
        + "claims them in its reply to {\"describe\": {}}, or you do with --profile. It also skips cases about rules "
        + "that the verifier leaves to its caller: the reply has them as leaves, or you list them with --leaves. Cases "
        + "of acceptance are asked, and skipped if the verifier accepts a wrong response.",
      "With --against, each case is posted as JSON to the URL. The run ends if the harness is gone, or silent for a "
        + "minute. mdoc vectors serve-harness is an example of both ways.",
      "--expected-failures is a file of ids, one per line; a reason may follow after #. The run fails if an unlisted "
        + "case fails or a listed case passes. Instead of ids the file may hold sha256: and the SHA-256 of the sorted "
        + "ids, one per line; the failed cases must then have exactly this digest.",
      "With --measure, each case is judged twice; the reports show the processor time and the peak of resident memory "
        + "of the second time. A case that takes more than "
        + "\(Limits.verificationMemoryBytes >> 20) MiB or \(Limits.verificationSeconds) s fails.",
      "Cases with zero-knowledge proofs need --circuits. A case is skipped if its circuit is missing.",
      "With --verifier, FILE says how a running verifier begins a session and where its verdict is. The mock wallet "
        + "plays every variant that a protocol can carry, one session each, with right responses in between. The ids "
        + "are PROTOCOL/VARIANT. The verifier must trust the certificates of mdoc mock anchors, or those of "
        + "--issuer-chain. Codes are compared only if FILE says where they are. --answer-seconds bounds each exchange. "
        + "Only this machine and the hosts of --i-may-test are visited.",
      "Exit status: 0 all run cases pass, 1 a case fails or no case was run, 64 usage, 65 the suite cannot be read, "
        + "75 the harness is gone.",
    ],
    examples: [
      .init("Run this verifier", "mdoc vectors run --html report.html --junit report.xml"),
      .init("Run one family of cases", "mdoc vectors run --filter device-mac"),
      .init("Measure each case", "mdoc vectors run --measure --json report.json"),
      .init(
        "Run another verifier as a program",
        "mdoc vectors run --exec \"python3 verify.py\" --expected-failures failures.txt"),
      .init(
        "Test a running verifier, and resume after an interruption",
        "mdoc vectors run --verifier verifier.json \\\n  --resume journal.jsonl --html report.html"),
      .init(
        "Run a verifier without Apple's in-app protocol",
        "mdoc vectors run --against http://127.0.0.1:9000/ --without apple-in-app"),
    ], action: run)

  private static func run(_ arguments: Arguments) async throws(Failure) -> ExitStatus {
    try refuseContradictions(arguments)
    let (whole, expected) = try await report(arguments)
    if whole.results.isEmpty { throw .usage("no case has an id that contains \"\(arguments.value(.filter) ?? "")\"") }
    if let path = arguments.value(.writeExpectedFailures) {
      try FileAccess.write(ExpectedFailures(of: whole).fileContent, to: path)
    }
    let report = expected.map(whole.holding) ?? whole
    if let path = arguments.value(.junit) { try FileAccess.write(JUnitReport.xml(report), to: path) }
    if let path = arguments.value(.html) { try FileAccess.write(HTMLReport(report).bytes, to: path) }
    if let path = arguments.value(.jsonReport) {
      try FileAccess.write(JSONReport.json(report).fileContent, to: path)
    }
    arguments.console.print(RunText(run: report).report)
    if let expected, !expected.fits(whole) {
      arguments.console.print(
        "\nThe \(whole.failures.count) failed cases do not match the digest. Add --write-expected-failures FILE to "
          + "list them.")
      return .rejected
    }
    return report.hasPassed ? .done : .rejected
  }

  private static func refuseContradictions(_ arguments: Arguments) throws(Failure) {
    if arguments.has(.exec), arguments.has(.against) { throw .usage("use either --exec or --against, not both") }
    let others: [Option] =
      arguments.has(.verifierFile)
      ? [.exec, .against, .suite, .profile, .without, .memory, .measure]
      : [.runProtocol, .parallel, .resume, .mayTest, .seed, .lists, .person, .issuerKey, .issuerChain]
    if let other = others.first(where: arguments.has) {
      throw .usage("--\(other.name) is only for runs \(arguments.has(.verifierFile) ? "without" : "with") --verifier")
    }
    guard arguments.has(.exec) || arguments.has(.against) else { return }
    if arguments.has(.circuits) { throw .usage("--circuits is only for this verifier; another verifier has its own") }
    if arguments.has(.measure) {
      throw .usage("--measure is only for this verifier: another verifier's memory and time cannot be measured")
    }
  }

  private static func report(
    _ arguments: Arguments
  ) async throws(Failure) -> (report: RunReport, expected: ExpectedFailures?) {
    if arguments.has(.verifierFile) {
      let expected = try expectedFailures(arguments)
      return (try await RunningVerifier.report(arguments), expected)
    }
    let suite = try VectorsCommand.suite(arguments)
    let expected = try expectedFailures(arguments, of: suite)
    var runner = try await runner(suite, arguments)
    runner.filter = arguments.value(.filter)
    runner.missingFeatures.formUnion(try features(arguments, of: suite))
    if arguments.has(.profile) { runner.profiles = arguments.profiles }
    if arguments.has(.leaves) { runner.leaves = arguments.values(.leaves).compactMap(CallerRule.init) }
    runner.measures = arguments.has(.measure)
    runner.progress = arguments.console.progress
    do throws(InterruptedRunError) {
      return (try await runner.run(), expected)
    } catch {
      arguments.console.erase()
      throw .temporary(text(error))
    }
  }

  private static func expectedFailures(
    _ arguments: Arguments, of suite: VectorSuite? = nil
  ) throws(Failure) -> ExpectedFailures? {
    guard let path = arguments.value(.expectedFailures) else { return nil }
    let text = String(decoding: try FileAccess.readPrefix(path, purpose: "the expected failures"), as: UTF8.self)
    let expected = try readable { try ExpectedFailures(parsing: text, path: path) }
    if let suite, let id = expected.unknown(in: suite).first { throw .unreadable("\(path): unknown case \(id)") }
    return expected
  }

  /// The verifier's missing features. An unknown name is an error, not silently ignored.
  private static func features(_ arguments: Arguments, of suite: VectorSuite) throws(Failure) -> [String] {
    let names = arguments.values(.without)
    guard !names.isEmpty else { return [] }
    let known = Set(VectorFeature.known + suite.entries.flatMap(\.vector.features)).sorted()
    if let name = names.first(where: { !known.contains($0) }) {
      throw .unknown("feature", name, among: known, or: " (features are \(known.joined(separator: ", ")))")
    }
    return names
  }

  private static func text(_ interruption: InterruptedRunError) -> String {
    guard interruption.judged > 0 else { return "\(interruption.reason): no case was judged" }
    return "\(interruption.reason) at case \(interruption.id), after \(interruption.judged) of \(interruption.total): "
      + "no report was written"
  }

  private static func runner(_ suite: VectorSuite, _ arguments: Arguments) async throws(Failure) -> VectorRunner {
    if let command = arguments.value(.exec) {
      return try await VectorsCommand.runner(of: suite, startedBy: command, arguments)
    }
    guard let address = arguments.value(.against) else {
      return VectorRunner(suite, circuits: try arguments.circuitLibrary())
    }
    guard let client = HarnessClient(address) else {
      throw .usage("--against must be a URL like http://127.0.0.1:9000/, not \"\(address)\"")
    }
    return VectorRunner(suite, subject: address) { vector throws(VerdictError) in
      try await client.judge(vector, anchors: suite.anchors)
    }
  }
}

extension Option {
  fileprivate static let exec = Option("exec", "COMMAND", "run the verifier of this command instead of ours")
  fileprivate static let expectedFailures = Option(
    "expected-failures", "FILE", "cases that may fail without failing the run")
  fileprivate static let writeExpectedFailures = Option(
    "write-expected-failures", "FILE", "write the failed cases as such a file")
  fileprivate static let against = Option("against", "URL", "run the verifier behind this harness instead of ours")
  fileprivate static let without = Option(
    "without", "FEATURE", "skip cases that need this feature", occurrence: .repeatable)
  fileprivate static let measure = Option(flag: "measure", "measure processor time and memory of each case")
  fileprivate static let junit = Option("junit", "FILE", "write JUnit XML")
}

/// A run as text: the failures, the counts, and the reasons for skipped cases.
struct RunText {
  let run: RunReport

  var report: [Report] {
    let failures = run.failures.map { result -> Report in
      let summary = result.summary
      let lines =
        (result.problem.map { [$0 + "."] } ?? []) + ["\(summary.description) (\(summary.importance.rawValue))"]
        + result.consequences
      return .section([.line(.bad("FAILED \(summary.id)"))] + lines.map { .paragraph("\($0)") })
    }
    return failures + [.section(groups), .section(skips), .section(costs), .section([summary])]
  }

  private var groups: [Report] {
    let longest = run.groups.map(\.name.count).max() ?? 0
    return run.groups.map { name, count in
      let known = count.known > 0 ? "  \(count.known) failed as expected" : ""
      let skipped = count.skipped > 0 ? "  \(count.skipped) skipped" : ""
      return .line(
        "\(Wrapping.padded(name, to: longest + 2))\(padded(count.passed)) passed",
        Span(count.failed > 0 ? "  \(count.failed) failed" : "", .red), "\(known)\(skipped)")
    }
  }

  /// The cases that took the most memory and the most processor time; empty if the run did not measure.
  private var costs: [Report] {
    guard let slowest = run.byProcessorTime.first, let time = slowest.measurement?.timeText else { return [] }
    let memory = run.byMemory.first.flatMap { result in
      result.measurement?.memoryText.map { Report.line("Most memory  \($0), by \(result.summary.id)") }
    }
    return [memory, .line("Most processor time  \(time), by \(slowest.summary.id)")].compactMap { $0 }
  }

  /// The reasons for skipped cases, by group, each with the number of cases.
  private var skips: [Report] {
    let reasons = run.results.compactMap { result in result.skipReason.map { "\(result.group): \($0)" } }
    return Dictionary(grouping: reasons) { $0 }.sorted { $0.key < $1.key }.map { reason, cases in
      .paragraph("\(reason)", lead: "skipped\(padded(cases.count))  ")
    }
  }

  private var summary: Report {
    let count = run.count
    let verdict: Span = run.hasPassed ? .good("PASSED") : count.failed > 0 ? .bad("FAILED") : .caution("NOTHING RUN")
    let known = count.known > 0 ? "\(count.known) failed as expected, " : ""
    let counts = "\(count.passed) passed, \(count.failed) failed, \(known)\(count.skipped) skipped"
    return .line(verdict, "  \(count.total) cases: \(counts), in \(run.durationText) s")
  }

  /// Four columns wide.
  private func padded(_ number: Int) -> String { Wrapping.spaces(4 - String(number).count) + String(number) }
}

enum VectorsMatrix {
  static let command = Command(
    "matrix", "run several verifiers, and show the wrong responses that each accepts",
    options: [
      .suite, .filter, .profile, .verifier, .withoutOurs, .circuits, .answerSeconds, .memory, .html, .markdown,
      .counts, .jsonReport,
    ],
    notes: [
      "Each command is a harness, as for mdoc vectors run --exec. It runs the cases that it claims to support, with "
        + "--profile only those of the named profiles. This verifier comes first.",
      "Exit status: 0 every verifier was run, whatever its verdicts, 64 usage, 65 the suite cannot be read, 75 a "
        + "harness did not start or is gone.",
    ],
    examples: [
      .init(
        "Compare two verifiers with this one",
        "mdoc vectors matrix --verifier \"TestVectors/harnesses/run isomdoc\" \\\n"
          + "  --verifier \"TestVectors/harnesses/run pymdoccbor\" --html matrix.html")
    ], work: run)

  private static func run(_ arguments: Arguments) async throws(Failure) {
    let suite = try VectorsCommand.suite(arguments)
    var runs: [RunReport] = []
    if !arguments.has(.withoutOurs) {
      let circuits = try arguments.circuitLibrary()
      var runner = VectorRunner(suite, circuits: circuits)
      runner.description = HarnessHandler(circuits: circuits).description
      runs.append(try await report(runner, arguments))
    }
    for command in arguments.values(.verifier) {
      runs.append(
        try await report(try await VectorsCommand.runner(of: suite, startedBy: command, arguments), arguments))
    }
    let matrix = VerifierMatrix(runs)
    let text = MatrixText(matrix)
    if let path = arguments.value(.html) { try FileAccess.write(text.html, to: path) }
    if let path = arguments.value(.markdown) { try FileAccess.write(text.markdown(), to: path) }
    if let path = arguments.value(.counts) { try FileAccess.write(text.markdown(showsCases: false), to: path) }
    if let path = arguments.value(.jsonReport) {
      try FileAccess.write(matrix.json.fileContent, to: path)
    }
    arguments.console.print(runs.map { .line("\(summary($0))") })
  }

  private static func report(_ runner: VectorRunner, _ arguments: Arguments) async throws(Failure) -> RunReport {
    var runner = runner
    runner.filter = arguments.value(.filter)
    if arguments.has(.profile) {
      let claimed = runner.profiles
      runner.profiles = arguments.profiles.filter { claimed?.contains($0) ?? true }
    }
    do throws(InterruptedRunError) {
      return try await runner.run()
    } catch {
      throw .temporary("\(runner.subject): \(error.reason) at case \(error.id)")
    }
  }

  private static func summary(_ run: RunReport) -> String {
    let judged = run.judged
    return "\(run.title): \(judged.count) cases judged, \(judged.count(where: \.isLetThrough)) wrongly accepted, "
      + "\(judged.count(where: \.isRefusedThoughRight)) wrongly refused, "
      + "\(judged.count { $0.judgement == nil }) without a verdict, \(run.count.skipped) skipped"
  }
}

extension Option {
  static let html = Option("html", "FILE", "write an HTML page")
  static let jsonReport = Option("json", "FILE", "write the report as JSON")
  fileprivate static let verifier = Option(
    "verifier", "COMMAND", "a command that starts a verifier's harness", occurrence: .requiredRepeatable)
  fileprivate static let withoutOurs = Option(flag: "without-ours", "leave this verifier out")
  fileprivate static let markdown = Option("markdown", "FILE", "write Markdown")
  fileprivate static let counts = Option("counts", "FILE", "write Markdown with counts but no names of cases")
}
