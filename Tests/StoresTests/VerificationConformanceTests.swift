import Base
import Testing

@testable import Sessions

@Suite("Every store keeps reports of verifications without a session")
struct VerificationConformanceTests {
  @Test(
    "the report and the audit entry, for its own relying party, and no session or event",
    arguments: StoreFactory.allCases)
  func kept(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let id = try SessionID.random()
      let address = SessionAddress(relyingParty: "shop", id: id)
      let outcome = AttemptOutcome(
        address: address, attempt: try AttemptID.random(), protocolName: "session_transcript", conclusion: failure,
        report: try makeReport(of: id))
      let before = try await store.usage(of: "shop", at: start)
      try await store.recordVerification(outcome, at: start)
      #expect(try await store.report(ReportID(of: id), of: "shop") == outcome.report)
      #expect(try await store.report(ReportID(of: id), of: "other") == nil)
      #expect(try await store.session(address) == nil)
      #expect(try await store.sessions(of: "shop", SessionQuery(), at: start)?.entries.isEmpty == true)
      #expect(try await store.auditEntries(of: .standard, after: 0, limit: 9).links.count == 1)
      let usage = try await store.usage(of: "shop", at: start)
      #expect(usage.bytes > before.bytes + StoreUsage.sessionOverhead && usage.openSessions == 0)
      #expect(try await store.sweep(at: start + Limits.sessionRetention - 1, limit: 10).verificationsDeleted == 0)
      #expect(try await store.sweep(at: start + Limits.sessionRetention, limit: 10).verificationsDeleted == 1)
      #expect(try await store.report(ReportID(of: id), of: "shop") == nil)
      #expect(try await store.auditEntries(of: .standard, after: 0, limit: 9).links.count == 1)
    }
  }
}
