/// A run as JUnit XML, one suite a group, for continuous integration.
package enum JUnitReport {
  package static func xml(_ report: RunReport) -> [UInt8] {
    var lines = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<testsuites name=\"mdoc vectors\" \(attributes(report.count)) time=\"\(report.durationText)\">",
    ]
    for group in report.groups {
      let results = report.results.filter { $0.group == group.name }
      let time = RunReport.text(seconds: results.reduce(0) { $0 + $1.duration })
      lines.append(
        "  <testsuite name=\"\(escaped(group.name))\" \(attributes(group.count)) errors=\"0\" time=\"\(time)\">")
      lines += results.flatMap { testCase($0) }
      lines.append("  </testsuite>")
    }
    lines.append("</testsuites>")
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  private static func attributes(_ count: RunReport.Count) -> String {
    "tests=\"\(count.total)\" failures=\"\(count.failed)\" skipped=\"\(count.skipped)\""
  }

  private static func testCase(_ result: VectorResult) -> [String] {
    let time = RunReport.text(seconds: result.duration)
    let start =
      "    <testcase classname=\"vectors.\(escaped(result.group))\" name=\"\(escaped(result.summary.id))\" time=\"\(time)\""
    switch result.outcome {
    case .passed: return [start + "/>"]
    case .skipped(let reason):
      return [start + ">", "      <skipped message=\"\(escaped(reason))\"/>", "    </testcase>"]
    case .failed(let problem):
      let classes = result.bugClasses.map { "\($0.rawValue): \($0.consequence)" }.joined(separator: "\n")
      let text = """
        \(result.summary.description)
        Expected: \(result.summary.expectation.text). Came: \(result.observed).
        \(result.summary.reference)
        \(classes)
        """
      return [
        start + ">", "      <failure message=\"\(escaped(problem))\">\(escaped(text))</failure>", "    </testcase>",
      ]
    }
  }
}
