import Vectors

/// A run for the terminal: what failed, the counts, and why cases were skipped.
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

  /// Which cases took most, where they were measured.
  private var costs: String {
    guard let slowest = report.byProcessorTime.first, let time = slowest.measurement?.timeText else { return "" }
    let memory = report.byMemory.first.flatMap { result in
      result.measurement?.memoryText.map { "Most memory  \($0), by \(result.summary.id)\n" }
    }
    return (memory ?? "") + "Most processor time  \(time), by \(slowest.summary.id)"
  }

  /// Why cases were skipped, by group and with how many.
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
