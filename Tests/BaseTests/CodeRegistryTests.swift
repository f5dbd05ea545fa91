import Testing

@testable import Base

@Suite struct CodeRegistryTests {
  @Test func namesEveryCodeOnce() {
    #expect(Set(Code.allCases.map(\.rawValue)).count == Code.allCases.count)
  }

  @Test func countsCodesInTheOrderOfTheirDeclaration() {
    #expect(Code.allCases.map(\.place) == Array(0..<Code.allCases.count))
    #expect(Code.allCases.count <= CodeSet.capacity)
  }

  @Test(arguments: Code.allCases)
  func tellsEachCodeOfASetFromAllOthers(code: Code) {
    var set = CodeSet()
    set.insert(code)
    #expect(Code.allCases.filter(set.contains) == [code])
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
  }
}
