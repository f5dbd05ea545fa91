import Base

/// A run as JSON.
package enum JSONReport {
  package static func json(_ report: RunReport) -> JSON {
    [
      "verifier": .string(report.subject), "program": .string(RunReport.program),
      "date": .string(report.date.description), "suite": .string(report.suite),
      "description": report.description?.json ?? .null,
      "suite_version": report.edition.map { .string($0) } ?? .null,
      "suite_sha256": report.digest.map { .string($0) } ?? .null,
      "filter": report.filter.map { .string($0) } ?? .null,
      "seconds": .double(Double(report.durationText) ?? 0), "count": count(report.count),
      "groups": .object(report.groups.map { .init($0.name, count($0.count)) }),
      "results": .array(report.results.map(result)),
    ]
  }

  private static func count(_ count: RunReport.Count) -> JSON {
    [
      "total": .integer(Int64(count.total)), "passed": .integer(Int64(count.passed)),
      "failed": .integer(Int64(count.failed)), "failed_as_expected": .integer(Int64(count.known)),
      "skipped": .integer(Int64(count.skipped)),
    ]
  }

  private static func result(_ result: VectorResult) -> JSON {
    .members([
      "id": .string(result.summary.id), "group": .string(result.group),
      "outcome": .string(result.knownProblem == nil ? result.outcome.name : "failed_as_expected"),
      "problem": (result.problem ?? result.knownProblem).map { .string($0) },
      "skipped_because": result.skipReason.map { .string($0) },
      "importance": .string(result.summary.importance.rawValue), "reference": .string(result.summary.reference),
      "bug_classes": .strings(result.bugClasses.map(\.rawValue)),
      "expected_verdict": .string(verdict(result.summary.expectation)),
      "expected": .strings(result.summary.expectation.codes),
      "observed": result.judgement?.codes.map { .strings($0) } ?? .null,
      "accepted": result.judgement.map { .bool($0.isAccepted) } ?? .null,
      "note": result.judgement?.note.map { .string($0) }, "ended": result.end.map { .string($0.text) },
      "measured": result.measurement.map(measured),
    ])
  }

  private static func measured(_ measurement: Measurement) -> JSON {
    .members([
      "input_bytes": .integer(Int64(measurement.inputBytes)),
      "processor_microseconds": .integer(Int64((measurement.processorSeconds * 1e6).rounded())),
      "peak_memory_bytes": measurement.peakMemory.map { .integer(Int64($0)) },
    ])
  }

  private static func verdict(_ expectation: CaseSummary.Expectation) -> String {
    switch expectation {
    case .accepted: "accepted"
    case .refused: "rejected"
    case .either: "either"
    }
  }
}

extension VectorResult {
  /// True for a wrong response that every verifier must refuse.
  var isSecurityCase: Bool { summary.importance == .must && !summary.expectation.isAccepted }

  package var isLetThrough: Bool { judgement?.isAccepted == true && !summary.expectation.isAccepted }

  package var isRefusedThoughRight: Bool { judgement?.isAccepted == false && summary.expectation.isAccepted }

  /// A sentence for each bug class. Only accepted wrong responses help an attacker.
  package var consequences: [String] {
    if isRefusedThoughRight { return [BugClass.interoperability.consequence] }
    guard isLetThrough else { return [] }
    return bugClasses.map { "\($0.rawValue): \($0.consequence)" }
  }

  /// The order of repair: `must` before `should`, then by the classes' order.
  var rank: Int {
    let worst = bugClasses.compactMap { BugClass.allCases.firstIndex(of: $0) }.min() ?? 0
    let severity = isLetThrough || judgement == nil ? worst : BugClass.allCases.count
    return (summary.importance == .must ? 0 : 100) + severity
  }

  var bugClasses: [BugClass] { summary.flags.map(\.bugClass).unique }
}

/// A run as JUnit XML for continuous integration, with one test suite for each group.
package enum JUnitReport {
  package static func xml(_ report: RunReport) -> [UInt8] {
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<testsuites name=\"mdoc vectors\" \(attributes(report.count)) time=\"\(report.durationText)\">",
    ]
    let properties = [
      ("verifier", report.subject), ("program", RunReport.program), ("suite", report.suiteName),
      ("suite_version", report.edition ?? ""), ("suite_sha256", report.digest ?? ""),
    ].filter { !$0.1.isEmpty }.map {
      "      <property name=\"\($0.0)\" value=\"\(escaped($0.1))\"/>"
    }
    for group in report.groups {
      let results = report.results.filter { $0.group == group.name }
      let time = RunReport.text(seconds: results.reduce(0) { $0 + $1.seconds })
      lines.append(
        "  <testsuite name=\"\(escaped(group.name))\" \(attributes(group.count)) errors=\"0\" time=\"\(time)\" "
          + "timestamp=\"\(report.date)\">")
      lines += ["    <properties>"] + properties + ["    </properties>"]
      lines += results.flatMap { testCase($0) }
      lines.append("  </testsuite>")
    }
    lines.append("</testsuites>")
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  private static func attributes(_ count: RunReport.Count) -> String {
    "tests=\"\(count.total)\" failures=\"\(count.failed)\" skipped=\"\(count.skipped + count.known)\""
  }

  private static func testCase(_ result: VectorResult) -> [String] {
    let time = RunReport.text(seconds: result.seconds)
    let start =
      "    <testcase classname=\"vectors.\(escaped(result.group))\" name=\"\(escaped(result.summary.id))\" time=\"\(time)\""
    let detail: String
    switch result.outcome {
    case .passed: return [start + "/>"]
    case .skipped(let reason): detail = "<skipped message=\"\(escaped(reason))\"/>"
    case .knownFailure(let problem): detail = "<skipped message=\"fails as expected: \(escaped(problem))\"/>"
    case .failed(let problem):
      let text = """
        \(result.summary.description) (\(result.summary.importance.rawValue))
        Expected: \(result.summary.expectation.text). Came: \(result.observed).
        \(result.summary.reference)
        \(result.consequences.joined(separator: "\n"))
        """
      detail = "<failure message=\"\(escaped(problem))\">\(escaped(text))</failure>"
    }
    return [start + ">", "      \(detail)", "    </testcase>"]
  }
}
