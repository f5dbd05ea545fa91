import Base
import Testing

@testable import CorpusMaking
@testable import Vectors

/// Ids keep their meaning from version to version.
@Suite struct LedgerTests {
  private func ledger(_ version: String, _ meanings: [String: String]) throws -> CorpusLedger {
    var ledger = CorpusLedger(version: try #require(CorpusVersion(version)))
    ledger.release(ledger.version, meanings)
    return ledger
  }

  private func refusal(_ ledger: CorpusLedger, of version: String, _ meanings: [String: String]) throws -> String? {
    ledger.refusal(of: try #require(CorpusVersion(version)), for: ledger.differences(from: meanings))
  }

  @Test func `the committed ledger has exactly the committed cases`() throws {
    let suite = try CommittedCorpus.suite()
    let ledger = try #require(try CorpusLedger(in: SuiteFolder(suite.path)))
    #expect(ledger.differences(from: suite.meanings).isEmpty)
    #expect(ledger.entries.count >= 1_090 && suite.edition == ledger.version.description)
    #expect(try CorpusLedger(json: JSON(parsing: ledger.fileContent)) == ledger)
    #expect(try SuiteFolder(suite.path).read(CorpusLedger.fileName) == ledger.fileContent)
  }

  @Test func `a version is three numbers`() {
    #expect(CorpusVersion("1.10.0") != nil)
    for text in ["1.0", "1.0.0.0", "v1.0.0", "1.00.0", "+1.0.0", "1.-1.0", "", "1..0"] {
      #expect(CorpusVersion(text) == nil, "\(text)")
    }
    #expect(CorpusVersion("1.9.0").flatMap { nine in CorpusVersion("1.10.0").map { nine < $0 } } == true)
  }

  @Test func `new cases make a minor version at least, retired ones a major one`() throws {
    let first = try ledger("1.2.3", ["a": "proximity accepted", "b": "proximity rejected: x"])
    let same = ["a": "proximity accepted", "b": "proximity rejected: x"]
    #expect(try refusal(first, of: "1.2.4", same) == nil)
    #expect(try refusal(first, of: "1.2.3", same)?.contains("is above 1.2.3") == true)
    let more = same.merging(["c": "vical accepted"]) { one, _ in one }
    #expect(try refusal(first, of: "1.2.4", more) == "c is new: the next version is 1.3.0")
    #expect(try refusal(first, of: "1.3.0", more) == nil)
    #expect(try refusal(first, of: "1.3.0", ["a": "proximity accepted"]) == "b is gone: the next version is 2.0.0")
    #expect(try refusal(first, of: "2.0.0", ["a": "proximity accepted"]) == nil)
  }

  @Test func `an id neither changes its meaning nor comes back`() throws {
    var ledger = try ledger("1.0.0", ["a": "proximity accepted", "b": "proximity rejected: x"])
    let other = ["a": "proximity accepted", "b": "proximity rejected: y"]
    #expect(ledger.differences(from: other).changed == ["b"])
    #expect(try refusal(ledger, of: "2.0.0", other)?.contains("a new meaning needs a new id") == true)
    ledger.release(try #require(CorpusVersion("2.0.0")), ["a": "proximity accepted"])
    #expect(
      ledger.entries["b"]?.until == CorpusVersion("2.0.0") && ledger.entries["b"]?.since == CorpusVersion("1.0.0"))
    let back = ["a": "proximity accepted", "b": "proximity rejected: x"]
    #expect(ledger.differences(from: back).reused == ["b"])
    #expect(try refusal(ledger, of: "3.0.0", back) == "b was retired: its id is not used again")
  }

  @Test func `an open version takes more until it is closed, and binds only what was closed before`() throws {
    let two = try #require(CorpusVersion("2.0.0"))
    var ledger = try ledger("1.0.0", ["a": "proximity accepted", "b": "proximity rejected: x"])
    let first = ["a": "proximity accepted", "c": "vical accepted", "d": "vical accepted"]
    ledger.release(two, first, isOpen: true)
    #expect(try CorpusLedger(json: JSON(parsing: ledger.fileContent)) == ledger && ledger.isOpen)
    let second = ["a": "proximity accepted", "c": "vical rejected: y", "e": "proximity accepted"]
    #expect(ledger.differences(from: second) == .init(added: ["e"], missing: ["d"], changed: ["c"]))
    #expect(try refusal(ledger, of: "2.0.0", second) == nil)
    #expect(try refusal(ledger, of: "2.1.0", second) == "2.0.0 is open: it is closed before 2.1.0")
    for wrong in [["a": "proximity rejected: x"], second.merging(["b": "proximity rejected: x"]) { $1 }] {
      #expect(try refusal(ledger, of: "2.0.0", wrong) != nil)
    }
    ledger.release(two, second)
    #expect(!ledger.isOpen && ledger.entries["d"] == nil && ledger.entries["b"]?.until == two)
    #expect(ledger.entries["c"]?.meaning == "vical rejected: y" && ledger.differences(from: second).isEmpty)
    #expect(try refusal(ledger, of: "2.0.0", second)?.contains("is above 2.0.0") == true)
  }

  @Test func `lint finds a case that the ledger does not have, and one that is gone`() throws {
    let suite = try CommittedCorpus.suite()
    var ledger = try #require(try CorpusLedger(in: SuiteFolder(suite.path)))
    ledger.entries["good"] = nil
    ledger.entries["never-was"] = .init(since: ledger.version, until: nil, meaning: "proximity accepted")
    ledger.entries["element-twice"]?.meaning = "proximity accepted"
    ledger.entries["element-absent"]?.until = ledger.version
    let found = ledger.differences(from: suite.meanings)
    #expect(found.added == ["good"] && found.missing == ["never-was"])
    #expect(found.changed == ["element-twice"] && found.reused == ["element-absent"])
    #expect(found.findings.map(\.id) == ["good", "never-was", "element-twice", "element-absent"])
  }

  @Test(arguments: [
    (#"{"schema_version": 2, "version": "1.0.0", "ids": {}}"#, "/schema_version"),
    (#"{"schema_version": 1, "version": "one", "ids": {}}"#, "/version"),
    (#"{"schema_version": 1, "version": "1.0.0", "ids": {"a": {"since": "1", "means": "x"}}}"#, "/ids/a/since"),
    (#"{"schema_version": 1, "version": "1.0.0", "ids": {"a": {"since": "1.0.0"}}}"#, "/ids/a/means"),
  ])
  func `a ledger that is none is refused with the place`(text: String, pointer: String) throws {
    let json = try JSON(parsing: Array(text.utf8))
    let fault = #expect(throws: VectorError.self) { try CorpusLedger(json: json) }
    #expect(fault?.pointer == pointer)
  }
}
