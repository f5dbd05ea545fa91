import Base
import Testing

@Suite struct CodeRegistryTests {
  @Test func namesEveryCodeOnce() {
    #expect(Set(Code.allCases.map(\.rawValue)).count == Code.allCases.count)
  }

  @Test(arguments: Code.allCases)
  func namesCodesByDottedLowerCaseWords(code: Code) throws {
    #expect(try /[a-z0-9_]+(\.[a-z0-9_]+)+/.wholeMatch(in: code.rawValue) != nil)
  }

  @Test(arguments: Code.allCases)
  func saysWhatEveryCodeMeansAndWhatToDo(code: Code) {
    let entry = code.entry
    #expect(!entry.summary.isEmpty)
    #expect(!entry.clause.isEmpty)
    #expect(!entry.remedy.isEmpty)
    #expect(entry.summary.last != ".", "a summary is a phrase of a table")
    #expect(entry.remedy.last == ".", "a remedy is a sentence")
    #expect(entry.httpStatus == 200 || (400...599).contains(entry.httpStatus))
  }

  @Test(arguments: Code.allCases)
  func namesItsCasesAsTheCorpusDoes(code: Code) throws {
    let cases = code.entry.cases
    #expect(Set(cases).count == cases.count)
    #expect(try cases.filter { try /[A-Z][0-9]{2}/.wholeMatch(in: $0) == nil } == [])
  }

  /// A warning is a finding about a document; a request that fails as such is never one.
  @Test func neverAnswersAWarningWithAFailedRequest() {
    #expect(Code.allCases.filter { $0.entry.isWarning && $0.entry.httpStatus != 200 } == [])
  }
}
