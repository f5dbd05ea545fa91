import Base

/// Every check of a report for people: outcome, code and clause in columns, the detail below.
struct ReportText {
  let json: JSON
  let width: Int
  let style: Style

  var text: String {
    let documents = json["documents"]?.array ?? []
    var blocks = [block("Checks of the answer", json["checks"])]
    for (index, document) in documents.enumerated() {
      blocks.append(
        block(documents.count == 1 ? "Checks of the document" : "Checks of document \(index + 1)", document["checks"]))
    }
    blocks.append(summary)
    return blocks.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private var checks: [JSON] {
    (json["checks"]?.array ?? []) + (json["documents"]?.array ?? []).flatMap { $0["checks"]?.array ?? [] }
  }

  private var summary: String {
    let counts = [("passed", "passed"), ("failed", "failed"), ("warning", "warned"), ("not_run", "not run")].map {
      outcome, label in "\(checks.count { $0["outcome"]?.string == outcome }) \(label)"
    }
    return counts.joined(separator: ", ")
      + "\nA code names the fault that was looked for: passed means that it is not there."
      + (json["trust_snapshot"]?.string.map { "\nTrust snapshot \(Printable.line($0))" } ?? "")
  }

  private func block(_ title: String, _ checks: JSON?) -> String {
    guard let checks = checks?.array, !checks.isEmpty else { return "" }
    return ([style(title, .bold)] + checks.map(line)).joined(separator: "\n")
  }

  private func line(_ check: JSON) -> String {
    let outcome = check["outcome"]?.string ?? ""
    let code = Wrapping.padded(check["code"]?.string ?? "", to: codeWidth)
    let start = 2 + Self.outcomeWidth + 2 + codeWidth + 2
    let clause = Wrapping.wrap(check["clause"]?.string ?? "", indent: start, width: width)
    var text = "  " + label(outcome) + "  " + (outcome == "not_run" ? style(code, .faint) : code) + "  "
    text += style(clause, .faint)
    if let detail = check["detail"]?.string {
      let indent = 2 + Self.outcomeWidth + 4
      text += "\n" + Wrapping.spaces(indent) + Wrapping.wrap(Printable.line(detail), indent: indent, width: width)
    }
    return text
  }

  private static let outcomeWidth = 7

  /// As wide as the widest code of this report.
  private var codeWidth: Int { checks.compactMap { $0["code"]?.string?.count }.max() ?? 0 }

  private func label(_ outcome: String) -> String {
    switch outcome {
    case "passed": style(Wrapping.padded("passed", to: Self.outcomeWidth), .green)
    case "failed": style(Wrapping.padded("FAILED", to: Self.outcomeWidth), .bold, .red)
    case "warning": style(Wrapping.padded("warning", to: Self.outcomeWidth), .yellow)
    case "not_run": style(Wrapping.padded("not run", to: Self.outcomeWidth), .faint)
    default: Wrapping.padded(Printable.line(outcome), to: Self.outcomeWidth)
    }
  }
}
