import Base
import Sessions
import Testing

@Suite("Every store erases what is kept on its day")
struct RetentionConformanceTests {
  private static let day: Int64 = 86_400
  private let bundle: [UInt8] = [7, 7, 7]

  private func keep(_ store: any SessionStore, _ kept: KeptValues) async throws -> SessionAddress {
    let session = try await store.add(makeSession())
    let attempt = try await store.take(session)
    let outcome = AttemptOutcome(
      address: session.address, attempt: attempt, protocolName: "apple-in-app",
      conclusion: .verified(SealedResults(kept: kept, evidence: .kept)), report: nil, evidence: bundle)
    #expect(try await store.recordOutcome(outcome, at: start, finishing: nil).isRecorded)
    return session.address
  }

  private func part(_ days: Int64) -> KeptValues.Part {
    KeptValues.Part(eraseAt: start + days * Self.day, sealed: [UInt8(days)])
  }

  @Test("each part goes on its day, and the session after the last", arguments: StoreFactory.allCases)
  func parts(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let address = try await keep(store, KeptValues(parts: [part(3), part(40)]))
      let short = try await keep(store, KeptValues(parts: [part(3)]))
      #expect(try await store.sweep(at: start + 3 * Self.day - 1, limit: 10).valuesErased == 0)
      #expect(try await store.session(address)?.results.kept.parts == [part(3), part(40)])
      #expect(try await store.sweep(at: start + 3 * Self.day, limit: 1).valuesErased == 1)
      #expect(try await store.sweep(at: start + 3 * Self.day, limit: 1).valuesErased == 1)
      #expect(try await store.session(address)?.results.kept.parts == [part(40)])
      #expect(try await store.session(short)?.results.kept == KeptValues())
      #expect(try await store.sweep(at: start + 39 * Self.day, limit: 10).sessionsDeleted == 1)
      #expect(try await store.session(short) == nil)
      #expect(try await store.session(address)?.results.kept.parts == [part(40)])
      let last = try await store.sweep(at: start + 40 * Self.day, limit: 10)
      #expect(last.valuesErased == 1 && last.sessionsDeleted == 1)
      #expect(try await store.session(address) == nil)
    }
  }

  @Test("a bundle of evidence goes on its own day", arguments: StoreFactory.allCases)
  func evidence(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let address = try await keep(store, KeptValues(parts: [part(40)], evidenceUntil: start + 5 * Self.day))
      _ = try await store.sweep(at: start + 5 * Self.day - 1, limit: 10)
      #expect(try await store.evidence(address) == bundle)
      _ = try await store.sweep(at: start + 5 * Self.day, limit: 10)
      #expect(try await store.evidence(address) == nil)
      let results = try #require(try await store.session(address)?.results)
      #expect(results.evidence == .erased && results.kept == KeptValues(parts: [part(40)]))
    }
  }

  @Test("redaction erases all of it at once", arguments: StoreFactory.allCases)
  func redacted(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let address = try await keep(store, KeptValues(parts: [part(40)], evidenceUntil: start + 40 * Self.day))
      #expect(try await store.redact(address, at: start + 1).changed?.results == SealedResults.none)
      // Nothing holds the record any longer.
      let count = try await store.sweep(at: start + Limits.sessionRetention + 1, limit: 10)
      #expect(count.valuesErased == 0 && count.sessionsDeleted == 1)
    }
  }

  @Test("what an earlier version kept, one sealed result, goes with its session")
  func legacy() throws {
    let end = start + Limits.sessionRetention
    #expect(try KeptValues(stored: [1, 2, 3], end: end).parts == [KeptValues.Part(eraseAt: end, sealed: [1, 2, 3])])
    let kept = KeptValues(parts: [part(3)], evidenceUntil: start)
    #expect(try KeptValues(stored: kept.stored, end: end) == kept)
    #expect(KeptValues().stored == nil)
    #expect(throws: StoreError.self) { try KeptValues(stored: Array("{}".utf8), end: end) }
    // Unreadable values are not kept forever.
    #expect(KeptValues.left(of: Array("{}".utf8), at: end).kept == KeptValues())
  }
}
