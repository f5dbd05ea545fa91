import Base
import Cryptography
import Mock
import PKIX
import TestSupport
import Testing

@testable import App

/// Staging: anchors of sandboxes count, and nothing else is laxer than in live mode.
@Suite(.onOwnThreads) struct StagingTests {
  /// A folder whose only anchor is of the tier `test`.
  private static func sandbox(_ path: String, _ changes: [String: JSON] = ["mode": "staging"]) throws -> LiveFolder {
    let folder = try LiveFolder(path)
    try folder.write("trust/iaca.json", Array(#"{ "tier": "test", "doc_types": ["org.iso.18013.5.1.mDL"] }"#.utf8))
    try folder.writeConfiguration(changes)
    return folder
  }

  @Test func `an anchor of the tier test counts in staging alone`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path)
      #expect(ConfigurationCheck(path: folder.configurationFile).problems == [])
      for changes: [String: JSON] in [[:], ["mode": "live"]] {
        try folder.writeConfiguration(changes)
        let problems = ConfigurationCheck(path: folder.configurationFile).problems
        #expect(problems.map(\.pointer) == ["/trust"])
        #expect(problems.first?.detail.hasPrefix("no trust anchor for live mode") == true)
      }
    }
  }

  @Test func `an anchor of the tier live counts in staging as well`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["mode": "staging"])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems == [])
    }
  }

  @Test func `every reply of a staging server says so`() async throws {
    try await withFolder { path in
      try await Self.sandbox(path).serve { server, api, log in
        #expect(server.mode == .staging)
        let session = try await api.post("/v1/verification_sessions", TestBed.body(.standard))
        #expect(session.status == 201 && session.json["livemode"] == false)
        for path in ["/healthz", "/readyz"] {
          let reply = try await api.get(path)
          #expect(reply.status == 200 && reply.json["livemode"] == false && reply.json["mode"] == "staging")
        }
        #expect(try await api.get("/metrics").body.contains("mdoc_info{mode=\"staging\"} 1\n"))
        let started = try #require(log.all.first { $0.contains("server.started") })
        #expect(started.contains(#""livemode":false,"mode":"staging""#))
      }
    }
  }

  @Test func `there is no mock wallet and no page in staging`() async throws {
    try await withFolder { path in
      try await Self.sandbox(path).serve { _, api, _ in
        let session = try await api.post("/v1/verification_sessions", TestBed.body(.standard))
        let mock = try await api.post("/v1/test/mock_responses", ["session": session.json["id"] ?? ""])
        #expect(mock.status == 404 && mock.code == "api.not_found")
        #expect(try await api.get("/playground").status == 404)
      }
    }
  }

  @Test func `mock documents are not believed in staging, and their values are not shown`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path)
      try await folder.serve { _, api, _ in
        let session = try await api.post("/v1/verification_sessions", TestBed.body(.standard))
        let nonce = try #require(session.json["requests"]?.array?.first?["data"]?["nonce"]?.string)
        // The sandbox's own root, whose signers have the mock's marker.
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
        let reasons = (reply.json["last_error"]?["reasons"]?.array ?? []).compactMap { $0["code"]?.string }
        #expect(reply.json["status"] == "failed" && reasons == ["trust.test_certificate"])
        #expect(reply.json["result"] == .null && reply.json["simulated_result"] == nil)
      }
    }
  }

  @Test func `a root of the mock authority stops a start in staging`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path)
      let mock = try MockAuthority(seed: [1]).anchor(at: .systemNow())
      try folder.write("trust/mock.pem", Array(PEM.encode(certificate: mock.certificate).utf8))
      try folder.write("trust/mock.json", Array(#"{ "tier": "test" }"#.utf8))
      let problems = ConfigurationCheck(path: folder.configurationFile).problems
      #expect(problems.map(\.pointer) == ["/trust"])
      #expect(problems.first?.detail.contains("is a root of the mock issuer") == true)
    }
  }

  @Test func `a list may have a signer of the tier test, and whom it names is of that tier`() async throws {
    try await withFolder { path in
      let list: JSON = ["name": "sandbox", "vical": "https://lists.example/vc", "signer_anchors": ["trust/iaca.pem"]]
      let folder = try Self.sandbox(path, ["mode": "staging", "trust": ["trust/", list]])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems == [])
      try folder.writeConfiguration(["trust": [list]])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems.map(\.pointer) == ["/trust/0/signer_anchors"])
    }
  }

  @Test func `staging needs a sealing key`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path, ["mode": "staging", "sealing_keys": []])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems.map(\.pointer) == ["/sealing_keys"])
    }
  }

  @Test func `a store of staging is served by no live server, and the reverse`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      for (first, second) in [("staging", "live"), ("live", "staging")] {
        try folder.writeConfiguration(["mode": .string(first), "store": .string("sqlite:\(first).sqlite")])
        await (try folder.start()).stop()
        try folder.writeConfiguration(["mode": .string(second), "store": .string("sqlite:\(first).sqlite")])
        let error = #expect(throws: StartError.self) { try folder.start() }
        #expect(error?.exitCode == 78 && error?.message.contains("is a store of \(first) mode") == true)
      }
    }
  }
}
