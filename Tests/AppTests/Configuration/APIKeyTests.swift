import Base
import Cryptography
import Sessions
import TestSupport
import Testing

@testable import App

/// API keys come and go by the configuration: several at a time, each until its end.
@Suite(.onOwnThreads) struct APIKeyTests {
  private static func configure(_ folder: LiveFolder, end: Int64) throws {
    let key = { (text: String, more: [JSON.Member]) -> JSON in
      let hash = Hex.encode(HashAlgorithm.sha256.hash(Array(text.utf8)))
      return .object([.init("sha256", .string(hash)), .init("scopes", ["sessions:write"])] + more)
    }
    let keys: [JSON] = [key("old", [.init("expires_at", .integer(end))]), key("new", [.init("id", "new-1")])]
    try folder.writeConfiguration(["relying_parties": [LiveFolder.party.with(.array(keys), at: "/api_keys")]])
  }

  @Test func `both keys of a rotation are good until the old one's end`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let end = Timestamp.systemNow() + 3_600
      try Self.configure(folder, end: end.secondsSince1970)
      let parties = try ConfigurationLoader(path: folder.configurationFile).load().relyingParties
      #expect(parties.owner(ofKey: "old", at: end - 1)?.relyingParty.id == "shop")
      #expect(parties.owner(ofKey: "old", at: end) == nil)
      #expect(parties.owner(ofKey: "new", at: end)?.keyID == "new-1")
      #expect(parties.nextKeyExpiry(after: end - 1) == end && parties.nextKeyExpiry(after: end) == nil)
      try await folder.serve { _, api, _ in
        #expect(try await api.with("old").get("/v1/verification_sessions").status == 200)
        let metrics = try await api.with(nil).get("/metrics").body
        #expect(metrics.contains("mdoc_api_key_next_expiry_timestamp_seconds \(end.secondsSince1970)\n"))
      }
    }
  }

  @Test func `an expired key is answered like one that nobody knows`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try Self.configure(folder, end: Timestamp.systemNow().secondsSince1970 - 1)
      let check = ConfigurationCheck(path: folder.configurationFile)
      #expect(check.problems == [] && check.warnings.map { $0.contains("the key has expired") } == [true])
      try await folder.serve { _, api, log in
        let expired = try await api.with("old").get("/v1/verification_sessions")
        let unknown = try await api.with("none").get("/v1/verification_sessions")
        #expect(expired.status == 401)
        #expect(expired.json.with(nil, at: "/request_id") == unknown.json.with(nil, at: "/request_id"))
        #expect(log.line(of: expired)?["api_key"] == nil)
      }
    }
  }
}
