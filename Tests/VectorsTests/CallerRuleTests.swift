import Base
import Testing

@testable import Vectors

/// The rules that a verifier leaves to its caller.
@Suite struct CallerRuleTests {
  private func run(
    leaving leaves: [CallerRule], only filter: String, accepting: Bool = true
  ) async throws -> [String: VectorResult] {
    var runner = VectorRunner(try CommittedCorpus.suite(), subject: "other") { _ in Judgement(isAccepted: accepting) }
    (runner.leaves, runner.filter) = (leaves, filter)
    let results = try await runner.run().results
    return Dictionary(uniqueKeysWithValues: results.map { ($0.summary.id, $0) })
  }

  @Test(arguments: [
    (CallerRule.strict, "strict-good"), (.testCertificates, "mock-root-in-live-mode"),
    (.revocation, "zk-status-required"), (.minimumAge, "minimum-age-reached"),
    (.allDocuments, "all-documents-one-missing"), (.anchors, "signer-pinned"), (.anchors, "anchor-other-doc-type"),
    (.anchors, "document-lote"),
  ])
  func `a case about a rule is left out with that rule only`(rule: CallerRule, id: String) async throws {
    let others = CallerRule.allCases.filter { $0 != rule && $0 != .acceptance }
    #expect(try await run(leaving: [rule], only: id)[id]?.skipReason == rule.reason)
    #expect(try #require(try await run(leaving: others, only: id)[id]).skipReason == nil)
  }

  @Test func `a good case is about no rule`() async throws {
    #expect(try await run(leaving: CallerRule.allCases, only: "good")["good"]?.outcome == .passed)
  }

  @Test(arguments: [
    "age-contradictory", "age-type-text", "age-over-2", "document-second", "documents-empty", "document-unrequested",
    "annex-c-all-documents-one-missing", "body-10-megabytes", "zk-documents-alone", "encrypted-documents-alone",
  ])
  func `what a comparison with the request finds is left out once it is accepted`(id: String) async throws {
    let accepted = try #require(try await run(leaving: [.acceptance], only: id)[id])
    #expect(accepted.skipReason == CallerRule.acceptance.reason)
    let rejected = try #require(try await run(leaving: [.acceptance], only: id, accepting: false)[id])
    #expect(rejected.outcome == .passed)
    let kept = try #require(try await run(leaving: [], only: id)[id])
    #expect(kept.problem?.hasPrefix("accepted, expected refusal") == true)
  }

  /// The last has a fault that a comparison finds, and another.
  @Test(arguments: ["issuer-signature-bit-flipped", "expiry-date-passed", "document-second-untrusted"])
  func `what no comparison finds counts`(id: String) async throws {
    #expect(try #require(try await run(leaving: CallerRule.allCases, only: id)[id]).problem != nil)
  }
}
