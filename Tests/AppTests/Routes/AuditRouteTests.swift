import Base
import Sessions
import TestSupport
import Testing

@testable import App

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
        verification.read(line, at: AuditPlace(file: "page", line: index + 1))
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

  @Test func `the node's name is the host's, or configured`() throws {
    func node(_ json: JSON) throws -> String {
      try NodeName(configured: Schema.Object(json, by: ConfigurationSchema.root.schema, in: Schema.Reading())).text
    }
    #expect(try node(["node": "a-1.example"]) == "a-1.example")
    for wrong: JSON in ["A", "", 1, "a b"] { #expect(throws: Schema.Fault.self) { try node(["node": wrong]) } }
  }

  private func lines(_ body: String) -> [[UInt8]] { body.split(separator: "\n").map { Array($0.utf8) } }
}
