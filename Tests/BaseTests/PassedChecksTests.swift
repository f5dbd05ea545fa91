import Base
import Testing

@Suite struct PassedChecksTests {
  /// Codes below these names are checks of an answer, a request or a list.
  private static let kinds = [
    "envelope.", "jwe.", "vp_token.", "proximity.", "cose.", "mdoc.", "zk.", "trust.", "revocation.", "policy.",
    "reader_auth.", "list.",
  ]

  /// What is said of requests, of the server and of entries of lists, never of a check that passed.
  private static let others: Set<Code> = [
    .zkNotProvable, .zkCircuitsMissing, .trustStoreEmpty, .listEntryMalformed, .listEntryMismatch,
    .listEntryNotGranted, .listSourceNotAllowed, .listUnavailable,
  ]

  @Test func `every check has a sentence for where it passed`() {
    for code in Code.allCases where Self.kinds.contains(where: code.rawValue.hasPrefix) {
      #expect((code.passedSentence != nil) == !Self.others.contains(code), "\(code.rawValue)")
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
