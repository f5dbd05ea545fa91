import Base
import Mock
import TestSupport
import Testing

@testable import App

/// Sessions from creation to result, over HTTP.
@Suite(.onOwnThreads) struct FlowTests {
  @Test func `a good answer is verified and gives what was asked for`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(
        extra: [.init("client_reference_id", "order-17"), .init("metadata", ["k": "v"])])
      #expect(session["status"] == "requires_input")
      #expect(session["livemode"] == false)
      #expect(session["client_reference_id"] == "order-17")
      let reply = try await bed.submit(bed.mockAnswer(session), to: session)
      #expect(reply.status == 200)
      #expect(reply.json["status"] == "verified")
      #expect(reply.json["last_error"] == .null)
      let document = reply.json["result"]?["documents"]?.array?.first
      #expect(document?["elements"]?["org.iso.18013.5.1"]?["given_name"] == "Ada")
      #expect(document?["elements"]?["org.iso.18013.5.1"]?["birth_date"] == "1990-04-12")
      #expect(document?["age_over"]?.array?.first?["answer"] == true)
      let line = try #require(bed.log.line(of: reply))
      #expect(line["route"] == "/v1/verification_sessions/{id}/submit")
      #expect(line["session"] == session["id"])
      #expect(line["relying_party"] == "test")
      #expect(line["status"] == 200)

