import Base

/// A matrix as Markdown and as one page, with the same words.
package struct MatrixText: Sendable {
  private let matrix: VerifierMatrix

  package init(_ matrix: VerifierMatrix) { self.matrix = matrix }

  /// - Parameter showsCases: whether each case is named that some verifier got wrong. Without them nobody learns from the
  ///   text what gets past a verifier, before its maintainers do.
  package func markdown(showsCases: Bool = true) -> [UInt8] {
    let names = matrix.runs.map { Self.plain($0.title) }
    var lines = ["# How verifiers do", "", introduction, "", circumstances, ""]
    func row(_ head: String, _ cells: [String]) -> String { "| \(([head] + cells).joined(separator: " | ")) |" }
    lines += [row("If a wrong answer is accepted", names), row("---", names.map { _ in "---" })]
    for bugClass in matrix.bugClasses {
      let head = "`\(bugClass.rawValue)`: \(bugClass.consequence)"
      lines.append(row(head, matrix.runs.map { text(matrix.cell($0, bugClass)) }))
    }
    lines.append(row("Right answers refused", matrix.runs.map(rights)))
    lines.append(row("Cases asked", matrix.runs.map(asked)))
    lines += ["", Self.key]
    if !showsCases { lines += ["", Self.casesAreElsewhere] }
    for table in showsCases ? tables : [] {
      lines += ["", "## \(table.title)", "", row("Case", ["What is wrong"] + names)]
      lines += [row("---", ["---"] + names.map { _ in "---" })]
      lines += table.rows.map { made in
        row("`\(made.summary.id)`", ["\(made.summary.description) \(made.summary.reference)"] + made.cells)
      }
    }
    for run in matrix.runs { lines += section(run) }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  package var html: [UInt8] {
    let heads = matrix.runs.map { "<th scope=\"col\">\(escaped($0.title))</th>" }.joined()
    let rows = matrix.bugClasses.map { bugClass in
      "<tr><th scope=\"row\">\(escaped(bugClass.consequence)) <small>\(bugClass.rawValue)</small></th>"
        + matrix.runs.map { cell(matrix.cell($0, bugClass)) }.joined() + "</tr>"
    }
    let rest = [("Right answers refused", rights), ("Cases asked", asked)].map { name, value in
      "<tr><th scope=\"row\">\(name)</th>"
        + matrix.runs.map { "<td>\(escaped(value($0)))</td>" }.joined() + "</tr>"
    }
    let body = """
      <header>
      <p class="kind">Matrix</p>
      <h1>ISO/IEC 18013-5 verifiers, held to the same test vectors</h1>
      <p>\(escaped(introduction))</p>
      <p>\(escaped(circumstances))</p>
      </header>
      <table class="matrix"><thead><tr><th scope="col">If a wrong answer is accepted</th>\(heads)</tr></thead><tbody>
      \((rows + rest).joined(separator: "\n"))
      </tbody></table>
      <p>\(escaped(Self.key))</p>
      \(tables.map(html).joined(separator: "\n"))
      \(matrix.runs.map(htmlSection).joined(separator: "\n"))
      <footer><p>Made by <code>mdoc vectors matrix</code>; <code>mdoc vectors show ID</code> takes a case apart. \
      This page fetches nothing.</p></footer>
      """
    return HTMLPage(title: "mdoc vectors: matrix", body: body).bytes
  }

  // MARK: Words

  private let introduction =
    "Each verifier was asked the cases of what it claims to do, by the strictest use that its documentation names. "
    + "A cell says how many wrong answers of a class it accepted, of how many that it was asked."

  private static let key =
    "Only wrong answers count that every verifier must refuse; a dash means that none was asked. The cases are made up, "
    + "and a count says nothing about a product that is built with a library and does more."

  private static let casesAreElsewhere =
    "The cases are not named here before the verifiers' maintainers know of them. `mdoc vectors matrix` names them on "
    + "your machine."

  private var circumstances: String {
    guard let run = matrix.runs.first else { return "" }
    let edition = run.edition.map { "corpus \($0)" } ?? "the corpus"
    let digest = run.digest.map { " with SHA-256 \($0.prefix(16))…" } ?? ""
    return "Made on \(run.date.description.prefix(10)) by \(RunReport.program) from \(edition)\(digest), "
      + "\(run.results.count) cases."
  }

  private func text(_ cell: VerifierMatrix.Cell) -> String {
    guard cell.judged > 0 else { return "–" }
    let dead = cell.withoutVerdict.isEmpty ? "" : ", \(cell.withoutVerdict.count) without a verdict"
    let count = "\(cell.letThrough.count) of \(cell.judged)\(dead)"
    return cell.letThrough.isEmpty && cell.withoutVerdict.isEmpty ? count : "**\(count)**"
  }

  private func cell(_ cell: VerifierMatrix.Cell) -> String {
    let isGood = cell.letThrough.isEmpty && cell.withoutVerdict.isEmpty
    let kind = cell.judged == 0 ? "none" : isGood ? "passed" : "failed"
    return "<td class=\"\(kind)\">\(text(cell).replacing("**", with: ""))</td>"
  }

  private func rights(_ run: RunReport) -> String {
    let answers = run.rightAnswers
    guard !answers.isEmpty else { return "–" }
    return "\(answers.count(where: \.isRefusedThoughRight)) of \(answers.count)"
  }

  private func asked(_ run: RunReport) -> String {
    "\(run.results.count { $0.skipReason == nil }) of \(run.results.count)"
  }

  // MARK: Cases

  /// Cases that some verifier got wrong, with what each said.
  private struct Table {
    let title: String
    let rows: [(summary: CaseSummary, cells: [String])]
  }

  /// The bug classes in their order, each with its cases; then the rules of profiles, right answers, and what ended without
  /// a verdict. A case stands in the first table that it belongs to.
  private var tables: [Table] {
    var kinds: [(title: String, isHere: (VectorResult) -> Bool)] = matrix.bugClasses.map { bugClass in
      (
        "Accepted: \(bugClass.rawValue.replacing("_", with: " "))",
        { $0.isSecurityCase && $0.isLetThrough && $0.bugClasses.contains(bugClass) }
      )
    }
    kinds += [
      ("Accepted, though a profile or this project's choice forbids it", { $0.isLetThrough && !$0.isSecurityCase }),
      ("Refused, and right", { $0.isRefusedThoughRight && $0.summary.importance == .must }),
      ("Without a verdict", { $0.skipReason == nil && $0.judgement == nil }),
    ]
    var seen: Set<String> = []
    let columns = matrix.runs.map { run in
      Dictionary(run.results.map { ($0.summary.id, $0) }) { first, _ in first }
    }
    return kinds.compactMap { title, isHere in
      let results = matrix.runs.flatMap(\.results).filter(isHere)
      let cases = results.map(\.summary).filter { seen.insert($0.id).inserted }.sorted { $0.id < $1.id }
      guard !cases.isEmpty else { return nil }
      return Table(title: title, rows: cases.map { summary in (summary, columns.map { said($0[summary.id]) }) })
    }
  }

  private func said(_ result: VectorResult?) -> String {
    guard let result, result.skipReason == nil else { return "–" }
    guard let judgement = result.judgement else { return result.end?.text ?? "no verdict" }
    return judgement.isAccepted ? "accepted" : "refused"
  }

  // MARK: Verifiers

  private func section(_ run: RunReport) -> [String] {
    var lines = ["", "## \(Self.plain(run.title))", ""]
    if let use = run.description?.use {
      lines += [Self.plain(use) + (documented(run).map { " ([documentation](\($0)))" } ?? ""), ""]
    }
    let skipped = run.skipReasons.map { "\(Self.plain($0.reason)) (\($0.count))" }
    lines.append(skipped.isEmpty ? "Every case was asked." : "Not asked: \(skipped.joined(separator: "; ")).")
    return lines
  }

  private func htmlSection(_ run: RunReport) -> String {
    let use = run.description?.use.map { "<p>\(escaped($0))</p>" } ?? ""
    let documentation =
      documented(run).map { "<p><a href=\"\(escaped($0))\" rel=\"noreferrer\">Documentation</a> of that use.</p>" }
      ?? ""
    let skipped = run.skipReasons.map { "<li>\(escaped($0.reason)) <small>\($0.count)</small></li>" }
    let rest =
      skipped.isEmpty
      ? ""
      : "<details><summary>Not asked <span>\(run.count.skipped)</span></summary><ul>\(skipped.joined())</ul></details>"
    return "<section><h2>\(escaped(run.title))</h2>\(use)\(documentation)\(rest)</section>"
  }

  private func html(_ table: Table) -> String {
    let heads = (["Case", "What is wrong"] + matrix.runs.map(\.title)).map { "<th scope=\"col\">\(escaped($0))</th>" }
    let rows = table.rows.map { made in
      "<tr><th scope=\"row\"><code>\(escaped(made.summary.id))</code></th><td>\(escaped(made.summary.description)) "
        + "<small>\(escaped(made.summary.reference))</small></td>"
        + made.cells.map { "<td>\(escaped($0))</td>" }.joined() + "</tr>"
    }
    return "<details><summary>\(escaped(table.title)) <span>\(table.rows.count)</span></summary>"
      + "<table class=\"matrix\"><thead><tr>\(heads.joined())</tr></thead><tbody>\n"
      + rows.joined(separator: "\n") + "\n</tbody></table></details>"
  }

  /// A verifier's own words, which may be no markup.
  private static func plain(_ text: String) -> String {
    let marks: Set<Character> = ["\\", "`", "*", "_", "[", "]", "<", ">", "|", "#", "!"]
    return text.reduce(into: "") { $0 += $1.isNewline ? " " : marks.contains($1) ? "\\\($1)" : String($1) }
  }

  /// Where the use is documented, if that is an address on the web.
  private func documented(_ run: RunReport) -> String? {
    run.description?.documentation.flatMap {
      $0.hasPrefix("https://") && !$0.contains { "()<>\" ".contains($0) } ? $0 : nil
    }
  }
}
