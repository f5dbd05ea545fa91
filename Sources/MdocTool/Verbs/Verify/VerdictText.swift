import Primitives

/// A verdict for people, made from the JSON that programs get: `mdoc verify` prints its own, `mdoc demo` a session's.
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

  /// The verdict; for a refusal every reason, with what can be done about the first.
  var headline: String {
    let codes = json["last_error"]?["reasons"]?.array?.compactMap { $0["code"]?.string } ?? []
    guard let first = codes.first ?? json["last_error"]?["code"]?.string else {
      return style("VERIFIED", .bold, .green) + time
    }
    var lines = [style(first.hasPrefix("policy.") ? "DECLINED" : "REJECTED", .bold, .red) + time]
    for code in codes.isEmpty ? [first] : unique(codes) {
      let summary = Code(rawValue: code)?.entry.summary ?? ""
      lines.append("  " + style(code, .bold) + details(of: code))
      lines.append("    " + Wrapping.wrap(summary + ".", indent: 4, width: width))
    }
    if let remedy = Code(rawValue: first)?.entry.remedy {
      lines.append("  What to do: " + Wrapping.wrap(remedy, indent: 4, width: width - 12))
    }
    return lines.joined(separator: "\n")
  }

  /// What the report says where the check failed: which elements, which certificate.
  private func details(of code: String) -> String {
    let documents = json["report"]?["documents"]?.array ?? []
    let checks = ([json["report"]].compactMap { $0 } + documents).flatMap { $0["checks"]?.array ?? [] }
    let details = checks.filter { $0["code"]?.string == code && $0["outcome"]?.string == "failed" }
      .compactMap { $0["detail"]?.string }
    return details.isEmpty ? "" : ": " + Printable.line(details.joined(separator: "; "))
  }

  private func unique(_ codes: [String]) -> [String] {
    codes.enumerated().filter { index, code in codes.firstIndex(of: code) == index }.map(\.element)
  }

  private var time: String {
    guard let seconds = json["report"]?["verified_at"]?.integer else { return "" }
    return " at \(Timestamp(secondsSince1970: seconds))"
  }
}
