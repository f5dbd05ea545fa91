import Base
import Pages
import Sessions

/// Writes a report as one script-free HTML page, for screen and print. Every check is in a collapsible section.
package struct HTMLPrinter {
  /// - Parameter kind: the small line above the verdict, such as "Report of a verification".
  package static func page(_ report: [Report], kind: String) -> HTMLPage {
    let body = """
      <p class="kind">\(escaped(kind))</p>
      \(html(report))
      <footer><p>Made by mdoc \(escaped(ProgramVersion.text)). This page fetches nothing and has no script.</p></footer>
      """
    return HTMLPage(title: "mdoc: \(kind)", body: body)
  }

  // MARK: Nodes

  private static func html(_ report: [Report]) -> String {
    var parts: [String] = []
    var rows: [(String, String)] = []
    for node in report {
      if case .labelled(let label, let text, _) = node {
        rows += text.map { [(label, $0)] } ?? []
        continue
      }
      parts += [list(rows), html(node)]
      rows = []
    }
    return (parts + [list(rows)]).filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private static func html(_ node: Report) -> String {
    switch node {
    case .object, .document, .labelled: return ""
    case .verdict(let spans):
      let tone = spans.first.map(\.tone) ?? ""
      return "<h1 class=\"verdict \(tone)\">\(spans.map { escaped($0.text) }.joined())</h1>"
    case .heading(let text, let note, let level):
      return "<h\(level + 1)>\(escaped(text))\(note.isEmpty ? "" : "<small>\(escaped(note))</small>")</h\(level + 1)>"
    case .table(let rows, _, _, _): return list(rows)
    case .text(let spans, let lead, _):
      let line = (lead + spans).map(html).joined()
      return line.isEmpty ? "" : "<p>\(line)</p>"
    case .verbatim(let text): return "<pre>\(HTMLText.escaped(text))</pre>"
    case .checks(let title, let checks): return html(checks, title: title)
    case .image(let name, let mediaType, let base64):
      let source = "data:\(escaped(mediaType));base64,\(escaped(base64))"
      let label = escaped(name)
      return "<figure><img src=\"\(source)\" alt=\"\(label)\"><figcaption>\(label)</figcaption></figure>"
    case .section(let nodes):
      let content = html(nodes)
      return content.isEmpty ? "" : "<section>\n\(content)\n</section>"
    case .list(_, let items): return items.map { html(.section($0)) }.joined(separator: "\n")
    case .page(let nodes): return html(nodes)
    }
  }

  private static func list(_ rows: [(String, String)]) -> String {
    guard !rows.isEmpty else { return "" }
    return "<dl>\(rows.map { "<dt>\(escaped($0))</dt><dd>\(escaped($1))</dd>" }.joined(separator: "\n"))</dl>"
  }

  private static func html(_ span: Span) -> String {
    let text = escaped(span.text)
    if span.emphasis.contains(.faint) { return "<small>\(text)</small>" }
    let inner = span.emphasis.contains(.bold) ? "<b>\(text)</b>" : text
    return span.tone.isEmpty ? inner : "<span class=\"\(span.tone)\">\(inner)</span>"
  }

  // MARK: Checks

  /// The collapsible groups. Groups with a failed check or a warning are open.
  private static func html(_ checks: [Check], title: String) -> String {
    guard !checks.isEmpty else { return "" }
    let groups = CheckGroup.groups(of: checks).map { group in
      let notable = group.checks.filter(\.isNotable)
      let shown = notable + group.checks.filter { !$0.isNotable }
      let failed = group.checks.contains { $0.outcome == .failed } ? " class=\"failed\"" : ""
      return """
        <details\(notable.isEmpty ? "" : " open")><summary>\(escaped(group.title)) \
        <span\(failed)>\(Report.counts(of: group.checks, all: false))</span></summary>
        <table class="checks">\(shown.map(row).joined(separator: "\n"))</table></details>
        """
    }
    return "<section>\n<h2>\(escaped(title))</h2>\n\(groups.joined(separator: "\n"))\n</section>"
  }

  private static func row(_ check: Check) -> String {
    let (style, word) =
      switch check.outcome {
      case .passed: ("passed", "passed")
      case .failed: ("failed", "failed")
      case .warning: ("skipped", "warning")
      case .notRun: ("none", "not run")
      }
    let remedy = check.outcome == .failed ? "<br>What to do: \(escaped(check.code.entry.remedy))" : ""
    let detail = check.detail.map { "<br>\(escaped($0))" } ?? ""
    return """
      <tr class="\(style)"><td><b class="badge">\(word)</b></td><td>\(check.sentence.map { escaped($0) + "<br>" } ?? "")\
      <code>\(check.code.rawValue)</code> <small>\(escaped(check.clause))</small>\(detail)\(remedy)</td></tr>
      """
  }

  // MARK: Text

  /// Untrusted text, escaped to one line. It affects neither the page nor the direction of the surrounding text.
  private static func escaped(_ text: String) -> String { HTMLText.escaped(text.printableLine) }
}

extension Span {
  /// The CSS class of the span's colour; empty if the span has no colour.
  fileprivate var tone: String {
    emphasis.contains(.green) ? "good" : emphasis.contains(.red) ? "bad" : emphasis.contains(.yellow) ? "skip" : ""
  }
}
