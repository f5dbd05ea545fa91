import Base
import Testing

@Suite struct CodeTests {
  @Test func `a name is one code, wherever it is written`() {
    let code = Code(
      "test.declared", "It fails", "Clause 1", "Do this.", passes: "It passes", status: 404, cases: "X01 X02")
    #expect(code == Code(named: "test.declared") && code != Code(named: "test.other"))
    #expect(code.index == Code(named: "test.declared").index && "\(code)" == "test.declared")
    let entry = Code(named: "test.declared").entry
    #expect(entry.summary == "It fails" && entry.clause == "Clause 1" && entry.remedy == "Do this.")
    #expect(entry.passedSentence == "It passes" && !entry.isWarning)
    #expect(entry.httpStatus == 404 && entry.cases == ["X01", "X02"])
  }

  @Test func `there may be more codes than a byte counts`() {
    let codes = (0..<600).map { Code(named: "test.many.\($0)") }
    #expect(Set(codes).count == 600 && Set(codes.map(\.index)).count == 600)
    var list = CheckList()
    for (index, code) in codes.enumerated() where !index.isMultiple(of: 3) {
      list.require(index.isMultiple(of: 2), code)
      list.warned(code, "twice")
    }
    list.skipRest(of: codes)
    #expect(list.checks.count == 600 && Set(list.checks.map(\.code)) == Set(codes))
    for (index, code) in codes.enumerated() {
      let expected: Check.Outcome = index.isMultiple(of: 3) ? .notRun : index.isMultiple(of: 2) ? .warning : .failed
      #expect(list.outcome(of: code) == expected)
    }
  }
}
