import Base
import Mdoc
import Mock
import Testing

@testable import Vectors

/// Vectors of revocation: who is asked what, and what a verifier that does not ask lets pass.
@Suite struct RevocationVectorTests {
  private let suite: VectorSuite
  private let vectors: [TestVector]

  init() throws {
    suite = try CommittedCorpus.suite()
    vectors = suite.entries.filter { $0.group == "revocation" }.map(\.vector)
  }

  @Test func `names are unique and summaries are sentences`() {
    let cases = MockRevocationCase.all
    #expect(Set(cases.map(\.name)).count == cases.count && cases.count > 150)
    #expect(cases.filter { $0.summary.last != "." }.map(\.name) == [])
    for made in cases { #expect(made.codes == Code.allCases.filter(made.codes.contains), "\(made.name)") }
  }

  /// No issuer, no question: a document that nobody trusts makes nobody fetch anything.
  @Test func `there are questions exactly where a case says so`() throws {
    let verifier = OwnVerifier(anchors: suite.anchors)
    for vector in vectors {
      let made = try #require(MockRevocationCase.named(vector.id))
      guard let authentication = try verifier.authenticate(vector, vector.input.bytes) else { continue }
      let isAsked = !authentication.questions.isEmpty
      #expect(isAsked == made.isAsked, "\(vector.id)")
    }
  }

  /// Every one of these is a right document otherwise, so that nothing but revocation decides.
  @Test func `what is refused for revocation passes where nothing is asked`() async throws {
    let verifier = OwnVerifier(anchors: suite.anchors)
    let refused = vectors.filter { $0.expectation.codes.first?.hasPrefix("revocation.") == true }
    #expect(refused.count > 100)
    for vector in refused {
      var unasked = vector
      unasked.policy.revocation = .off
      #expect(await verifier.judge(unasked).isAccepted, "\(vector.id)")
    }
  }

  /// Without its publications a list is not there, which is never taken for a good one.
  @Test func `a list that nobody publishes is not known`() async throws {
    let verifier = OwnVerifier(anchors: suite.anchors)
    let accepted = vectors.filter {
      $0.expectation.isAccepted && $0.policy.revocation == .requireGood && !$0.publications.isEmpty
    }
    #expect(accepted.count > 15)
    for vector in accepted {
      var unpublished = vector
      unpublished.publications = []
      #expect(await verifier.judge(unpublished).codes == [Code.revocationUnavailable.rawValue], "\(vector.id)")
    }
  }
}
