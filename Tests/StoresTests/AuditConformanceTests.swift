import Base
import Sessions
import Testing

@Suite("Every store keeps an audit entry of each attempt")
struct AuditConformanceTests {
  private func outcome(
    _ session: SessionRecord, _ attempt: AttemptID, _ conclusion: AttemptOutcome.Conclusion,
    _ report: ReportRecord? = nil
  ) -> AttemptOutcome {
    AttemptOutcome(
      address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: conclusion, report: report)
  }

  private func entries(_ store: any SessionStore) async throws -> [JSON] {
    let page = try await store.auditEntries(of: .standard, after: 0, limit: 100)
    var head = AuditHead(beginning: .standard)
    for link in page.links {
      head = head.appending(link.entry)
      #expect(link.head == head)
    }
    #expect(page.head == page.links.last?.head)
    #expect(try await store.auditHeads() == (page.head.map { [$0] } ?? []))
    return try page.links.map { try JSON(parsing: $0.entry) }
  }

  @Test("of each relying party apart, with hashes that are on the chain of all", arguments: StoreFactory.allCases)
  func own(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      for party in ["shop", "other", "shop", "other", "shop"] { _ = try await store.answer(of: party) }
      let all = try await store.auditEntries(of: .standard, after: 0, limit: 9)
      let own = try await store.auditEntries(of: .standard, "other", after: 0, limit: 1)
      #expect(own == AuditPage(links: [all.links[1]], head: all.links[3].head))
      let rest = try await store.auditEntries(of: .standard, "other", after: 2, limit: 9)
      #expect(rest.links == [all.links[3]])
      #expect(try await store.auditHeads(of: "other") == [all.links[3].head])
      #expect(try await store.auditHeads(of: "nobody") == [])
      #expect(
        try await store.auditEntries(of: .standard, "nobody", after: 0, limit: 9) == AuditPage(links: [], head: nil))
      // The noted head of a party's own entries is found in an export of all entries.
      let lines = AuditLine.bytes(of: all.links.map { .entry($0) } + [.head(try #require(all.head))])
      var verification = AuditVerification(noted: try await store.auditHeads(of: "other"))
      for (index, line) in lines.split(separator: UInt8(ascii: "\n")).enumerated() {
        verification.read(Array(line), at: AuditPosition(file: "a", line: index + 1))
      }
      verification.endFile("a")
      #expect(verification.verdict().findings == [])
    }
  }

  @Test("with its outcome, ids and codes, in one form", arguments: StoreFactory.allCases)
  func outcomes(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      #expect(try await entries(store).isEmpty)
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      #expect(try await entries(store).isEmpty)
      let report = try makeReport()
      _ = try await store.recordOutcome(outcome(session, attempt, failure, report), at: start + 1, finishing: nil)
      let expected: JSON = [
        "version": 1, "time": .integer((start + 1).secondsSince1970), "relying_party": "shop",
        "session": .string(session.address.id.text), "attempt": .string(attempt.text),
        "report": report.id.map { .string($0) } ?? .null, "protocol": "apple-in-app", "outcome": "failed",
        "codes": ["trust.issuer_unknown"], "trust_snapshot": "00",
        "revocation_policy": report.revocationPolicy.map { .string($0) } ?? .null, "evidence": .null, "livemode": false,
        "mode": "test",
        "program": .string(ProgramVersion.text),
      ]
      #expect(
        try await store.auditEntries(of: .standard, after: 0, limit: 9).links.map(\.entry) == [expected.serialized()])
      for conclusion in [
        AttemptOutcome.Conclusion.verified(.none), .canceled(LastError([Reason(.walletAccessDenied)])),
      ] {
        let session = try await store.add(makeSession())
        let attempt = try await store.take(session)
        _ = try await store.recordOutcome(outcome(session, attempt, conclusion), at: start, finishing: nil)
      }
      let found = try await entries(store)
      #expect(found.map { $0["outcome"] } == ["failed", "verified", "canceled"])
      #expect(found.map { $0["codes"] } == [["trust.issuer_unknown"], [], ["wallet.access_denied"]])
      #expect(found[1]["report"] == .null && found[1]["trust_snapshot"] == .null)
    }
  }

  @Test("also of one that was interrupted, once, and none for a late outcome", arguments: StoreFactory.allCases)
  func interrupted(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      _ = try await store.sweep(at: start + 30, limit: 10)
      #expect(try await entries(store).isEmpty)
      _ = try await store.recordOutcome(outcome(session, attempt, .verified(.none)), at: start + 31, finishing: nil)
      #expect(try await entries(store).isEmpty)
      for _ in 0..<2 { _ = try await store.sweep(at: start + 40, limit: 10) }
      _ = try await store.recordOutcome(outcome(session, attempt, .verified(.none)), at: start + 20, finishing: nil)
      let found = try await entries(store)
      #expect(found.count == 1)
      #expect(found.first?["outcome"] == "failed" && found.first?["codes"] == ["session.interrupted"])
      #expect(found.first?["attempt"]?.string == attempt.text && found.first?["protocol"] == "apple-in-app")
      #expect(found.first?["time"]?.integer == (start + 40).secondsSince1970)
    }
  }

  @Test("also of one whose session was redacted meanwhile", arguments: StoreFactory.allCases)
  func redacted(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      let late = try await store.add(makeSession())
      _ = try await store.take(late)
      _ = try await store.redact(session.address, at: start + 1)
      _ = try await store.recordOutcome(outcome(session, attempt, .verified(.none)), at: start + 2, finishing: nil)
      _ = try await store.redact(late.address, at: start + 31)
      let found = try await entries(store)
      #expect(found.map { $0["outcome"] } == ["redacted", "failed"])
      #expect(found.map { $0["codes"] } == [[], ["session.interrupted"]])
    }
  }

  @Test("and none of what was no attempt", arguments: StoreFactory.allCases)
  func none(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let canceled = try await store.add(makeSession())
      _ = try await store.cancel(canceled.address, at: start)
      _ = try await store.redact(canceled.address, at: start)
      _ = try await store.add(makeSession(lifetime: 30))
      _ = try await store.sweep(at: start + 100, limit: 10)
      #expect(try await entries(store).isEmpty)
    }
  }

  @Test("redaction and age take nothing from it", arguments: StoreFactory.allCases)
  func kept(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      let attempt = try await store.take(session)
      _ = try await store.recordOutcome(
        outcome(session, attempt, failure, try makeReport()), at: start, finishing: nil)
      let before = try await store.auditEntries(of: .standard, after: 0, limit: 9)
      _ = try await store.redact(session.address, at: start + 1)
      let count = try await store.sweep(at: start + 10 * Limits.sessionRetention, limit: 100)
      #expect(count.sessionsDeleted == 1)
      #expect(try await store.session(session.address) == nil)
      #expect(try await store.auditEntries(of: .standard, after: 0, limit: 9) == before)
    }
  }

  @Test("they are read in pages, of one node", arguments: StoreFactory.allCases)
  func pages(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      for _ in 0..<5 {
        let session = try await store.add(makeSession())
        let attempt = try await store.take(session)
        _ = try await store.recordOutcome(outcome(session, attempt, failure), at: start, finishing: nil)
      }
      let page = try await store.auditEntries(of: .standard, after: 1, limit: 3)
      #expect(page.links.map(\.head.sequence) == [2, 3, 4] && page.head?.sequence == 5)
      #expect(try await store.auditEntries(of: .standard, after: 5, limit: 3).links.isEmpty)
      let other = try #require(NodeName("other"))
      #expect(try await store.auditEntries(of: other, after: 0, limit: 3) == AuditPage(links: [], head: nil))
    }
  }
}
