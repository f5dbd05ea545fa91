import Base
import Cryptography
import Glibc
import Mock
import PKIX
import TestSupport
import Testing

@testable import App
@testable import TestMode

/// A live server: what it refuses to serve, and what it refuses to trust.
@Suite(.onOwnThreads) struct LiveModeTests {
  @Test func `a live server serves, without the mock wallet`() async throws {
    try await withFolder { path in
      try await LiveFolder(path).serve { server, api, log in
        #expect(server.mode == .live)
        let session = try await api.post("/v1/verification_sessions", TestBed.body(.standard))
        #expect(session.status == 201)
        #expect(session.json["livemode"] == true)
        for path in ["mock_responses", "opened_mock_responses", "diagnostics"] {
          let mock = try await api.post("/v1/test/\(path)", ["session": session.json["id"] ?? ""])
          #expect(mock.status == 404 && mock.code == "api.not_found", "\(path)")
        }
        #expect(try await api.get("/v1/trust_anchors").status == 403, "the key has no trust:read")
        #expect(try await api.with(nil).get("/console").status == 404, "the configuration has no console")
        #expect(try await api.get("/readyz").status == 200)
        #expect(log.all.count { $0.contains("server.started") } == 1)
        #expect(!log.text.contains("configuration.warning"))
      }
    }
  }

  /// T25.
  @Test func `mock certificates are not believed in live mode`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try await folder.serve { _, api, _ in
        let session = try await api.post("/v1/verification_sessions", TestBed.body(.standard))
        let nonce = try #require(session.json["requests"]?.array?.first?["data"]?["nonce"]?.string)
        let wallet = MockWallet(authority: try MockAuthority(seed: Array("live".utf8)))
        let answer = try wallet.answerApple(
          .standard,
          session: MockAppleSession(
            nonce: Base64.decode(nonce) ?? [], merchantID: "merchant.example.shop", teamID: "ABCDE12345",
            recipientKey: folder.merchantKey.publicKey),
          at: .systemNow())
        let reply = try await api.post(
          TestBed.path(session.json) + "/submit",
          ["protocol": "apple-in-app", "data": ["encrypted_data": .string(Base64.encode(answer.bytes))]])
        #expect(reply.json["status"] == "failed")
        let reasons = (reply.json["last_error"]?["reasons"]?.array ?? []).compactMap { $0["code"]?.string }
        #expect(reasons.contains("trust.test_certificate"))
        #expect(reply.json["result"] == .null)
        #expect(!reply.body.contains("Morgan"))
      }
    }
  }

  @Test func `metrics behind a proxy are for admin alone`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["behind_proxy": true])
      try await folder.serve { _, api, _ in
        #expect(try await api.with(nil).get("/metrics").status == 401)
        let reply = try await api.get("/metrics")
        #expect(reply.status == 403)
      }
    }
  }

  @Test func `a store of one mode is not served in the other`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      await (try folder.start()).stop()
      var options = TestModeOptions()
      options.store = .sqlite(path: path + "/mdoc.sqlite")
      #expect(throws: StartError.self) { try TestServer.start(options) }
      try await withTestMode(store: path + "/test.sqlite") { bed in _ = try await bed.createSession() }
      try folder.writeConfiguration(["store": "sqlite:test.sqlite"])
      let error = #expect(throws: StartError.self) { try folder.start() }
      #expect(error?.exitCode == 78)
      #expect(error?.message.contains("test mode") == true)
    }
  }

  @Test func `a taken port is no fault of the configuration`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try await folder.serve { server, _, _ in
        try folder.writeConfiguration([
          "listen": .string(server.listen.description), "store": "sqlite:other.sqlite",
        ])
        let error = #expect(throws: StartError.self) { try folder.start() }
        #expect(error?.exitCode == 75)
      }
    }
  }

  /// Tests the exit codes of failed starts. Signals would need a separate process.
  @Test func `run returns the exit code`() async throws {
    let code = await VerifierServer.run(configurationFile: "/nonexistent/mdoc.json")
    #expect(code == 78)
  }
}
