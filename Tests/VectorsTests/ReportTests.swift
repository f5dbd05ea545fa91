import Base
import Cryptography
import Sessions
import Testing

@testable import Vectors

/// Reports of failed runs.
@Suite struct ReportTests {
  private let report: RunReport

  /// A verifier that accepts everything, and returns text that could break a report.
  init() async throws {
    var runner = VectorRunner(try CommittedCorpus.suite(), subject: "<b>\u{1}\"&'") { vector in
      Judgement(isAccepted: true, codes: vector.expectation.isAccepted ? [] : ["<script>\u{b}]]>"])
    }
    runner.missingFeatures = ["apple-in-app"]
    report = try await runner.run()
  }

  @Test func `a verifier that accepts everything fails every refusal`() {
    let wrong = report.results.filter { $0.skipReason == nil && !$0.summary.expectation.isAccepted }
    #expect(Set(report.failures.map(\.summary.id)) == Set(wrong.map(\.summary.id)))
    // The most urgent failures come first.
    #expect(report.failures.map(\.rank) == report.failures.map(\.rank).sorted())
    #expect(report.failures.first?.bugClasses.contains(.authenticationBypass) == true)
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
    #expect(text.matches(of: /<script/).count == 1)
    #expect(!text.contains(/(src|href|action)="(?!#|data:,")/))
    #expect(text.matches(of: /<tr id="/).count == report.count.total)
    for result in report.results { #expect(text.contains("id=\"\(result.summary.id)\"")) }
  }

  /// A policy with another hash than the script's would leave the page without its search.
  @Test func `the page allows its own script and style and no request`() throws {
    let text = String(decoding: HTMLReport(report).bytes, as: UTF8.self)
    let policy = try #require(text.firstMatch(of: /Content-Security-Policy" content="([^"]*)"/)).1
    #expect(policy.hasPrefix("default-src 'none'; "))
    for element in ["style", "script"] {
      let start = try #require(text.firstRange(of: "<\(element)>")).upperBound
      let end = try #require(text.firstRange(of: "</\(element)>")).lowerBound
      let hash = Base64.encode(HashAlgorithm.sha256.hash(Array(text[start..<end].utf8)))
      #expect(policy.contains("\(element)-src 'sha256-\(hash)'"))
    }
    #expect(!text.contains(/\ (style|on[a-z]+)="/))
  }

  @Test func `failures come first, in the page and within their clause`() throws {
    let text = String(decoding: HTMLReport(report).bytes, as: UTF8.self)
    let cards = try #require(text.firstRange(of: "<article>")).lowerBound
    let rows = text.matches(of: /<tr id="[^"]*" class="([a-z]+)">/)
    let first = try #require(rows.first)
    #expect(cards < first.range.lowerBound && first.1 == "failed")
    for clause in text.split(separator: "<details").dropFirst() {
      let outcomes = clause.matches(of: /<tr id="[^"]*" class="([a-z]+)">/).map { $0.1 == "failed" }
      #expect(outcomes == outcomes.filter { $0 } + outcomes.filter { !$0 })
    }
  }

  @Test func `every report says when, by which program and on which vectors`() throws {
    let date = report.date.description
    let digest = try #require(report.digest)
    #expect(digest.count == 64 && abs(report.date.secondsSince1970 - RunReport.now.secondsSince1970) < 600)
    let json = JSONReport.json(report)
    #expect(json["date"]?.string == date && json["suite_sha256"]?.string == digest)
    #expect(json["program"]?.string == "mdoc \(ProgramVersion.text)")
    for text in [JUnitReport.xml(report), HTMLReport(report).bytes].map({ String(decoding: $0, as: UTF8.self) }) {
      for fact in [date, digest, "mdoc \(ProgramVersion.text)"] { #expect(text.contains(fact), "\(fact)") }
    }
  }

  /// Identifies the vectors of a report with the standard tools of every system.
  @Test func `the digest of a suite is that of the lines of sha256sum`() throws {
    let folder = SuiteFolder(CommittedCorpus.path)
    let files = try folder.vectorFiles() + SuiteFolder("\(folder.path)/anchors").files().map { "anchors/\($0)" }
    let lines = try files.sorted().map { "\(Hex.encode(HashAlgorithm.sha256.hash(try folder.read($0))))  \($0)\n" }
    let digest = Hex.encode(HashAlgorithm.sha256.hash(Array(lines.joined().utf8)))
    #expect(try CommittedCorpus.suite().digest == digest)
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
    #expect(try await !runner.run().hasPassed)
  }
}

/// A minimal XML check, which finds unclosed elements, unclosed quotes and bare ampersands.
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
