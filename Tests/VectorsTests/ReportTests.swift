import Base
import Testing

@testable import Vectors

/// Reports of runs that went wrong.
@Suite struct ReportTests {
  private let report: RunReport

  /// A verifier that accepts everything, and answers with what would break a report.
  init() async throws {
    var runner = VectorRunner(try CommittedCorpus.suite(), subject: "<b>\u{1}\"&'") { vector in
      Judgement(isAccepted: true, codes: vector.expectation.isAccepted ? [] : ["<script>\u{b}]]>"])
    }
    runner.missingFeatures = ["apple-in-app"]
    report = await runner.run()
  }

  @Test func `a verifier that accepts everything fails every refusal`() {
    let wrong = report.results.filter { $0.skipReason == nil && !$0.summary.expectation.isAccepted }
    #expect(report.failures.map(\.summary.id) == wrong.map(\.summary.id))
    #expect(report.count.failed > 200 && report.count.skipped > 50 && report.count.passed > 50)
    #expect(!report.hasPassed)
  }

  @Test func `JUnit is well-formed and counts right`() throws {
    let text = String(decoding: JUnitReport.xml(report), as: UTF8.self)
    #expect(try Markup.isBalanced(text))
    let cases = text.matches(of: #/<testcase /#).count
    #expect(cases == report.count.total)
    #expect(text.matches(of: #/<failure /#).count == report.count.failed)
    #expect(text.matches(of: #/<skipped /#).count == report.count.skipped)
    #expect(!text.contains("<script>"))
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
  }

  @Test func `the page names what a failure lets an attacker do`() throws {
    let text = String(decoding: HTMLReport(report).bytes, as: UTF8.self)
    #expect(text.contains(escaped(BugClass.authenticationBypass.consequence)))
    #expect(text.contains("\(report.count.failed) of \(report.count.total) cases fail"))
    #expect(!text.contains("<script"))
    #expect(!text.contains(/(src|href)="(?!#)/))
    #expect(text.matches(of: /<tr id="/).count == report.count.total)
    for result in report.results { #expect(text.contains("id=\"\(result.summary.id)\"")) }
  }

  @Test func `JSON tells passed, failed and skipped apart`() throws {
    let json = JSONReport.json(report)
    let outcomes = json["results"]?.array?.compactMap { $0["outcome"]?.string } ?? []
    #expect(outcomes.count { $0 == "failed" } == report.count.failed)
    #expect(try JSON(parsing: json.serialized()) == json)
  }

  @Test func `a run without cases has not passed`() async throws {
    var runner = VectorRunner(try CommittedCorpus.suite())
    runner.filter = "no such id"
    #expect(await !runner.run().hasPassed)
  }
}

/// Enough of XML to find an element that is not closed, a quote that is not, or a bare ampersand.
private enum Markup {
  static func isBalanced(_ text: String) throws -> Bool {
    var open: [Substring] = []
    var rest = text[...]
    if let declaration = rest.prefixMatch(of: /<\?xml [^>]*\?>\n/) { rest = rest[declaration.range.upperBound...] }
    while let start = rest.firstIndex(of: "<") {
      guard rest[..<start].matches(of: /&(?!(amp|lt|gt|quot|#39);)/).isEmpty,
        let tag = rest[start...].prefixMatch(of: /<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>/)
      else { return false }
      if tag.1 == "/" {
        guard open.popLast() == tag.2 else { return false }
      } else if tag.4.isEmpty {
        open.append(tag.2)
      }
      rest = rest[tag.range.upperBound...]
    }
    return open.isEmpty && rest.allSatisfy(\.isWhitespace)
  }
}
