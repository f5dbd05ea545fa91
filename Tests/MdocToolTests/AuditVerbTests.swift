import Base
import Sessions
import Stores
import Testing

@testable import MdocTool

/// `mdoc audit`.
@Suite struct AuditVerbTests {
  /// A store's file with attempts.
  private func makeStore(_ path: String, attempts: Int) async throws {
    let store = try SQLiteStore(path: path, mode: .test)
    let now = Timestamp(secondsSince1970: 1_795_000_000)
    for _ in 0..<attempts {
      let address = SessionAddress(relyingParty: "shop", id: try SessionID.random())
      let attempt = try AttemptID.random()
      try await store.create(
        SessionRecord(
          address: address, created: now, expiresAt: now + 600, clientSecretHash: nil, content: nil,
          offers: [ProtocolOffer(protocolName: "apple-in-app", data: JSONText([:]), sealedMaterial: [1])]),
        finishing: nil)
      _ = try await store.consume(address, protocolName: "apple-in-app", attempt: attempt, at: now)
      _ = try await store.recordOutcome(
        AttemptOutcome(
          address: address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(.none), report: nil),
        at: now, finishing: nil)
    }
    await store.close()
  }

  @Test func anExportVerifiesAndAChangedOneIsRejected() async throws {
    let scratch = try Scratch()
    try await makeStore(scratch("s.sqlite"), attempts: 3)
    let export = await Run("audit", "export", "--store", scratch("s.sqlite"), "--out", scratch("a.jsonl"))
    #expect(export.status == 0, "\(export.error)")
    #expect(
      await Run("audit", "export", "--store", "sqlite:" + scratch("s.sqlite")).output
        == String(decoding: scratch.read("a.jsonl"), as: UTF8.self))
    let good = await Run("audit", "verify", scratch("a.jsonl"))
    #expect(good.status == 0 && good.output.contains("VERIFIED  3 entries of 1 node, up to\n  node  3  "))
    let text = String(decoding: scratch.read("a.jsonl"), as: UTF8.self)
    try scratch.write("b.jsonl", text.replacing("\"sequence\":2,", with: "\"sequence\":7,"))
    let bad = await Run("audit", "verify", scratch("b.jsonl"))
    #expect(bad.status == 1 && bad.output.contains("FAILED  audit.") && bad.output.contains("REJECTED"))
    let lines = text.split(separator: "\n")
    try scratch.write("heads.jsonl", String(lines[3]))
    try await makeStore(scratch("t.sqlite"), attempts: 3)
    _ = await Run("audit", "export", "--store", scratch("t.sqlite"), "--out", scratch("t.jsonl"))
    let other = await Run("audit", "verify", scratch("t.jsonl"), "--heads", scratch("heads.jsonl"), "--json")
    let json = try other.json()
    #expect(other.status == 1 && json["accepted"] == false && json["entries"] == 3)
    #expect(json["findings"]?.array?.map { $0["code"] } == ["audit.head_not_on_chain"])
  }

  @Test func whatCannotBeReadIsSaid() async throws {
    let scratch = try Scratch()
    #expect(await Run("audit", "verify", scratch("none")).status == 65)
    #expect(await Run("audit", "verify", try scratch.write("a", ""), "--heads", scratch("none")).status == 65)
    #expect(await Run("audit", "verify", scratch("a"), "--heads", try scratch.write("h", "x\n")).status == 65)
    #expect(await Run("audit", "verify", scratch("a")).output.contains("audit.head_missing"))
    #expect(await Run("audit", "export").status == 64)
    #expect(await Run("audit", "export", "--store", scratch("none")).status == 75)
    #expect(await Run("audit", "export", "--config", scratch("none")).status == 78)
    try await makeStore(scratch("s.sqlite"), attempts: 1)
    let taken = await Run("audit", "export", "--store", scratch("s.sqlite"), "--out", scratch("a"))
    #expect(taken.status == 65 && taken.hasOneLineOfError && scratch.read("a").isEmpty)
  }
}
