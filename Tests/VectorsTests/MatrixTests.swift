import Base
import Testing

@testable import Vectors

/// Several verifiers side by side.
@Suite struct MatrixTests {
  private let matrix: VerifierMatrix

  /// Our verifier; a verifier that accepts everything in its scope, with a name that could break a page; and a verifier
  /// that crashes.
  init() async throws {
    let suite = try CommittedCorpus.suite()
    var lenient = VectorRunner(suite, subject: "lenient") { _ in Judgement(isAccepted: true) }
    lenient.description = HarnessDescription(name: "<b>le|nient", version: "1", profiles: [.core])
    lenient.description?.use = "Everything."
    lenient.description?.documentation = "javascript:alert(1)"
    lenient.profiles = [.core]
    var dying = VectorRunner(suite, subject: "dying") { _ throws(VerdictError) in
      throw .ended(.crashed("signal 11"))
    }
    dying.description = HarnessDescription(name: "dying")
    var runs: [RunReport] = []
    for var runner in [VectorRunner(suite), lenient, dying] {
      runner.filter = "device-"
      runs.append(try await runner.run())
    }
    matrix = VerifierMatrix(runs)
  }

  @Test func `a cell counts wrong answers that were accepted, of those that were asked`() {
    let bypass = matrix.runs.map { matrix.cell($0, .authenticationBypass) }
    #expect(bypass[0].letThrough.isEmpty && bypass[0].withoutVerdict.isEmpty && bypass[0].judged > 20)
    #expect(bypass[1].letThrough.count == bypass[1].judged && bypass[1].judged > 20)
    #expect(bypass[2].withoutVerdict.count == bypass[2].judged && bypass[2].letThrough.isEmpty)
    // Only what every verifier must refuse counts.
    #expect(bypass[1].letThrough.allSatisfy { $0.summary.importance == .must && !$0.summary.expectation.isAccepted })
    #expect(!matrix.bugClasses.contains(.requestForgery))
  }

  @Test func `the page escapes what a verifier says of itself`() throws {
    let text = String(decoding: MatrixText(matrix).html, as: UTF8.self)
    #expect(!text.contains("<b>le") && text.contains("&lt;b&gt;le"))
    #expect(!text.contains("javascript:"))
    #expect(text.contains(escaped(BugClass.authenticationBypass.consequence)))
    #expect(text.contains("crashed (signal 11)"))
    #expect(!text.contains(/(src|action)="/))
  }

  @Test func `the Markdown has a column for each verifier and a section for each`() throws {
    let text = String(decoding: MatrixText(matrix).markdown(), as: UTF8.self)
    let table = text.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
    #expect(table.count == matrix.bugClasses.count + 4)
    // A name must not create a column.
    let columns = Set(table.map { $0.replacing("\\|", with: "").count { $0 == "|" } })
    #expect(columns == [5])
    #expect(text.contains("## \(RunReport.program)\n") && text.contains("## dying\n"))
    #expect(text.contains("Not asked: the profile web is not claimed ("))
    #expect(!text.contains("<b>"))
    let cases = text.split(separator: "\n").filter { $0.hasPrefix("| `device-key-short` |") }
    #expect(cases.count == 1 && cases[0].hasSuffix("| refused | accepted | crashed (signal 11) |"))
  }

  @Test func `counts name no case`() throws {
    let text = String(decoding: MatrixText(matrix).markdown(showsCases: false), as: UTF8.self)
    #expect(text.contains(BugClass.authenticationBypass.consequence) && text.contains("## dying\n"))
    #expect(text.contains("`mdoc vectors matrix` names them"))
    for run in matrix.runs { for result in run.results { #expect(!text.contains("`\(result.summary.id)`")) } }
  }

  @Test func `the JSON has the ids`() throws {
    let verifiers = try #require(matrix.json["verifiers"]?.array)
    #expect(verifiers.count == 3 && verifiers[1]["verifier"]?["version"] == "1")
    let cell = verifiers[1]["cells"]?["authentication_bypass"]
    #expect(cell?["let_through"]?.array?.contains("device-key-short") == true)
    #expect(cell?["judged"]?.integer == cell?["let_through"]?.array.map { Int64($0.count) })
    #expect(matrix.json["suite_sha256"]?.string?.count == 64 && matrix.json["version"]?.string != nil)
  }
}
