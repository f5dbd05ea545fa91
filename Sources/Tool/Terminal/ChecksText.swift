import Base

/// Checks as text for people: outcome and code in columns, the detail below them, and what to do about each failed
/// check.
struct ChecksText: Sendable {
  let width: Int
  let style: Style

  func block(_ title: String, _ checks: [Check]) -> String {
    guard !checks.isEmpty else { return "" }
    let codeWidth = checks.map(\.code.rawValue.count).max() ?? 0
    var remedies: [String] = []
    for remedy in checks.filter({ $0.outcome == .failed }).map(\.code.entry.remedy) where !remedies.contains(remedy) {
      remedies.append(remedy)
    }
    return
      ([style(title, .bold)] + checks.map { line($0, codeWidth) }
      + remedies.map { "  What to do: " + Wrapping.wrap($0, indent: 4, width: width) }).joined(separator: "\n")
  }

  private func line(_ check: Check, _ codeWidth: Int) -> String {
    let code = Wrapping.padded(check.code.rawValue, to: codeWidth)
    let start = 2 + Self.outcomeWidth + 2 + codeWidth + 2
    let clause = style(Wrapping.wrap(check.clause, indent: start, width: width), .faint)
    let detail = check.detail.map {
      "\n" + Wrapping.spaces(13) + Wrapping.wrap(Printable.line($0), indent: 13, width: width)
    }
    return "  " + label(check.outcome) + "  " + code + "  " + clause + (detail ?? "")
  }

  private static let outcomeWidth = 7

  private func label(_ outcome: Check.Outcome) -> String {
    switch outcome {
    case .passed: style(Wrapping.padded("passed", to: Self.outcomeWidth), .green)
    case .failed: style(Wrapping.padded("FAILED", to: Self.outcomeWidth), .bold, .red)
    case .warning: style(Wrapping.padded("warning", to: Self.outcomeWidth), .yellow)
    case .notRun: style(Wrapping.padded("not run", to: Self.outcomeWidth), .faint)
    }
  }
}

extension Check {
  /// The check in the form of the HTTP API's reports.
  var json: JSON {
    [
      "code": .string(code.rawValue), "outcome": .string(outcome.rawValue), "clause": .string(clause),
      "detail": detail.map { .string($0) } ?? .null,
    ]
  }
}
