import Base

/// A run as one self-contained page for an auditor. It lists the failures and what each lets an attacker do, the
/// counts, and then every case under the clause that it enforces.
package struct HTMLReport {
  private let report: RunReport

  package init(_ report: RunReport) { self.report = report }

  package var bytes: [UInt8] {
    let count = report.count
    let verdict =
      report.hasPassed
      ? "All cases pass"
      : count.failed > 0 ? "\(count.failed) of \(count.total) cases fail" : "No case was run"
    let page = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>mdoc vectors: \(escaped(verdict))</title>
      <style>\(HTMLStyle.text)</style>
      </head>
      <body>
      <h1>ISO/IEC 18013-5 verifier, held to test vectors</h1>
      <p class="\(report.hasPassed ? "good" : "bad") verdict">\(escaped(verdict))</p>
      <dl>
      <dt>Verifier</dt><dd>\(escaped(report.subject))</dd>
      <dt>Cases</dt><dd>\(count.total): \(count.passed) passed, \(count.failed) failed, \(count.skipped) skipped</dd>
      <dt>Time</dt><dd>\(report.durationText) s</dd>
      </dl>
      \(failures)
      <h2>By group</h2>
      \(groups)
      \(costs)
      <h2>By clause</h2>
      \(clauses)
      </body>
      </html>

      """
    return Array(page.utf8)
  }

  private var failures: String {
    guard !report.failures.isEmpty else { return "" }
    let items = report.failures.map { result in
      """
      <li><a href="#\(escaped(result.summary.id))">\(escaped(result.summary.id))</a>: \(escaped(result.problem ?? "")).
      \(escaped(result.summary.description))
      <ul>\(result.bugClasses.map { "<li>\(escaped($0.consequence))</li>" }.joined())</ul></li>
      """
    }
    return "<h2>What fails, and what that lets an attacker do</h2>\n<ul>\(items.joined(separator: "\n"))</ul>"
  }

  private var groups: String {
    let rows = report.groups.map { name, count in
      "<tr><td>\(escaped(name))</td><td class=\"n\">\(count.total)</td><td class=\"n\">\(count.passed)</td>"
        + "<td class=\"n\(count.failed > 0 ? " bad" : "")\">\(count.failed)</td><td class=\"n\">\(count.skipped)</td></tr>"
    }
    return table(["Group", "Cases", "Passed", "Failed", "Skipped"], rows)
  }

  /// The cases that took most memory or processor time; empty if the run did not measure.
  private var costs: String {
    guard !report.byProcessorTime.isEmpty else { return "" }
    let most = report.byMemory.prefix(8) + report.byProcessorTime.prefix(8)
    var seen: Set<String> = []
    let rows = most.filter { seen.insert($0.summary.id).inserted }.map { result in
      "<tr><td><a href=\"#\(escaped(result.summary.id))\">\(escaped(result.summary.id))</a></td>"
        + "<td class=\"n\">\(result.measurement?.inputBytes ?? 0)</td>"
        + "<td class=\"n\">\(result.measurement?.memoryText ?? "not known")</td>"
        + "<td class=\"n\">\(result.measurement?.timeText ?? "")</td></tr>"
    }
    return """
      <h2>What costs most</h2>
      <p>Allowed for one answer: \(Limits.verificationMemoryBytes >> 20) MiB of memory beside the answer itself, and \
      \(Limits.verificationSeconds) s of processor time.</p>
      \(table(["Case", "Bytes", "Memory at its peak", "Processor time"], rows))
      """
  }

  private var clauses: String {
    Dictionary(grouping: report.results, by: \.summary.reference).sorted { $0.key < $1.key }.map { clause, results in
      let count = report.count(of: results)
      let note = count.failed > 0 ? "\(count.failed) of \(count.total) fail" : "\(count.total)"
      let isOpen = count.failed > 0 ? " open" : ""
      let rows = table(["Case", "What is wrong", "Expected", "Outcome"], results.map(row))
      return "<details\(isOpen)><summary>\(escaped(clause)) <small>\(note)</small></summary>\n\(rows)\n</details>"
    }.joined(separator: "\n")
  }

  private func row(_ result: VectorResult) -> String {
    let summary = result.summary
    let codes = summary.expectation.codes
    let expected =
      codes.isEmpty
      ? summary.expectation.text : codes.map { "<code>\(escaped($0))</code>" }.joined(separator: "<br>")
    let cases = summary.cases.isEmpty ? "" : " <small>\(escaped(summary.cases.joined(separator: " ")))</small>"
    return """
      <tr id="\(escaped(summary.id))"><td>\(escaped(summary.id))\(cases)</td><td>\(escaped(summary.description))</td>\
      <td>\(expected)</td>\(outcome(result))</tr>
      """
  }

  private func outcome(_ result: VectorResult) -> String {
    switch result.outcome {
    case .passed: "<td class=\"good\">passed</td>"
    case .skipped(let reason): "<td>skipped: \(escaped(reason))</td>"
    case .failed(let problem):
      "<td class=\"bad\">failed: \(escaped(problem)). "
        + result.bugClasses.map { escaped($0.consequence) }.joined(separator: " ") + "</td>"
    }
  }

  private func table(_ heads: [String], _ rows: [String]) -> String {
    let head = heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
    return "<table><thead><tr>\(head)</tr></thead><tbody>\n\(rows.joined(separator: "\n"))\n</tbody></table>"
  }
}

/// The page's own style: the page fetches nothing.
private enum HTMLStyle {
  static let text = """
    :root{color-scheme:light dark}
    body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}
    .verdict{font-size:1.4rem;font-weight:600}
    .good{color:light-dark(#116329,#7ee787)}.bad{color:light-dark(#a40e26,#ff7b72)}
    dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{font-weight:600}dd{margin:0}
    table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}
    th,td{border-bottom:1px solid color-mix(in srgb,currentColor 25%,transparent);padding:.35rem .6rem;text-align:left;vertical-align:top}
    td{overflow-wrap:anywhere}.n{text-align:right;font-variant-numeric:tabular-nums}
    code{font-size:.9em}small{opacity:.75}summary{cursor:pointer;font-weight:600;padding:.3rem 0}
    @media print{details::details-content{content-visibility:visible;height:auto}}
    """
}

/// The text with the characters escaped that XML and HTML reserve, for content and for quoted attributes.
///
/// Characters that XML 1.0 does not allow are replaced, so that another verifier's answer cannot break the report.
func escaped(_ text: String) -> String {
  var output = ""
  for character in text.unicodeScalars {
    switch character {
    case "&": output += "&amp;"
    case "<": output += "&lt;"
    case ">": output += "&gt;"
    case "\"": output += "&quot;"
    case "'": output += "&#39;"
    case "\t", "\n", "\r", "\u{20}"..."\u{7e}", "\u{a0}"..."\u{d7ff}", "\u{e000}"..."\u{fffd}",
      "\u{10000}"..."\u{10ffff}":
      output.unicodeScalars.append(character)
    default: output += "\u{fffd}"
    }
  }
  return output
}