      let later = try await bed.api.get(TestBed.path(session))
      #expect(later.json["status"] == "verified")
      #expect(later.json["result"] == .null, "an inline result is not stored")
      let id = try #require(later.json["report"]?["id"]?.string)
      let report = try await bed.api.get("/v1/verification_reports/\(id)")
      #expect(report.json == later.json["report"])
    }
  }

  /// The page is not in the contract: programs read the JSON.
  @Test func `a report is a page for whom asks for one, and has no value`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let variants = [("good", "good\">VERIFIED at "), ("device-signature-zero", "bad\">REJECTED at ")]
      for (variant, verdict) in variants {
        let session = variant == "good" ? session : try await bed.createSession()
        let reply = try await bed.submit(bed.mockAnswer(session, variant: variant), to: session)
        let id = try #require(reply.json["report"]?["id"]?.string)
        func get(_ accept: String) async throws -> RawClient.Response {
          let (port, token) = (bed.api.port, bed.api.token ?? "")
          return try await blocking {
            let client = try RawClient(port: port, timeout: 30)
            let head = "GET /v1/verification_reports/\(id) HTTP/1.1\r\nHost: localhost\r\n"
            client.send(Array("\(head)Authorization: Bearer \(token)\r\nAccept: \(accept)\r\n\r\n".utf8))
            return try client.response()
          }
        }
        for accept in ["text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json;q=0.5, text/html"] {
          let page = try await get(accept)
          #expect(page.status == 200 && page.header("Content-Type") == "text/html; charset=utf-8", "\(accept)")
          #expect(page.header("Content-Security-Policy")?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
          #expect(page.header("Content-Security-Policy")?.contains("script") == false)
          #expect(page.header("Content-Security-Policy")?.hasSuffix("frame-ancestors 'none'") == true)
          #expect(page.header("Vary") == "Accept" && page.header("Cache-Control") == "no-store")
          #expect(page.body.contains("<h1 class=\"verdict \(verdict)") && page.body.contains(id))
          #expect(page.body.contains("<code>mdoc.device_auth.signature_invalid</code>"))
          #expect(!page.body.contains("Ada") && !page.body.contains("1990-04-12") && !page.body.contains("<script"))
        }
        for accept in ["*/*", "application/json", "text/html, application/json", "text/html;q=0", "text/*"] {
          let report = try await get(accept)
          #expect(report.header("Content-Type") == "application/json", "\(accept)")
          #expect(report.header("Vary") == "Accept")
        }
      }
    }
  }

  @Test func `the same answer twice is refused the second time`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let answer = try await bed.mockAnswer(session)
      #expect(try await bed.submit(answer, to: session).json["status"] == "verified")
      let second = try await bed.submit(answer, to: session)
      #expect(second.status == 409)
      #expect(second.code == "session.already_used")
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "verified")
    }
  }

  @Test func `of fifty answers at once exactly one is verified`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let answer = try await bed.mockAnswer(session)
      let replies = try await withThrowingTaskGroup(of: APIClient.Reply.self) { group in
        for _ in 0..<50 { group.addTask { try await bed.submit(answer, to: session) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(replies.count { $0.status == 200 && $0.json["status"] == "verified" } == 1)
      // Or refused for load, on a slow machine: nothing was then consumed.
      let others: Set = ["session.already_used", "api.overloaded"]
      #expect(replies.count { $0.code.map(others.contains) ?? false } == 49)
    }
  }

  @Test func `a failed session stays failed`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let answer = try await bed.mockAnswer(session)
      let broken: JSON = ["protocol": "apple-in-app", "data": ["encrypted_data": "oA=="]]
      #expect(try await bed.submit(broken, to: session).json["status"] == "failed")
      #expect(try await bed.submit(answer, to: session).code == "session.already_used")
    }
  }

  @Test func `the answer to one session is no answer to another`() async throws {
    try await withTestMode { bed in
      let first = try await bed.createSession()
      let second = try await bed.createSession()
      let reply = try await bed.submit(bed.mockAnswer(first), to: second)
      #expect(reply.json["status"] == "failed")
      #expect(reply.json["last_error"]?["code"] == "envelope.transcript_mismatch")
      #expect(reply.json["result"] == .null)
      #expect(try await bed.api.get(TestBed.path(first)).json["status"] == "requires_input")
    }
  }

  @Test func `canceled, redacted and expired sessions take no answer`() async throws {
    try await withTestMode { bed in
      let canceled = try await bed.createSession()
      let redacted = try await bed.createSession()
      let expired = try await bed.createSession()
      let answers = try await (bed.mockAnswer(canceled), bed.mockAnswer(redacted), bed.mockAnswer(expired))
      #expect(try await bed.api.post(TestBed.path(canceled) + "/cancel").json["status"] == "canceled")
      #expect(try await bed.api.post(TestBed.path(redacted) + "/redact", [:]).json["status"] == "redacted")
      #expect(try await bed.submit(answers.0, to: canceled).code == "session.canceled")
      #expect(try await bed.submit(answers.1, to: redacted).code == "session.redacted")
      #expect(try await bed.api.post(TestBed.path(canceled) + "/cancel").code == "session.canceled")
      #expect(try await bed.api.post("/v1/test/mock_responses", ["session": redacted["id"] ?? ""]).status == 410)
      bed.clock.advance(600)
      let late = try await bed.submit(answers.2, to: expired)
      #expect(late.status == 410)
      #expect(late.code == "session.expired")
    }
  }

  @Test func `usage is read beside the quota`() async throws {
    try await withTestMode { bed in
      _ = try await bed.createSession()
      let usage = try await bed.api.get("/v1/usage")
      #expect(usage.json["open_sessions"] == ["used": 1, "limit": 50_000], "\(usage.body)")
      #expect(usage.json["bytes"]?["used"]?.integer ?? 0 > 0)
      #expect(try await bed.api.with(nil).get("/v1/usage").status == 401)
    }
  }

  @Test func `the console is a page of a strict policy, where the configuration has it`() async throws {
    try await withTestMode { bed in
      let page = try await bed.api.with(nil).get("/console")
      #expect(page.status == 200 && page.body.contains("mdoc console"))
      let policy = try #require(page.header("Content-Security-Policy"))
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self'") && policy.hasSuffix("frame-ancestors 'none'"))
      #expect(!policy.contains("unsafe"))
    }
  }

  @Test func `a session by a template asks what the template asks`() async throws {
    try await withTestMode { bed in
      let made = try await bed.api.post(
        "/v1/verification_sessions", ["protocols": ["apple-in-app"], "template": "over-18"])
      #expect(made.status == 201, "\(made.body)")
      let reply = try await bed.submit(try await bed.mockAnswer(made.json), to: made.json)
      #expect(reply.json["result"]?["documents"]?.array?.first?["age_over"]?.array?.first?["threshold"] == 18)
      let unknown = try await bed.api.post(
        "/v1/verification_sessions", ["protocols": ["apple-in-app"], "template": "other"])
      #expect(unknown.json["errors"]?.array?.first?["pointer"] == "/template")
    }
  }

  @Test func `sessions are listed newest first and by pages`() async throws {
    try await withTestMode { bed in
      var ids: [JSON] = []
      for _ in 0..<3 { ids.insert(try await bed.createSession()["id"] ?? .null, at: 0) }
      let first = try await bed.api.get("/v1/verification_sessions?limit=2")
      #expect(first.json["data"]?.array?.map { $0["id"] ?? .null } == Array(ids.prefix(2)))
      #expect(first.json["has_more"] == true)
      let next = try await bed.api.get("/v1/verification_sessions?limit=2&starting_after=\(ids[1].string ?? "")")
      #expect(next.json["data"]?.array?.map { $0["id"] ?? .null } == [ids[2]])
      let verified = try await bed.api.get("/v1/verification_sessions?status=verified")
      #expect(verified.json["data"] == .array([]))
      for (query, found) in [
        ("doc_type=org.iso.18013.5.1.mDL", 3), ("doc_type=other", 0), ("client_reference_id=none", 0),
        ("created%5Bgte%5D=0", 3), ("created%5Blt%5D=9", 0), ("created%5Bgte%5D=9&status=requires_input", 3),
      ] {
        let listed = try await bed.api.get("/v1/verification_sessions?\(query)").json
        #expect(listed["data"]?.array?.count == found, "\(query)")
      }
      for query in ["client_reference_id=", "client_reference_id=a%00", "created%5Bgte%5D=-1", "created%5Blt%5D=x"] {
        #expect(try await bed.api.get("/v1/verification_sessions?\(query)").code == "api.invalid_request")
      }
      #expect(try await bed.api.get("/v1/verification_sessions?limit=0").status == 400)
      #expect(try await bed.api.get("/v1/verification_sessions?limit=2&page=3").code == "api.unknown_member")
    }
  }

  /// S09: the challenge survives a restart, and so does its consumption.
  @Test func `a session survives a restart, and so does its end`() async throws {
    try await withFolder { folder in
      let store = folder + "/mdoc.sqlite"
      let session = try await withTestMode(store: store) { bed in try await bed.createSession() }
      // Made after the restart, since a publisher gets a new port if another test uses its old one.
      let answer = try await withTestMode(store: store) { bed in
        let answer = try await bed.mockAnswer(session)
        let reply = try await bed.submit(answer, to: session)
        #expect(reply.json["status"] == "verified")
        return answer
      }
      try await withTestMode(store: store) { bed in
        let replayed = try await bed.submit(answer, to: session)
        #expect(replayed.code == "session.already_used")
      }
    }
  }

  @Test func `the same key and body get the same reply, another body is refused`() async throws {
    try await withTestMode { bed in
      let header = ["Idempotency-Key": "order-17"]
      let body = TestBed.body(.standard)
      let first = try await bed.api.post("/v1/verification_sessions", body, header)
      let second = try await bed.api.post("/v1/verification_sessions", body, header)
      #expect(first.status == 201)
      #expect(second.status == 201)
      #expect(second.body == first.body)
      #expect(second.header("Idempotent-Replayed") == "true")
      let other = try await bed.api.post("/v1/verification_sessions", TestBed.body(.ageOnly), header)
      #expect(other.status == 422)
      #expect(other.code == "api.idempotency_key_reused")
      for key in [String(repeating: "k", count: 256), "with space", "umläut"] {
        let reply = try await bed.api.post("/v1/verification_sessions", body, ["Idempotency-Key": key])
        #expect(reply.status == 400)
      }
      let sessions = try await bed.api.get("/v1/verification_sessions")
      #expect(sessions.json["data"]?.array?.count == 1)
    }
  }

  @Test func `what a simulator answered is shown once and not kept under the key`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let answer = try await bed.mockAnswer(session, variant: "apple-simulator")
      let path = TestBed.path(session) + "/submit"
      let first = try await bed.api.post(path, answer, ["Idempotency-Key": "k"])
      #expect(first.json["simulated_result"] != nil)
      let second = try await bed.api.post(path, answer, ["Idempotency-Key": "k"])
      #expect(second.json["status"] == "failed")
      #expect(second.json["simulated_result"] == nil)
    }
  }

  /// S12.
  @Test func `one key at the same time makes one session`() async throws {
    try await withTestMode { bed in
      let replies = try await withThrowingTaskGroup(of: APIClient.Reply.self) { group in
        for _ in 0..<10 {
          group.addTask {
            try await bed.api.post("/v1/verification_sessions", TestBed.body(.standard), ["Idempotency-Key": "k"])
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(replies.filter { $0.status == 201 }.map { $0.json["id"] }).count == 1)
      #expect(replies.allSatisfy { $0.status == 201 || $0.code == "api.idempotency_in_progress" })
    }
  }
}
