import Base
import CBOR
import Mock
import Sessions
import TestSupport
import Testing

@testable import App

/// Health, readiness, metrics, trust anchors, log lines.
@Suite(.onOwnThreads) struct OperationTests {
  @Test func `health and readiness say the mode`() async throws {
    try await withTestMode { bed in
      let health = try await bed.api.with(nil).get("/healthz")
      #expect(health.json["livemode"] == false)
      let ready = try await bed.api.with(nil).get("/readyz")
      #expect(ready.status == 200)
      #expect(ready.json["trust_anchors"]?.integer ?? 0 > 0)
      bed.clock.advance(60 * 366 * 86_400)
      let late = try await bed.api.with(nil).get("/readyz")
      #expect(late.status == 503)
      #expect(late.code == "trust.store_empty")
    }
  }

  @Test func `metrics are for this machine or for admin`() async throws {
    try await withTestMode { bed in
      _ = try await bed.api.get("/v1/trust_anchors")
      let local = try await bed.api.with(nil).get("/metrics")
      #expect(local.status == 200)
      #expect(
        local.body.contains("mdoc_http_requests_total{method=\"GET\",route=\"/v1/trust_anchors\",status=\"200\"} 1\n"))
      #expect(local.body.contains("mdoc_http_request_duration_seconds_count{route=\"/v1/trust_anchors\"} 1\n"))
      #expect(local.body.contains("mdoc_info{mode=\"test\",version=\"\(ProgramVersion.text)\"} 1\n"))
      #expect(local.body.contains("mdoc_http_requests_in_flight 1\n"))
      #expect(local.body.contains("mdoc_trust_anchor_next_expiry_timestamp_seconds "))
      // Another client's request, forwarded by a proxy on this machine.
      let proxied = try await bed.api.with(nil).get("/metrics", ["X-Forwarded-For": "203.0.113.7"])
      #expect(proxied.status == 401)
      #expect(try await bed.api.get("/metrics", ["X-Forwarded-For": "203.0.113.7"]).status == 200)
    }
  }

  @Test func `trust anchors are listed`() async throws {
    try await withTestMode { bed in
      let reply = try await bed.api.get("/v1/trust_anchors")
      let anchors = reply.json["data"]?.array ?? []
      #expect(anchors.count == bed.mode.anchors.count)
      let good = anchors.first { $0["source"] == "mock:iaca" }
      #expect(good?["subject"] == "CN=mdoc Mock IACA, O=mdoc Mock Issuing Authority, ST=US-UT, C=US")
      #expect(good?["doc_types"] == .array(MockPerson.allDocuments.map { .string($0.docType) }))
      #expect(reply.json["livemode"] == false)
    }
  }

  @Test func `the announcement has all that a client needs`() async throws {
    try await withTestMode { bed in
      let json = bed.mode.json
      #expect(json["livemode"] == false)
      #expect(json["base_url"]?.string == "http://127.0.0.1:\(bed.api.port)")
      #expect(json["api_key"]?.string == bed.mode.apiKey)
      #expect(json["trust_anchors"]?.array?.count == bed.mode.anchors.count)
      #expect(bed.mode.text.contains(bed.mode.apiKey))
    }
  }

  @Test func `a stop logs no request that nobody made`() async throws {
    let log = try await withTestMode { bed in
      _ = try await bed.api.get("/openapi.json")
      return bed.log
    }
    let events = log.all.compactMap { try? JSON(parsing: Array($0.utf8)) }.compactMap { $0["event"]?.string }
    #expect(events == ["server.started", "request", "server.stopping", "server.stopped"])
  }

  @Test func `one line a request, with the template and never the path, query or token`() async throws {
    try await withTestMode { bed in
      let marker = "Zq7marker"
      _ = try await bed.api.get("/v1/verification_sessions/\(marker)?expand[]=\(marker)")
      _ = try await bed.api.get("/\(marker)?\(marker)", [marker: marker])
      _ = try await bed.api.call(marker, "/healthz")
      _ = try await bed.api.with(marker).post("/v1/verification_sessions", [.init(stringLiteral: marker)])
      let refused = try await bed.api.post("/v1/verification_sessions", [marker == "" ? "" : "protocols": 1])
      #expect(!bed.log.text.contains(marker))
      let lines = bed.log.all.filter { $0.contains("\"event\":\"request\"") }
      #expect(lines.count == 5)
      let line = try #require(bed.log.line(of: refused))
      #expect(line["code"] == "api.invalid_request")
      #expect(line["level"] == "info")
      #expect(line["method"] == "POST")
      #expect(line["duration_ms"] != nil)
      let metrics = try await bed.api.with(nil).get("/metrics")
      #expect(!metrics.body.contains(marker))
    }
  }
}

/// `/v1/audit` over a server in test mode.
@Suite(.onOwnThreads) struct AuditRouteTests {
  @Test func `every attempt is in the entries, which verify against the heads`() async throws {
    try await withTestMode { bed in
      for variant in ["good", "digest-truncated", "good"] {
        let session = try await bed.createSession()
        _ = try await bed.submit(bed.mockAnswer(session, variant: variant), to: session)
        _ = try await bed.api.post(TestBed.path(session) + "/redact")
      }
      let heads = try await bed.api.get("/v1/audit/heads")
      #expect(heads.status == 200 && heads.header("Content-Type") == AuditLine.mediaType)
      let first = try await bed.api.get("/v1/audit/entries?node=node&limit=2")
      let rest = try await bed.api.get("/v1/audit/entries?node=node&after=2")
      let noted = lines(heads.body).compactMap { AuditLine(parsing: $0) }
      guard case .head(let head) = noted.first else { throw StoreError.corrupt("no head") }
      var verification = AuditVerification(noted: [head])
      for (index, line) in (lines(first.body) + lines(rest.body)).enumerated() {
        verification.read(line, at: AuditPosition(file: "page", line: index + 1))
      }
      verification.endFile("page")
      let verdict = verification.verdict()
      #expect(verdict.findings == [] && verdict.heads == [head] && verdict.entries == 3)
      #expect(try await bed.api.get("/metrics").body.contains("mdoc_audit_entries_total{node=\"node\"} 3\n"))
    }
  }

  @Test func `they are refused without an admin's key`() async throws {
    try await withTestMode { bed in
      for path in ["/v1/audit/heads", "/v1/audit/entries?node=node"] {
        let reply = try await bed.api.with(nil).get(path)
        #expect(reply.status == 401)
      }
      let reply = try await bed.api.get("/v1/audit/entries")
      #expect(reply.code == "api.invalid_request")
    }
  }

  @Test func `the node's name is the host's, or configured`() {
    func node(_ json: JSON) -> String? {
      var faults = Faults()
      return NodeName.shape.read(json, "", &faults)?.text
    }
    #expect(node("a-1.example") == "a-1.example")
    for wrong: JSON in ["A", "", 1, "a b"] { #expect(node(wrong) == nil) }
  }

  private func lines(_ body: String) -> [[UInt8]] { body.split(separator: "\n").map { Array($0.utf8) } }
}
