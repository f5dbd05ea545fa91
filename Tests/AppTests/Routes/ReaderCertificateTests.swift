import Base
import Mock
import TestSupport
import Testing

@testable import App

/// Readers' certificates near and past their end.
@Suite(.onOwnThreads) struct ReaderCertificateTests {
  @Test func `an expired reader signs nothing, and is reported`() async throws {
    try await withTestMode { bed in
      func readers() async throws -> JSON {
        let ready = try await bed.api.with(nil).get("/readyz")
        #expect(ready.status == 200)
        return ready.json["reader_certificates"] ?? .null
      }
      let signed = TestBed.body(
        .standard, protocols: ["openid4vp-v1-signed"], extra: [.init("origin", .string(TestBed.origin))])
      let name = "mdoc_reader_certificate_next_expiry_timestamp_seconds"
      #expect(try await readers() == ["count": 1, "expired": 0, "expiring": 0])
      #expect(try await bed.api.get("/metrics").body.contains("\(name) 18"))

      // The reader's certificate is valid for 390 days from 1 September 2026. The time of the test is 18 November.
      bed.clock.advance(290 * 86_400)
      #expect(try await readers() == ["count": 1, "expired": 0, "expiring": 1])
      #expect(try await bed.api.post("/v1/verification_sessions", signed).status == 201)
      #expect(try await bed.api.get("/metrics").body.contains("mdoc_reader_certificates{state=\"expiring\"} 1\n"))

      bed.clock.advance(30 * 86_400)
      #expect(try await readers() == ["count": 1, "expired": 1, "expiring": 0])
      let refused = try await bed.api.post("/v1/verification_sessions", signed)
      #expect(refused.status == 503 && refused.code == "api.reader_certificate_expired")
      #expect(try await bed.createSession(by: "openid4vp-v1-unsigned")["status"] == "requires_input")
      let metrics = try await bed.api.get("/metrics").body
      #expect(metrics.contains("mdoc_reader_certificates{state=\"expired\"} 1\n"))
      #expect(!metrics.contains("\n\(name) "))
    }
  }

  @Test(arguments: [(-1, "is expired or not yet valid"), (10, "expires at"), (300, nil)] as [(Int64, String?)])
  func `a live server says at its start whose certificate needs renewal`(days: Int64, message: String?) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader(until: .systemNow() + days * 86_400)
      try folder.writeConfiguration(["relying_parties": [LiveFolder.partyWithReader()]])
      try await folder.serve { _, api, log in
        let ready = try await api.get("/readyz")
        #expect(ready.status == 200)
        let warnings = log.all.filter { $0.contains("configuration.warning") && $0.contains("the reader certificate") }
        #expect(warnings.count == (message == nil ? 0 : 1))
        if let message { #expect(warnings.first?.contains(message) == true, "\(warnings)") }
      }
    }
  }

  @Test func `a live relying party asks by web protocols, signed with its own reader`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader()
      try folder.writeConfiguration([
        "relying_parties": [LiveFolder.partyWithReader()], "public_url": "https://id.example",
      ])
      try await folder.serve { _, api, log in
        let web = try await api.post(
          "/v1/verification_sessions",
          TestBed.body(.standard, protocols: WebProtocolTests.web, extra: [.init("origin", "https://shop.example")]))
        #expect(web.status == 201)
        #expect(web.json["digital_credential_requests"]?.array?.count == 4)
        let redirect = try await api.post(
          "/v1/verification_sessions", TestBed.body(.standard, protocols: ["openid4vp"]))
        let data = redirect.json["requests"]?.array?.first?["data"]
        let id = redirect.json["id"]?.string ?? ""
        #expect(data?["request_uri"]?.string == "https://id.example/v1/wallet/shop/\(id)/request")
        #expect(try await api.with(nil).get("/v1/wallet/shop/\(id)/request").status == 200)
        // Off by default.
        let annexB = try await api.post(
          "/v1/verification_sessions", TestBed.body(.standard, protocols: ["openid4vp-iso-18013-7-annex-b"]))
        #expect(annexB.code == "api.protocol_unsupported")
        #expect(!log.text.contains("configuration.warning"), "\(log.text)")
      }
    }
  }

  @Test func `without a reader or a public address there is nothing signed and nothing to fetch`() async throws {
    try await withFolder { path in
      try await LiveFolder(path).serve { _, api, _ in
        for name in ["openid4vp-v1-signed", "openid4vp-v1-multisigned", "openid4vp"] {
          let extra: [JSON.Member] = name == "openid4vp" ? [] : [.init("origin", "https://shop.example")]
          let reply = try await api.post(
            "/v1/verification_sessions", TestBed.body(.standard, protocols: [name], extra: extra))
          #expect(reply.status == 400 && reply.code == "api.protocol_unsupported", "\(name)")
        }
      }
    }
  }
}
