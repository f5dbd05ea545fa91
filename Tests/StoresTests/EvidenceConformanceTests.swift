import Base
import Testing

@testable import Sessions

@Suite("Every store keeps evidence")
struct EvidenceConformanceTests {
  private let bundle: [UInt8] = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  /// A verified session with a bundle, which holds the outcome's `evidence`.
  private func keep(_ store: any SessionStore, _ status: EvidenceStatus = .kept) async throws -> SessionRecord {
    let session = try await store.add(makeSession())
    let attempt = try await store.take(session)
    let outcome = AttemptOutcome(
      address: session.address, attempt: attempt, protocolName: "apple-in-app",
      conclusion: .verified(SealedResults(evidence: status)), report: nil, evidence: status == .kept ? bundle : nil)
    #expect(try await store.recordOutcome(outcome, at: start, finishing: nil).isRecorded)
    return session
  }

  @Test("a bundle is recorded with its outcome, and read by its own relying party", arguments: StoreFactory.allCases)
  func kept(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await keep(store)
      #expect(try await store.session(session.address)?.results.evidence == .kept)
      #expect(try await store.evidence(session.address) == bundle)
      let foreign = SessionAddress(relyingParty: "other", id: session.address.id)
      #expect(try await store.evidence(foreign) == nil)
      for status in [EvidenceStatus.declined, .tooLarge] {
        let other = try await keep(store, status)
        #expect(try await store.session(other.address)?.results.evidence == status)
        #expect(try await store.evidence(other.address) == nil)
      }
    }
  }

  @Test("an outcome with a kept reply has its evidence too", arguments: StoreFactory.allCases)
  func withReply(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let request = IdempotencyRequest(key: "k", method: "POST", path: "/v1/x", body: [])
      let claim = try IdempotencyClaim(request, of: "shop")
      #expect(try await store.beginIdempotent(claim, at: start).isStarted)
      let completion = IdempotencyCompletion(claim: claim, reply: StoredReply(session: session.address.id, body: [3]))
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app",
        conclusion: .verified(SealedResults(evidence: .kept)), report: nil, evidence: bundle)
      #expect(try await store.recordOutcome(outcome, at: start, finishing: completion).isRecorded)
      #expect(try await store.evidence(session.address) == bundle)
      let again = try IdempotencyClaim(request, of: "shop")
      #expect(try await store.beginIdempotent(again, at: start).reply == completion.reply)
    }
  }

  @Test("an outcome that comes too late leaves none", arguments: StoreFactory.allCases)
  func late(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app",
        conclusion: .verified(SealedResults(evidence: .kept)), report: nil, evidence: bundle)
      #expect(try await store.recordOutcome(outcome, at: start + 31, finishing: nil).isRecorded == false)
      #expect(try await store.evidence(session.address) == nil)
    }
  }

  @Test("redaction erases it, and so does the session's deletion", arguments: StoreFactory.allCases)
  func erased(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let redacted = try await keep(store)
      let old = try await keep(store)
      let record = try #require(try await store.redact(redacted.address, at: start + 1).changed)
      #expect(record.results == .none)
      #expect(try await store.evidence(redacted.address) == nil)
      _ = try await store.sweep(at: start + Limits.sessionRetention - 1, limit: 10)
      #expect(try await store.evidence(old.address) == bundle)
      _ = try await store.sweep(at: start + Limits.sessionRetention, limit: 10)
      #expect(try await store.evidence(old.address) == nil)
    }
  }
}
