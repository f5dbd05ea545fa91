import Base

/// A verdict as text for people. It is made from the JSON that programs get, because `mdoc verify` prints its own
/// verdict and `mdoc demo` a session's.
struct VerdictText {
  /// An object with `status`, `last_error`, `result` and `report`.
  let json: JSON
  let width: Int
  let style: Style

  var text: String {
    var sections = [headline]
    for document in json["result"]?["documents"]?.array ?? [] {
      sections.append(DocumentText(json: document, width: width, style: style).text)
    }
    if let report = json["report"], !report.isNull {
      sections.append(ReportText(json: report, width: width, style: style).text)
    }
    return sections.joined(separator: "\n\n")
  }

  /// The verdict in one line. A refusal is followed by every reason and what to do about it.
  var headline: String {
    let codes = json["last_error"]?["reasons"]?.array?.compactMap { $0["code"]?.string } ?? []
    guard let first = codes.first ?? json["last_error"]?["code"]?.string else {
      return verified
    }
    let isDeclined = Code(rawValue: first).map(Self.declining.contains) ?? false
    var lines = [style(isDeclined ? "DECLINED" : "REJECTED", .bold, .red) + time]
    for code in codes.isEmpty ? [first] : unique(codes) {
      let summary = Code(rawValue: code)?.entry.summary ?? ""
      lines.append("  " + style(code, .bold) + details(of: code, "failed"))
      lines.append("    " + Wrapping.wrap(summary + ".", indent: 4, width: width))
    }
    return (lines + remedies(of: codes.isEmpty ? [first] : unique(codes))).joined(separator: "\n")
  }

  private var verified: String {
    let code = Code.nothingDisclosed
    guard outcomes(of: code.rawValue).contains("warning") else { return style("VERIFIED", .bold, .green) + time }
    let summary = code.entry.summary + details(of: code.rawValue, "warning") + "."
    return style("VERIFIED, BUT NOTHING WAS DISCLOSED", .bold, .yellow) + time + "\n  "
      + Wrapping.wrap(summary, indent: 2, width: width) + "\n" + remedies(of: [code.rawValue]).joined(separator: "\n")
  }

  /// If the first reason is one of these codes, the answer is genuine but not what was requested.
  private static let declining: Set<Code> = [
    .elementMissing, .elementUnexpected, .documentMissing, .ageContradictory, .ageInconsistent, .ageBelowMinimum,
    .documentExpired, .nothingDisclosed,
  ]

  /// What to do about each code. Codes with the same remedy share a line, which names them if there are several
  /// remedies.
  private func remedies(of codes: [String]) -> [String] {
    let entries = codes.compactMap { code in Code(rawValue: code).map { (code: code, remedy: $0.entry.remedy) } }
    let remedies = unique(entries.map(\.remedy))
    return remedies.map { remedy in
      let about = entries.filter { $0.remedy == remedy }.map(\.code).joined(separator: ", ")
      let text = remedies.count == 1 ? remedy : "(\(about)) \(remedy)"
      return "  What to do: " + Wrapping.wrap(text, indent: 4, width: width - 12)
    }
  }

  /// The report's details of a check with this outcome, such as which elements or which certificate.
  private func details(of code: String, _ outcome: String) -> String {
    let details = checks(of: code).filter { $0["outcome"]?.string == outcome }.compactMap { $0["detail"]?.string }
    return details.isEmpty ? "" : ": " + Printable.line(details.joined(separator: "; "))
  }

  private func outcomes(of code: String) -> [String] { checks(of: code).compactMap { $0["outcome"]?.string } }

  private func checks(of code: String) -> [JSON] {
    let documents = json["report"]?["documents"]?.array ?? []
    return ([json["report"]].compactMap { $0 } + documents).flatMap { $0["checks"]?.array ?? [] }
      .filter { $0["code"]?.string == code }
  }

  private func unique(_ codes: [String]) -> [String] {
    codes.enumerated().filter { index, code in codes.firstIndex(of: code) == index }.map(\.element)
  }

  private var time: String {
    guard let seconds = json["report"]?["verified_at"]?.integer else { return "" }
    return " at \(Timestamp(secondsSince1970: seconds))"
  }
}

/// Every check of a report as text for people: the outcome in words, with code, clause and detail below.
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
      + (json["trust_snapshot"]?.string.map { "\nTrust snapshot \(Printable.line($0))" } ?? "")
  }

  private func block(_ title: String, _ checks: JSON?) -> String {
    guard let checks = checks?.array, !checks.isEmpty else { return "" }
    return ([style(title, .bold)] + checks.map(line)).joined(separator: "\n")
  }

  /// What was found, in words; below it the code, the clause and the detail. Of a check that was not run there is nothing
  /// to say but its code.
  private func line(_ check: JSON) -> String {
    let outcome = check["outcome"]?.string ?? ""
    let name = check["code"]?.string ?? ""
    let code = Code(rawValue: name)
    let indent = 2 + Self.outcomeWidth + 2
    let clause = check["clause"]?.string ?? ""
    let sentence = outcome == "passed" ? code?.passedSentence : outcome == "not_run" ? nil : code?.entry.summary
    var text = "  " + label(outcome) + "  "
    if let sentence { text += Wrapping.wrap(sentence, indent: indent, width: width) + "\n" + Wrapping.spaces(indent) }
    text += style(Wrapping.wrap("\(name) · \(clause)", indent: indent, width: width), .faint)
    if let detail = check["detail"]?.string {
      text += "\n" + Wrapping.spaces(indent) + Wrapping.wrap(Printable.line(detail), indent: indent, width: width)
    }
    return text
  }

  private static let outcomeWidth = 7

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
