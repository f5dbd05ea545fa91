import Base
import Pages

/// A run as one self-contained page for an auditor. It shows the verdict and its circumstances, each failure with the
/// attacker's gain, the skipped cases, the counts, and every case under its clause.
package struct HTMLReport {
  private let report: RunReport

  package init(_ report: RunReport) { self.report = report }

  package var bytes: [UInt8] {
    let counts = "<div class=\"pair\">\(groups)\(skips)</div>"
    let body = [header, failures, counts, costs, clauses, footer].filter { !$0.isEmpty }
    return HTMLPage(
      title: "mdoc vectors: \(verdict)", body: body.joined(separator: "\n"),
      script: String(decoding: PackageResources.report_js, as: UTF8.self)
    ).bytes
  }

  private var verdict: String {
    let count = report.count
    if count.failed > 0 { return "\(count.failed) of \(count.total) cases fail" + known }
    if count.known > 0, report.hasPassed { return "\(count.passed) cases pass" + known }
    guard report.hasPassed else { return "No case was run" }
    return count.skipped == 0 ? "All \(count.total) cases pass" : "All \(count.passed) cases that were run pass"
  }

  private var known: String { report.count.known == 0 ? "" : ", and \(report.count.known) fail as expected" }

  // MARK: Sections

  private var header: String {
    let count = report.count
    let state = count.failed > 0 ? "bad" : report.hasPassed ? "good" : "skip"
    let tiles = shares.map { name, number in
      "<li class=\"\(number > 0 ? name : "none")\"><b>\(number)</b> \(name)</li>"
    }
    let date = report.date.description.replacing("T", with: " ").replacing("Z", with: " UTC")
    let filter = report.filter.map { "<dt>Only</dt><dd>cases whose id contains <code>\(escaped($0))</code></dd>" } ?? ""
    let digest = report.digest.map { "<dt>SHA-256</dt><dd><code>\($0)</code>, of all vectors</dd>" } ?? ""
    let version = report.edition.map { " \($0)" } ?? ""
    let use = report.description?.use.map { "<dt>Used</dt><dd>\(escaped($0))</dd>" } ?? ""
    return """
      <header>
      <p class="kind">Report of a run</p>
      <h1>An ISO/IEC 18013-5 verifier, held to test vectors</h1>
      <p class="verdict \(state)">\(escaped(verdict))</p>
      <ul class="tiles">\(tiles.joined())</ul>
      \(bar)
      <dl>
      <dt>Verifier</dt><dd>\(escaped(report.subject))</dd>\(use)
      <dt>Date</dt><dd><time datetime="\(report.date)">\(escaped(date))</time>, in \(report.durationText) s</dd>
      <dt>Program</dt><dd>\(escaped(RunReport.program))</dd>
      <dt>Vectors</dt><dd>\(escaped(report.suiteName + version)), \(count.total) cases</dd>\(filter)\(digest)
      </dl>
      </header>
      """
  }

  /// The outcomes with their counts.
  private var shares: [(name: String, count: Int)] {
    let count = report.count
    let known = count.known > 0 ? [("known", count.known)] : []
    return [("passed", count.passed), ("failed", count.failed)] + known + [("skipped", count.skipped)]
  }

  /// The shares of the outcomes as a bar.
  private var bar: String {
    var start = 0
    let parts = shares.map { name, number in
      defer { start += number }
      return "<rect class=\"\(name)\" x=\"\(start)\" width=\"\(number)\" height=\"1\"/>"
    }
    return "<svg viewBox=\"0 0 \(max(1, report.count.total)) 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      + parts.joined() + "</svg>"
  }

  private var failures: String {
    let failures = report.failures + report.knownFailures
    guard !failures.isEmpty else { return "" }
    let cards = failures.map { result in
      let summary = result.summary
      return """
        <article>
        <h3><a href="#\(escaped(summary.id))">\(escaped(summary.id))</a></h3>
        <p>\(prose(summary.description))</p>
        <dl>
        <dt>Must be</dt><dd>\(expected(summary))</dd>
        <dt>Was</dt><dd>\(observed(result))</dd>
        <dt>Clause</dt><dd>\(escaped(summary.reference))</dd>
        <dt>Importance</dt><dd>\(summary.importance.rawValue)\(result.knownProblem == nil ? "" : ", expected to fail")</dd>
        </dl>
        \(risks(result))
        </article>
        """
    }
    return
      "<h2>Failed cases, and an attacker's gain</h2>\n\(classes(failures))\n<div class=\"cards\">\(cards.joined(separator: "\n"))</div>"
  }

  private func risks(_ result: VectorResult) -> String {
    guard !result.consequences.isEmpty else { return "" }
    return "<ul class=\"risk\">\(result.consequences.map { "<li>\(escaped($0))</li>" }.joined())</ul>"
  }

  /// The number of accepted wrong responses of each class.
  private func classes(_ failures: [VectorResult]) -> String {
    let rows = BugClass.allCases.compactMap { bugClass -> String? in
      let results = failures.filter { $0.isLetThrough && $0.bugClasses.contains(bugClass) }
      guard !results.isEmpty else { return nil }
      let musts = results.count { $0.summary.importance == .must }
      let head = "<code>\(bugClass.rawValue)</code> \(escaped(bugClass.consequence))"
      return counts(head, ["\(musts)", "\(results.count - musts)"])
    }
    return rows.isEmpty ? "" : table(["Let through", "Must", "Should"], rows, kind: "counts")
  }

  private var skips: String {
    guard !report.skipReasons.isEmpty else { return "" }
    let rows = report.skipReasons.sorted { $0.reason < $1.reason }.map { counts(escaped($0.reason), ["\($0.count)"]) }
    let rest = table(["Why", "Cases"], rows, kind: "counts")
    return "<section><h2>Skipped cases</h2>\n<p>This run says nothing about these cases.</p>\n\(rest)</section>"
  }

  private var groups: String {
    let hasFailed = { (count: RunReport.Count) in count.failed + count.known > 0 }
    let groups = report.groups.filter { hasFailed($0.count) } + report.groups.filter { !hasFailed($0.count) }
    let rows = groups.map { name, count in
      let failed = count.failed + count.known
      let numbers = [(count.total, ""), (count.passed, ""), (failed, " failed"), (count.skipped, "")].map {
        "<td class=\"n\($0 > 0 ? $1 : " none")\">\($0)</td>"
      }
      return "<tr><td>\(escaped(name))</td>\(numbers.joined())</tr>"
    }
    let counts = table(["Group", "Cases", "Passed", "Failed", "Skipped"], rows, kind: "counts")
    return "<section><h2>By group</h2>\n\(counts)</section>"
  }

  /// The cases that took the most memory or processor time; empty if the run did not measure.
  private var costs: String {
    guard !report.byProcessorTime.isEmpty else { return "" }
    let most = report.byMemory.prefix(8) + report.byProcessorTime.prefix(8)
    var seen: Set<String> = []
    let rows = most.filter { seen.insert($0.summary.id).inserted }.map { result in
      let id = escaped(result.summary.id)
      let cost = result.measurement
      return counts(
        "<a href=\"#\(id)\">\(id)</a>",
        ["\(cost?.inputBytes ?? 0)", cost?.memoryText ?? "not known", cost?.timeText ?? ""])
    }
    return """
      <h2>Most expensive cases</h2>
      <p>Limits for one response: \(Limits.verificationMemoryBytes >> 20) MiB of memory beside the response itself, \
      and \(Limits.verificationSeconds) s of processor time.</p>
      \(table(["Case", "Bytes", "Memory", "Time"], rows, kind: "counts"))
      """
  }

  /// Every case under its clause. Clauses with failures come first. Within a clause, failures come first.
  private var clauses: String {
    let byClause = Dictionary(grouping: report.results, by: \.summary.reference).sorted { $0.key < $1.key }
    let failed = byClause.filter { $0.value.contains { $0.problem != nil } }
    let rest = byClause.filter { $0.value.allSatisfy { $0.problem == nil } }
    let sections = (failed + rest).map { clause, results in
      let count = report.count(of: results)
      let note =
        count.failed > 0
        ? "<span class=\"failed\">\(count.failed) of \(count.total) fail</span>" : "<span>\(count.total)</span>"
      let sorted = results.filter { $0.problem != nil } + results.filter { $0.problem == nil }
      let rows = table(["Case", "Fault", "Must be", "Outcome"], sorted.map(row), kind: "cases")
      return
        "<details\(count.failed > 0 ? " open" : "")><summary>\(escaped(clause)) \(note)</summary>\n\(rows)\n</details>"
    }
    return """
      <h2>Every case, by the clause that decides it</h2>
      <form id="search" role="search" hidden>
      <label>Search <input type="search" id="words" placeholder="an id, a code, a word" autocomplete="off"></label>
      <label>Outcome <select id="outcome"><option value="">all</option><option>failed</option><option>known</option>\
      <option>passed</option><option>skipped</option></select></label>
      <output id="hits" aria-live="polite"></output>
      </form>
      \(sections.joined(separator: "\n"))
      """
  }

  private var footer: String {
    """
    <footer>
    <p>A case is a message from a wallet or a publisher, with its expected verdict. It passes if the verifier gives \
    this verdict. If the verifier names codes, they must be exactly the expected codes. Some cases are right responses: \
    a verifier that refuses everything does not pass. All keys and persons in the vectors are made up.</p>
    <p>Made by <code>mdoc vectors run</code>; <code>mdoc vectors show ID</code> takes a case apart. This page fetches \
    nothing.</p>
    </footer>
    """
  }

  // MARK: Parts

  private func row(_ result: VectorResult) -> String {
    let summary = result.summary
    let origin = ([result.group] + summary.cases).joined(separator: " ")
    return """
      <tr id="\(escaped(summary.id))" class="\(result.outcome.name)"><td>\(escaped(summary.id)) \
      <small>\(escaped(origin))</small></td><td>\(prose(summary.description))</td>\
      <td>\(expected(summary))</td><td>\(outcome(result))</td></tr>
      """
  }

  private func outcome(_ result: VectorResult) -> String {
    let badge = "<b class=\"badge\">\(result.outcome.name)</b>"
    switch result.outcome {
    case .passed: return badge
    case .skipped(let reason): return "\(badge) \(escaped(reason))"
    case .failed, .knownFailure: return "\(badge) \(observed(result))"
    }
  }

  private func expected(_ summary: CaseSummary) -> String {
    let codes = summary.expectation.codes
    return codes.isEmpty ? escaped(summary.expectation.text) : "refused with " + list(codes)
  }

  private func observed(_ result: VectorResult) -> String {
    guard let judgement = result.judgement else { return escaped(result.problem ?? "not run") }
    let codes = judgement.codes ?? []
    // The verdict and the codes are as expected: show the problem itself.
    let isAsExpected =
      judgement.isAccepted == result.summary.expectation.isAccepted && codes == result.summary.expectation.codes
    if isAsExpected { return escaped(result.problem ?? "") }
    if judgement.isAccepted { return "accepted" }
    return codes.isEmpty ? "refused" : "refused with " + list(codes)
  }

  /// A description in which backticks enclose names of members.
  private func prose(_ text: String) -> String {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false).map { escaped(String($0)) }
    guard parts.count % 2 == 1 else { return escaped(text) }
    return parts.enumerated().map { $0 % 2 == 0 ? $1 : "<code>\($1)</code>" }.joined()
  }

  private func list(_ codes: [String]) -> String {
    codes.map { "<code>\(escaped($0))</code>" }.joined(separator: ", ")
  }

  /// A row of a table of counts.
  private func counts(_ head: String, _ numbers: [String]) -> String {
    "<tr><td>\(head)</td>\(numbers.map { "<td class=\"n\">\($0)</td>" }.joined())</tr>"
  }

  private func table(_ heads: [String], _ rows: [String], kind: String) -> String {
    let head = heads.enumerated().map { index, text in
      "<th scope=\"col\"\(kind == "counts" && index > 0 ? " class=\"n\"" : "")>\(text)</th>"
    }.joined()
    return
      "<table class=\"\(kind)\"><thead><tr>\(head)</tr></thead><tbody>\n\(rows.joined(separator: "\n"))\n</tbody></table>"
  }
}

/// Escapes text for content and quoted attributes, in HTML and XML.
let escaped: @Sendable (String) -> String = HTMLText.escaped
