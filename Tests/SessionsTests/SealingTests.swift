import Base
import Cryptography
import FoundationEssentials
import Mdoc
import Stores
import TestStores
import Testing
import Trust

@testable import Sessions

@Suite("Sealing")
struct SealingTests {
  private func key(_ id: String, _ byte: UInt8) throws -> SealingKey {
    try SealingKey(id: id, key: SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
  }

  @Test("sealed data open only as their own field")
  func field() throws {
    let sealer = try Sealer([key("a", 1)])
    let one = try SessionID.random()
    let sealed = try sealer.seal([1, 2, 3], .result(one))
    #expect(try sealer.open(sealed, .result(one)).exposed() == [1, 2, 3])
    #expect(throws: Sealer.OpenError.self) { _ = try sealer.open(sealed, .retainedResult(one)) }
    #expect(throws: Sealer.OpenError.self) { _ = try sealer.open(sealed, .result(SessionID.random())) }
    #expect(try sealer.seal([1, 2, 3], .result(one)) != sealed)
    for index in sealed.indices {
      var damaged = sealed
      damaged[index] ^= 1
      #expect(throws: Sealer.OpenError.self) { _ = try sealer.open(damaged, .result(one)) }
      #expect(throws: Sealer.OpenError.self) { _ = try sealer.open(Array(sealed[..<index]), .result(one)) }
    }
  }

  @Test("the first key seals, all open")
  func rotation() throws {
    let id = try SessionID.random()
    let old = try Sealer([key("old", 1)]).seal([9], .result(id))
    let rotated = try Sealer([key("new", 2), key("old", 1)])
    #expect(try rotated.open(old, .result(id)).exposed() == [9])
    let new = try rotated.seal([9], .result(id))
    #expect(throws: Sealer.OpenError.self) { _ = try Sealer([key("old", 1)]).open(new, .result(id)) }
    #expect(throws: ConfigurationError.self) { try Sealer([]) }
    #expect(throws: ConfigurationError.self) { try Sealer([key("a", 1), key("a", 2)]) }
  }

  /// Made by another program, with its own AES-GCM and HKDF.
  @Test("records of both versions open, the newer under a key of the session's or the request's own")
  func versions() throws {
    let sealer = try Sealer([key("a", 1)])
    let id = try #require(SessionID("vs_" + String(repeating: "A", count: 22)))
    let claim = IdempotencyClaim(
      scope: [UInt8](repeating: 3, count: 32), bodyHash: [], token: [], relyingParty: "shop")
    let records: [(String, Sealer.Field, String)] = [
      (
        "010161000102030405060708090a0bd0c3e552009c7f598a0282e44600bad0dae61d6f87e22c6f1f5e4c157c86917ac53de0d40aa7d1cd62",
        .challenge(id, protocolName: "apple-in-app"), "kept by the first version"
      ),
      ("010161000102030405060708090a0bc9c3e54a599d7cbe7360890e54b0d3253991056091", .reply(claim, nil), "reply"),
      (
        "020161000102030405060708090a0bd36908773c0951191adbb926f1f9080a06e5ef4739dacc639623e9ab67baca7bcaa14cf3c11befbbf11f",
        .challenge(id, protocolName: "apple-in-app"), "kept by the second version"
      ),
      ("020161000102030405060708090a0be72d186ad701c03f9db87c1e0ebaaaad0539e17fd9", .reply(claim, nil), "reply"),
    ]
    for (hex, place, text) in records {
      let sealed = try #require(Hex.decode(hex))
      #expect(try sealer.open(sealed, place).exposed() == Array(text.utf8))
      // Neither is taken for the other version.
      #expect(throws: Sealer.OpenError.self) { _ = try sealer.open([sealed[0] ^ 3] + sealed.dropFirst(), place) }
      #expect(try sealer.seal([1], place)[0] == 2)
    }
  }

  @Test("live mode and staging need a key, and every mode a store of its own")
  func liveMode() throws {
    func start(_ mode: ServerMode, store: InMemoryStore, keys: [SealingKey]) throws {
      _ = try VerificationService(
        ServiceConfiguration(
          mode: mode, relyingParties: RelyingParties([]), protocols: [],
          trust: CurrentTrust(try Fixture.trust()), revocation: NoRevocationSource(), sealingKeys: keys), store: store
      ) { Timestamp(secondsSince1970: 0) }
    }
    let key = try key("a", 1)
    for mode in [ServerMode.live, .staging] {
      #expect(throws: ConfigurationError.self) { try start(mode, store: InMemoryStore(mode: mode), keys: []) }
    }
    for mode in ServerMode.allCases {
      try start(mode, store: InMemoryStore(mode: mode), keys: [key])
      for other in ServerMode.allCases where other != mode {
        #expect(throws: ConfigurationError.self) { try start(mode, store: InMemoryStore(mode: other), keys: [key]) }
      }
    }
    try start(.test, store: InMemoryStore(), keys: [])
  }

  @Test("a challenge whose sealing key is gone is consumed, and its session interrupted")
  func keyGone() async throws {
    let first = try Fixture()
    let (id, _) = try await first.create()
    let second = try Fixture(store: first.store, sealingKey: 8)
    let body = try await second.service.submit(Fixture.response("good"), to: id, as: second.full).body
    #expect(body.status == "failed" && body["last_error"]?["code"] == "session.interrupted" && !body.hasResult)
    #expect(
      await code { _ = try await first.service.submit(Fixture.response("good"), to: id, as: first.full) }
        == .sessionAlreadyUsed)
  }

  @Test("no value, no material and no client secret is readable in the SQLite file")
  func atRest() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "mdoc-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.path + "/s.sqlite"
    let fixture = try Fixture(store: SQLiteStore(path: path, mode: .test), retains: true)
    let creation = IdempotencyRequest(key: "k", method: "POST", path: "/v1", body: Fixture.creation.serialized())
    let created = try await fixture.service.createSession(Fixture.creation, as: fixture.full, idempotency: creation)
    let id = try #require(created.body["id"]?.string)
    let secret = try #require(created.body["client_secret"]?.string)
    let (other, holder) = try await fixture.create()
    let body = Fixture.response("good")
    let inline = try await fixture.service.submit(
      body, to: id, as: fixture.full,
      idempotency: IdempotencyRequest(key: "k", method: "POST", path: "/v1/submit", body: body.serialized()))
    #expect(inline.body.givenName == Fixture.personal)
    _ = try await fixture.service.submit(body, to: other, as: holder)
    let files = try [path, path + "-wal"].map { try Data(contentsOf: URL(filePath: $0)) }
    for forbidden in [Fixture.personal, "1990-04-12", "material of", secret] {
      for file in files { #expect(file.firstRange(of: Data(forbidden.utf8)) == nil) }
    }
    #expect(files.contains { $0.firstRange(of: Data(id.utf8)) != nil })
    let waiting = try await fixture.service.session(
      other, query: [QueryItem("expand[]", "result")], as: fixture.full)
    #expect(waiting.body.givenName == Fixture.personal)
    await fixture.store.close()
  }
}
