import Base
import Testing

@testable import Sessions

@Suite("The audit entries of a service")
struct AuditTests {
  private func texts(_ fixture: Fixture) async throws -> [String] {
    try await fixture.store.auditEntries(of: .standard, after: 0, limit: 100).links.map {
      String(decoding: $0.entry, as: UTF8.self)
    }
  }

  @Test("there is one for every attempt, with its protocol, report and codes")
  func attempts() async throws {
    let fixture = try Fixture()
    for word in ["good", "bad", "no", "sealed no"] {
      let id = try await fixture.create().id
      _ = try await fixture.service.submit(Fixture.response(word), to: id, as: fixture.full)
      // Refused without an attempt, and without an entry.
      #expect(
        await code { _ = try await fixture.service.submit(Fixture.response("good"), to: id, as: fixture.full) } != nil)
    }
    let entries = try await texts(fixture).map { try JSON(parsing: Array($0.utf8)) }
    #expect(entries.map { $0["outcome"] } == ["verified", "failed", "canceled", "canceled"])
    #expect(
      entries.map { $0["codes"] } == [
        [], ["envelope.transcript_mismatch"], ["wallet.access_denied"], ["wallet.access_denied"],
      ])
    #expect(entries.map { $0["trust_snapshot"]?.string } == ["5eed", "5eed", nil, "5eed"])
    #expect(entries.allSatisfy { $0["protocol"] == "apple-in-app" && $0["relying_party"] == "shop" })
    for entry in entries where entry["report"] != .null {
      let id = try #require(entry["report"]?.string)
      #expect(try await fixture.service.report(id, as: fixture.full).status == 200)
    }
  }

  @Test("nothing in them is personal, nor a reference, metadata or the name of an element")
  func secrecy() async throws {
    let fixture = try Fixture(retains: true)
    for word in ["good", "bad", "no"] {
      let id = try await fixture.create().id
      _ = try await fixture.service.submit(Fixture.response(word), to: id, as: fixture.full)
    }
    let text = try await texts(fixture).joined(separator: "\n")
    let secrets = [
      Fixture.personal, "1990", "order-17", "metadata", "\"k\"", "given_name", "birth_date", "org.iso", "age_over",
      "nonce", "material", "vcs_", "shop-key",
    ]
    #expect(!text.isEmpty && secrets.filter { text.contains($0) } == [])
    let members = try await texts(fixture).map { try JSON(parsing: Array($0.utf8)).object?.map(\.name) }
    #expect(
      Set(members) == [
        [
          "version", "time", "relying_party", "session", "attempt", "report", "protocol", "outcome", "codes",
          "trust_snapshot", "revocation_policy", "evidence", "livemode", "mode", "program",
        ]
      ])
  }

  @Test("an admin reads its own relying party's, and with audit:read_all those of all")
  func scopes() async throws {
    let fixture = try Fixture()
    for caller in [fixture.full, fixture.foreign, fixture.full] {
      let id = try await fixture.service.createSession(Fixture.creation, as: caller).body["id"]?.string
      _ = try await fixture.service.submit(Fixture.response("good"), to: try #require(id), as: caller)
    }
    func read(_ caller: Caller) async throws -> (entries: [JSON?], heads: [AuditLine]) {
      func lines(_ bytes: [UInt8]) -> [AuditLine] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { AuditLine(parsing: Array($0)) }
      }
      let entries = lines(
        try await fixture.service.auditEntries(query: [QueryItem("node", "node")], as: caller).bytes
      ).compactMap { line in
        if case .entry(let link) = line { try? JSON(parsing: link.entry) } else { nil }
      }
      return (entries.map { $0["relying_party"] }, lines(try await fixture.service.auditHeads(as: caller).bytes))
    }
    let foreign = RelyingParty(id: "other")
    let own = try await read(.apiKey(foreign, scopes: [.admin]))
    #expect(own.entries == ["other"])
    let all = try await read(.apiKey(foreign, scopes: [.auditReadAll]))
    #expect(all.entries == ["shop", "other", "shop"])
    #expect(try await read(.apiKey(foreign, scopes: [.auditReadAll, .admin])).heads == all.heads)
    #expect(own.heads.count == 1 && own.heads != all.heads)
    #expect(try await read(.apiKey(RelyingParty(id: "third"), scopes: [.admin])).heads == [])
  }

  @Test("their query is read strictly")
  func access() async throws {
    let fixture = try Fixture()
    let admin = Caller.apiKey(fixture.shop, scopes: [.admin])
    let node = QueryItem("node", "node")
    #expect(try await fixture.service.auditHeads(as: admin).bytes == [])
    #expect(try await fixture.service.auditEntries(query: [node], as: admin).bytes == [])
    for query in [
      [], [QueryItem("node", "No")], [node, node], [node, QueryItem("after", "-1")], [node, QueryItem("limit", "0")],
      [node, QueryItem("limit", "1001")],
    ] {
      #expect(
        await code { _ = try await fixture.service.auditEntries(query: query, as: admin) } == .apiInvalidRequest)
    }
    let unknown = [node, QueryItem("x", "1")]
    #expect(await code { _ = try await fixture.service.auditEntries(query: unknown, as: admin) } == .apiUnknownMember)
  }
}
