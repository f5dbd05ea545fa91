import VectorKit

/// A run for the terminal: what failed, then the counts.
struct RunText {
  let report: RunReport
  let width: Int
  let style: Style

  init(_ report: RunReport, width: Int, style: Style) {
    self.report = report
    self.width = width
    self.style = style
  }

  var text: String {
    let failures = report.failures.map { result in
      let lines =
        [result.problem.map { $0 + "." } ?? "", result.vector.description]
        + result.vector.flags.map { "\($0.name): \($0.bugClass.consequence)" }
      return style("FAILED \(result.vector.id)", .bold, .red) + "\n"
        + lines.map { "  " + Wrapping.wrap(Printable.line($0), indent: 2, width: width) }.joined(separator: "\n")
    }
    return (failures + [groups, summary]).joined(separator: "\n\n")
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

  private var summary: String {
    let count = report.count
    let verdict = report.hasPassed ? style("PASSED", .bold, .green) : style("FAILED", .bold, .red)
    return "\(verdict)  \(count.total) cases: \(count.passed) passed, \(count.failed) failed, "
      + "\(count.skipped) skipped, in \(report.durationText) s"
  }

  private func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, 4 - digits.count)) + digits
  }
}
