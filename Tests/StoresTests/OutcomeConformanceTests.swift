import Base
import Testing

@testable import Sessions

@Suite("Every store keeps outcomes")
struct OutcomeConformanceTests {
  private static let part = KeptValues.Part(eraseAt: start + 86_400, sealed: [4])
  private let sealed = SealedResults(expiresAt: start + 600, waiting: [1, 2, 3], kept: KeptValues(parts: [Self.part]))

  @Test(
    "an outcome is recorded with its results and its report, which also has a name of its own in older stores",
    arguments: StoreFactory.allCases, [true, false])
  func recorded(_ factory: StoreFactory, _ isNamedAfterSession: Bool) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let report = try makeReport(of: isNamedAfterSession ? session.address.id : nil)
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(sealed),
        report: report)
      #expect(try await store.recordOutcome(outcome, at: start + 1, finishing: nil).isRecorded)
      let stored = try #require(try await store.session(session.address))
      #expect(stored.state == .verified(at: start + 1))
      #expect(stored.results == sealed)
      #expect(stored.report == report)
      let id = try #require(report.id.flatMap(ReportID.init))
      #expect(try await store.report(id, of: "shop") == report)
      #expect(try await store.report(id, of: "other") == nil)
      #expect(try await store.refusal(session.address) == .sessionAlreadyUsed)
    }
  }

  @Test("a late failure never overwrites a verified result (S07)", arguments: StoreFactory.allCases)
  func late(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let verified = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(sealed),
        report: nil)
      #expect(try await store.recordOutcome(verified, at: start, finishing: nil).isRecorded)
      let failed = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: failure, report: nil)
      #expect(try await store.recordOutcome(failed, at: start, finishing: nil).isRecorded == false)
      let stored = try #require(try await store.session(session.address))
      #expect(stored.state == .verified(at: start))
      #expect(stored.results == sealed)
    }
  }

  @Test("a wallet's refusal is kept with its reason, through redaction too", arguments: StoreFactory.allCases)
  func refusedByWallet(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let error = LastError([Reason(.walletAccessDenied)], walletDescription: "Ada would not.")
      let refusal = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .canceled(error),
        report: nil)
      #expect(try await store.recordOutcome(refusal, at: start + 2, finishing: nil).isRecorded)
      let stored = try #require(try await store.session(session.address))
      #expect(stored.state == .canceled(at: start + 2, lastError: error))
      #expect(stored.results == .none && stored.clientSecretHash == session.clientSecretHash)
      #expect(stored.offers.allSatisfy { $0.sealedMaterial == nil })
      #expect(try await store.refusal(session.address) == .sessionCanceled)
      let listed = try await store.sessions(of: "shop", SessionQuery(status: .canceled), at: start + 3)
      #expect(listed?.entries.map(\.address) == [stored.address])
      #expect(listed?.entries.first?.state == stored.state)
      let redacted = try #require(try await store.redact(session.address, at: start + 3).changed)
      #expect(redacted.state == .redacted(at: start + 3, lastError: LastError([Reason(.walletAccessDenied)])))
      #expect(try await store.session(session.address) == redacted)
    }
  }

  @Test("an outcome needs the attempt that consumed the challenge", arguments: StoreFactory.allCases)
  func attempt(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let stranger = AttemptOutcome(
        address: session.address, attempt: try AttemptID.random(), protocolName: "apple-in-app",
        conclusion: .verified(sealed), report: nil)
      #expect(try await store.recordOutcome(stranger, at: start, finishing: nil).isRecorded == false)
      _ = try await store.take(session)
      #expect(try await store.recordOutcome(stranger, at: start, finishing: nil).isRecorded == false)
      #expect(try await store.session(session.address)?.state.status == .processing)
    }
  }

  @Test("after 30 seconds an attempt is interrupted, and its outcome too late", arguments: StoreFactory.allCases)
  func interrupted(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(sealed),
        report: nil)
      let processing = try #require(try await store.session(session.address))
      #expect(processing.state(at: start + 30).status == .processing)
      #expect(processing.state(at: start + 31) == .failed(.interrupted, at: start + 31))
      #expect(try await store.recordOutcome(outcome, at: start + 31, finishing: nil).isRecorded == false)
      #expect(try await store.recordOutcome(outcome, at: start + 30, finishing: nil).isRecorded)
    }
  }

  @Test("redaction leaves ids, times, status and codes (S08)", arguments: StoreFactory.allCases)
  func redacted(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let report = try makeReport()
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: failure, report: report)
      _ = try await store.recordOutcome(outcome, at: start, finishing: nil)
      let record = try #require(try await store.redact(session.address, at: start + 9).changed)
      #expect(try await store.session(session.address) == record)
      guard case .redacted(let time, let error) = record.state else {
        Issue.record("not redacted")
        return
      }
      #expect(time == start + 9)
      #expect(error?.code == "trust.issuer_unknown")
      #expect(record.content == nil && record.offers.isEmpty && record.results == .none)
      #expect(record.clientSecretHash == nil)
      #expect(record.report == report.redacted())
      #expect(try await store.refusal(session.address) == .sessionRedacted)
      #expect(try await store.redact(session.address, at: start + 10).refused == record)
    }
  }

  @Test(
    "an answer that is being verified while its session is redacted comes to nothing", arguments: StoreFactory.allCases)
  func redactedMeanwhile(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      _ = try await store.redact(session.address, at: start)
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(sealed),
        report: nil)
      #expect(try await store.recordOutcome(outcome, at: start, finishing: nil).isRecorded == false)
      #expect(try await store.session(session.address)?.results == SealedResults.none)
    }
  }

  @Test("the sweep writes what time has done", arguments: StoreFactory.allCases)
  func sweep(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let expiring = try await store.add(makeSession(lifetime: 30))
      let interrupted = try await store.add(makeSession())
      _ = try await store.take(interrupted)
      let verified = try await store.add(makeSession())
      let attempt = try await store.take(verified)
      _ = try await store.recordOutcome(
        AttemptOutcome(
          address: verified.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(sealed),
          report: nil),
        at: start, finishing: nil)
      #expect(try await store.sweep(at: start + 29, limit: 10).total == 0)
      let count = try await store.sweep(at: start + 600, limit: 10)
      #expect(count.expired == 1 && count.interrupted == 1 && count.resultsErased == 1)
      let expired = try #require(try await store.session(expiring.address))
      #expect(expired.state == .expired)
      #expect(expired.offers.allSatisfy { $0.sealedMaterial == nil })
      #expect(try await store.refusal(expiring.address) == .sessionExpired)
      #expect(try await store.session(interrupted.address)?.state == .failed(.interrupted, at: start + 31))
      let erased = try #require(try await store.session(verified.address))
      #expect(erased.results.waiting == nil && erased.results.kept.parts == [Self.part])
      #expect(erased.results.expiresAt == start + 600)
      let deleted = try await store.sweep(at: start + Limits.sessionRetention + 30, limit: 10)
      #expect(deleted.sessionsDeleted == 2)
      #expect(try await store.session(verified.address) == nil)
    }
  }
}
