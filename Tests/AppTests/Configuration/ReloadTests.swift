import Base
import Cryptography
import FoundationEssentials
import Sessions
import TestSupport
import Testing

@testable import App

/// The configuration is reloaded while the server runs: as a whole, or not at all.
@Suite(.onOwnThreads) struct ReloadTests {
  private static func key(_ text: String, _ scopes: [JSON], _ more: [JSON.Member] = []) -> JSON {
    let hash = Hex.encode(HashAlgorithm.sha256.hash(Array(text.utf8)))
    return .object([.init("sha256", .string(hash)), .init("scopes", .array(scopes))] + more)
  }

  /// The shop with the operator's key, and the one of the tests, and others.
  private static func parties(_ keys: [JSON], hasFirst: Bool = true, origin: JSON = "https://shop.example") -> JSON {
    let first = key(LiveFolder.apiKey, ["sessions:write", "results:read"])
    let all = [key("operator", ["admin", "server:operate", "trust:read"])] + (hasFirst ? [first] : []) + keys
    return [LiveFolder.party.with(.array(all), at: "/api_keys").with([origin], at: "/origins")]
  }

  private static func withServer(
    _ body: (LiveFolder, APIClient, APIClient, LogCapture) async throws -> Void
  ) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["relying_parties": parties([])])
      try await folder.serve { _, api, log in try await body(folder, api, api.with("operator"), log) }
    }
  }

  private static func create(_ api: APIClient) async throws -> APIClient.Reply {
    try await api.post("/v1/verification_sessions", TestBed.body(.standard))
  }

  @Test func `a key that a reload adds is good, and one that it removes is not`() async throws {
    try await Self.withServer { folder, api, admin, log in
      #expect(try await Self.create(api.with("second")).status == 401)
      let second = Self.key("second", ["sessions:write"], [.init("id", "2026-12")])
      try folder.writeConfiguration(["relying_parties": Self.parties([second])])
      #expect(try await admin.post("/v1/config/reload").json["relying_parties"] == 1)
      let made = try await Self.create(api.with("second"))
      #expect(made.status == 201 && log.line(of: made)?["api_key"] == "2026-12")
      #expect(try await Self.create(api).status == 201, "both are good while both are listed")
      try folder.writeConfiguration(["relying_parties": Self.parties([second], hasFirst: false)])
      #expect(try await admin.post("/v1/config/reload").status == 200)
      #expect(try await Self.create(api).code == "api.unauthenticated")
      #expect(try await api.with("second").get(TestBed.path(made.json)).status == 200)
    }
  }

  @Test func `a session from before the reload is answered, its sealing key being listed still`() async throws {
    try await Self.withServer { folder, api, admin, _ in
      let session = try await Self.create(api).json
      try folder.write("new.key", Random.bytes(32))
      let rotated: JSON = [["id": "2026-12", "file": "new.key"], ["id": "2026-11", "file": "sealing.key"]]
      let parties = Self.parties([])
      try folder.writeConfiguration(["sealing_keys": rotated, "relying_parties": parties])
      #expect(try await admin.post("/v1/config/reload").status == 200)
      #expect(Self.code(try await Self.submit(api, session))?.hasPrefix("envelope.") == true)
      let late = try await Self.create(api).json
      // Without its key a challenge cannot be opened; what the new key sealed can.
      let next = try await Self.create(api).json
      try folder.write("other.key", Random.bytes(32))
      try folder.writeConfiguration([
        "sealing_keys": [["id": "2027-01", "file": "other.key"]], "relying_parties": parties,
      ])
      #expect(try await admin.post("/v1/config/reload").status == 200)
      let unreadable = try await Self.submit(api, late)
      try folder.writeConfiguration(["sealing_keys": rotated, "relying_parties": parties])
      #expect(try await admin.post("/v1/config/reload").status == 200)
      let readable = try await Self.submit(api, next)
      #expect(Self.code(unreadable) == "session.interrupted", "\(unreadable.body)")
      #expect(Self.code(readable)?.hasPrefix("envelope.") == true, "\(readable.body)")
    }
  }

  private static func code(_ reply: APIClient.Reply) -> String? { reply.json["last_error"]?["code"]?.string }

  /// An envelope for another recipient: the challenge is consumed and opened before this is detected.
  private static func submit(_ api: APIClient, _ session: JSON) async throws -> APIClient.Reply {
    try await api.post(
      TestBed.path(session) + "/submit",
      ["protocol": "apple-in-app", "data": ["encrypted_data": .string(Base64.encode([0xa0]))]])
  }

  @Test func `a broken file keeps the old configuration in force, and everything says so`() async throws {
    try await Self.withServer { folder, api, admin, log in
      let good = try Data(contentsOf: URL(filePath: folder.configurationFile))
      try folder.write("mdoc.json", Array("{".utf8))
      let reply = try await admin.post("/v1/config/reload")
      #expect(reply.status == 409 && reply.code == "api.configuration_reload_failed" && reply.errors == [""])
      try folder.writeConfiguration(["clock_skew": -1, "relying_parties": []])
      #expect(try await admin.post("/v1/config/reload").errors == ["/clock_skew", "/relying_parties"])
      #expect(try await Self.create(api).status == 201)
      let ready = try await api.with(nil).get("/readyz")
      #expect(ready.status == 200 && ready.json["status"] == "degraded")
      #expect(ready.json["configuration"]?["is_current"] == false)
      let metrics = try await api.with(nil).get("/metrics").body
      #expect(metrics.contains("mdoc_configuration_reload_failures_total 2\n"))
      #expect(metrics.contains("mdoc_configuration_current 0\n"))
      #expect(log.all.contains { $0.contains("configuration.reload_failed") && $0.contains("/clock_skew") })
      try folder.write("mdoc.json", [UInt8](good))
      #expect(try await admin.post("/v1/config/reload").status == 200)
      #expect(try await api.with(nil).get("/readyz").json["status"] == "ready")
      #expect(try await api.with(nil).get("/metrics").body.contains("mdoc_configuration_current 1\n"))
    }
  }

  @Test(arguments: ["mode", "listen", "behind_proxy", "store", "stop_notice", "stop_drain"])
  func `what needs a restart is refused as such`(member: String) async throws {
    let values: [String: JSON] = [
      "listen": "127.0.0.1:9", "behind_proxy": true, "store": "sqlite:other.sqlite", "stop_notice": 9, "stop_drain": 9,
      "mode": "staging",
    ]
    try await Self.withServer { folder, api, admin, log in
      try folder.writeConfiguration(["relying_parties": Self.parties([]), member: values[member] ?? .null])
      #expect(try await admin.post("/v1/config/reload").errors == ["/\(member)"])
      #expect(log.all.contains { $0.contains("/\(member): cannot change while the server runs; restart it") })
      #expect(try await Self.create(api).status == 201)
    }
  }

  @Test func `members that need a restart are those that this suite knows`() {
    #expect(
      Set(ConfigurationSchema.fixedMembers) == [
        "mode", "listen", "behind_proxy", "tls", "trusted_proxies", "proxy_header", "store", "node", "stop_notice",
        "stop_drain",
      ])
  }

  @Test func `trust comes with the configuration, and bad trust keeps both`() async throws {
    try await Self.withServer { folder, api, admin, _ in
      let before = try await admin.get("/v1/trust_anchors").json["trust_snapshot"]
      let second = Self.key("second", ["sessions:write"])
      try folder.write("trust/iaca.json", Array("{\"doc_types\": [\"org.example\"]}".utf8))
      #expect(try await admin.post("/v1/config/reload").status == 200)
      let after = try await admin.get("/v1/trust_anchors").json["trust_snapshot"]
      #expect(before != after)
      try folder.write("trust/other.pem", Array("no certificate".utf8))
      try folder.writeConfiguration(["relying_parties": Self.parties([second])])
      #expect(try await admin.post("/v1/config/reload").errors == ["/trust"])
      #expect(try await Self.create(api.with("second")).status == 401)
      #expect(try await admin.get("/v1/trust_anchors").json["trust_snapshot"] == after)
      // The API's own reload of trust reads the folders that are in force.
      try FileManager.default.removeItem(atPath: folder.path + "/trust/other.pem")
      #expect(try await admin.post("/v1/trust/reload").status == 200)
    }
  }

  @Test func `pages of a new origin may call after the reload`() async throws {
    try await Self.withServer { folder, api, admin, _ in
      let session = try await Self.create(api).json
      let headers = ["Origin": "https://new.example", "Access-Control-Request-Method": "GET"]
      let before = try await api.call("OPTIONS", TestBed.path(session), nil, headers)
      #expect(before.header("Access-Control-Allow-Origin") == nil)
      try folder.writeConfiguration(["relying_parties": Self.parties([], origin: "https://new.example")])
      #expect(try await admin.post("/v1/config/reload").status == 200)
      let after = try await api.call("OPTIONS", TestBed.path(session), nil, headers)
      #expect(after.header("Access-Control-Allow-Origin") == "https://new.example")
    }
  }

  @Test func `reloads drop no request`() async throws {
    try await Self.withServer { folder, api, admin, _ in
      let other = Self.parties([Self.key("second", ["sessions:write"])])
      try await withThrowingTaskGroup(of: [Int].self) { group in
        for _ in 0..<4 {
          group.addTask {
            var statuses: [Int] = []
            for _ in 0..<25 { statuses.append(try await Self.create(api).status) }
            return statuses
          }
        }
        group.addTask {
          var statuses: [Int] = []
          for round in 0..<8 {
            try folder.writeConfiguration(["relying_parties": round.isMultiple(of: 2) ? other : Self.parties([])])
            statuses.append(try await admin.post("/v1/config/reload").status)
          }
          return statuses
        }
        for try await statuses in group { #expect(Set(statuses).isSubset(of: [200, 201])) }
      }
      #expect(try await api.with(nil).get("/metrics").body.contains("mdoc_configuration_reload_failures_total 0\n"))
    }
  }

  @Test func `a reload is for admin, and for live mode`() async throws {
    try await Self.withServer { _, api, _, _ in
      let forbidden = try await api.post("/v1/config/reload")
      let unknown = try await api.with(nil).post("/v1/config/reload")
      #expect(forbidden.code == "api.forbidden" && unknown.code == "api.unauthenticated")
    }
    try await withTestMode { bed in
      let reply = try await bed.api.post("/v1/config/reload")
      #expect(reply.code == "api.configuration_reload_failed")
    }
  }
}
