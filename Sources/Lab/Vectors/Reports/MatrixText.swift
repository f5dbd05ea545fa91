import Base
import Pages

/// Renders a matrix as Markdown or as one HTML page, with the same text.
package struct MatrixText: Sendable {
  private let matrix: VerifierMatrix

  package init(_ matrix: VerifierMatrix) { self.matrix = matrix }

  /// - Parameter showsCases: whether to list each case with a wrong verdict. Inform the verifier's maintainers before
  ///   publication.
  package func markdown(showsCases: Bool = true) -> [UInt8] {
    let names = matrix.runs.map { Self.plain($0.title) }
    func head(_ cells: [String]) -> [String] { [Self.row(cells), Self.row(cells.map { _ in "---" })] }
    var lines = ["# How verifiers do", "", introduction, "", circumstances, ""]
    lines += head([Self.corner] + names)
    for bugClass in matrix.bugClasses {
      let cells = matrix.runs.map { run in
        let cell = matrix.cell(run, bugClass)
        return cell.isGood ? text(cell) : "**\(text(cell))**"
      }
      lines.append(Self.row(["`\(bugClass.rawValue)`: \(bugClass.consequence)"] + cells))
    }
    lines += counts.map { Self.row([$0.name] + matrix.runs.map($0.text)) } + ["", Self.key]
    if !showsCases { lines += ["", Self.casesAreElsewhere] }
    for table in showsCases ? tables : [] {
      lines += ["", "## \(table.title)", ""] + head(["Case", "Fault"] + names)
      lines += table.rows.map { made in
        Self.row(["`\(made.summary.id)`", "\(made.summary.description) \(made.summary.reference)"] + made.cells)
      }
    }
    for run in matrix.runs { lines += section(run) }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  private static func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }

  package var html: [UInt8] {
    let rows = matrix.bugClasses.map { bugClass in
      Self.htmlRow(
        "\(escaped(bugClass.consequence)) <small>\(bugClass.rawValue)</small>",
        matrix.runs.map { run in
          let cell = matrix.cell(run, bugClass)
          let kind = cell.judged == 0 ? "none" : cell.isGood ? "passed" : "failed"
          return "<td class=\"\(kind)\">\(text(cell))</td>"
        })
    }
    let rest = counts.map { count in
      Self.htmlRow(count.name, matrix.runs.map { "<td>\(escaped(count.text($0)))</td>" })
    }
    let body = """
      <header>
      <p class="kind">Matrix</p>
      <h1>ISO/IEC 18013-5 verifiers, held to the same test vectors</h1>
      <p>\(escaped(introduction))</p>
      <p>\(escaped(circumstances))</p>
      </header>
      \(Self.htmlTable([Self.corner] + matrix.runs.map(\.title), rows + rest))
      <p>\(escaped(Self.key))</p>
      \(tables.map(html).joined(separator: "\n"))
      \(matrix.runs.map(htmlSection).joined(separator: "\n"))
      <footer><p>Made by <code>mdoc vectors matrix</code>; <code>mdoc vectors show ID</code> takes a case apart. \
      This page fetches nothing.</p></footer>
      """
    return HTMLPage(title: "mdoc vectors: matrix", body: body).bytes
  }

  private static func htmlTable(_ heads: [String], _ rows: [String]) -> String {
    let cells = heads.map { "<th scope=\"col\">\(escaped($0))</th>" }.joined()
    return "<table class=\"matrix\"><thead><tr>\(cells)</tr></thead><tbody>\n\(rows.joined(separator: "\n"))\n"
      + "</tbody></table>"
  }

  private static func htmlRow(_ head: String, _ cells: [String]) -> String {
    "<tr><th scope=\"row\">\(head)</th>\(cells.joined())</tr>"
  }

  private static let corner = "If a wrong response is accepted"

  private var counts: [(name: String, text: (RunReport) -> String)] {
    [("Right responses refused", rights), ("Cases asked", asked)]
  }

  // MARK: Words

  private let introduction =
    "Each verifier ran the cases for its claimed profiles, in the strictest use that its documentation "
    + "describes. A cell shows how many wrong responses of a class it accepted, and how many it was given."

  private static let key =
    "The table counts only wrong responses that every verifier must refuse. A dash means that none was given. The "
    + "cases are made up. A count says nothing about a product that adds its own checks to a library."

  private static let casesAreElsewhere =
    "The cases stay anonymous here until the verifiers' maintainers know of them. `mdoc vectors matrix` names them on "
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
    return "\(cell.letThrough.count) of \(cell.judged)\(dead)"
  }

  private func rights(_ run: RunReport) -> String {
    let right = run.rightResponses
    guard !right.isEmpty else { return "–" }
    return "\(right.count(where: \.isRefusedThoughRight)) of \(right.count)"
  }

  private func asked(_ run: RunReport) -> String { "\(run.judged.count) of \(run.results.count)" }

  // MARK: Cases

  /// Cases for which any verifier has a wrong verdict. Each row shows all verdicts.
  private struct Table {
    let title: String
    let rows: [(summary: CaseSummary, cells: [String])]
  }

  /// The tables: one for each bug class, then one each for profile rules, correct responses, and cases without a
  /// verdict. A case belongs to the first table that fits.
  private var tables: [Table] {
    var kinds: [(title: String, isHere: (VectorResult) -> Bool)] = matrix.bugClasses.map { bugClass in
      (
        "Accepted: \(bugClass.rawValue.replacing("_", with: " "))",
        { $0.isSecurityCase && $0.isLetThrough && $0.bugClasses.contains(bugClass) }
      )
    }
    kinds += [
      ("Accepted, although a profile or this project's choice forbids it", { $0.isLetThrough && !$0.isSecurityCase }),
      ("Refused, although right", { $0.isRefusedThoughRight && $0.summary.importance == .must }),
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
    let rows = table.rows.map { made in
      let words = "<td>\(escaped(made.summary.description)) <small>\(escaped(made.summary.reference))</small></td>"
      let id = "<code>\(escaped(made.summary.id))</code>"
      return Self.htmlRow(id, [words] + made.cells.map { "<td>\(escaped($0))</td>" })
    }
    return "<details><summary>\(escaped(table.title)) <span>\(table.rows.count)</span></summary>"
      + Self.htmlTable(["Case", "Fault"] + matrix.runs.map(\.title), rows) + "</details>"
  }

  /// A verifier's own text, escaped so that nothing in it is markup.
  private static func plain(_ text: String) -> String {
    let marks: Set<Character> = ["\\", "`", "*", "_", "[", "]", "<", ">", "|", "#", "!"]
    return text.reduce(into: "") { $0 += $1.isNewline ? " " : marks.contains($1) ? "\\\($1)" : String($1) }
  }

  /// The documentation's https URL; nil if there is none.
  private func documented(_ run: RunReport) -> String? {
    run.description?.documentation.flatMap {
      $0.hasPrefix("https://") && !$0.contains { "()<>\" ".contains($0) } ? $0 : nil
    }
  }
}
