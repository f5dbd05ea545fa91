import Base
import Testing

@testable import Sessions

@Suite struct CodeRegistryTests {
  @Test func `every code is in one group`() {
    #expect(Set(Code.allCases).count == Code.allCases.count)
    #expect(Code.allCases.allSatisfy { Code(rawValue: $0.rawValue) == $0 && $0.registered == $0 })
    #expect(Code(rawValue: "mdoc.digest") == nil && Code(named: "test.unregistered").registered == nil)
  }

  @Test(arguments: Code.allCases)
  func `a code is named by dotted words in lower case`(code: Code) throws {
    #expect(try /[a-z0-9_]+(\.[a-z0-9_]+)+/.wholeMatch(in: code.rawValue) != nil)
  }

  @Test(arguments: Code.allCases)
  func `every code says what it means and what to do`(code: Code) {
    let entry = code.entry
    #expect(!entry.summary.isEmpty)
    #expect(!entry.clause.isEmpty)
    #expect(!entry.remedy.isEmpty)
    #expect(entry.summary.last != ".", "a summary is a phrase of a table")
    #expect(entry.remedy.last == ".", "a remedy is a sentence")
  }

  // MARK: The HTTP status

  @Test(arguments: Code.allCases)
  func `what the API refuses has a status of its own, a verdict has 200`(code: Code) {
    let isRefusal = code.rawValue.hasPrefix("api.")
    #expect(
      isRefusal ? (400...599).contains(code.httpStatus) : [200, 400, 403, 404, 409, 410, 503].contains(code.httpStatus))
  }

  /// A warning is a finding about a document; a request that fails as such is never one.
  @Test func `a warning is never a failed request`() {
    #expect(Code.allCases.filter { $0.entry.isWarning && $0.httpStatus != 200 } == [])
  }

  // MARK: The sentence of a check that passed

  /// Codes below these names are checks of a response, a request or a list.
  private static let kinds = [
    "envelope.", "jwe.", "vp_token.", "proximity.", "cose.", "mdoc.", "zk.", "trust.", "revocation.", "policy.",
    "reader_auth.", "request.", "list.",
  ]

  /// Codes of requests, of the server and of entries of lists, never of a passed check.
  private static let others: Set<Code> = [
    .zkNotProvable, .zkCircuitsMissing, .trustStoreEmpty, .listEntryMalformed, .listEntryMismatch,
    .listEntryNotGranted, .listSourceNotAllowed, .listUnavailable,
  ]

  @Test func `every check has a sentence for where it passed`() {
    for code in Code.allCases where Self.kinds.contains(where: code.rawValue.hasPrefix) {
      #expect((code.passedSentence != nil) == !Self.others.contains(code), "\(code)")
    }
  }

  @Test func `no two checks say the same, and none says what its fault says`() {
    let sentences = Code.allCases.compactMap(\.passedSentence)
    #expect(sentences.count > 150 && Set(sentences).count == sentences.count)
    for code in Code.allCases { #expect(code.passedSentence != code.entry.summary) }
    for sentence in sentences {
      #expect(sentence.first?.isUppercase == true || sentence.hasPrefix("vp"), "\(sentence)")
      #expect(sentence.last != ".", "\(sentence)")
    }
  }
}
