import Base
import Mock
import TestSupport
import Testing

@testable import App

/// The rights of API keys, client secrets and origins.
@Suite(.onOwnThreads) struct AccessTests {
  @Test(arguments: ["", "Bearer ", "Bearer nope", "Basic YTpi", "Bearer a b", "bearer\tx", "Bearer vcs_0"])
  func `without a good credential nothing is answered`(header: String) async throws {
    try await withTestMode { bed in
      for path in ["/v1/verification_sessions", "/v1/trust_anchors", "/v1/verification_reports/vr_1"] {
        let reply = try await bed.api.with(nil).get(path, ["Authorization": header])
        #expect(reply.status == 401)
        #expect(reply.code == "api.unauthenticated")
        #expect(reply.header("WWW-Authenticate") == "Bearer realm=\"mdoc\"")
      }
    }
  }

  @Test func `two Authorization headers are none`() async throws {
    try await withTestMode { bed in
      let value = "Authorization: Bearer \(bed.mode.apiKey)\r\n"
      let reply = try await ask(
        bed.api.port, "GET /v1/trust_anchors HTTP/1.1\r\nHost: a\r\n\(value)\(value)\r\n")
      #expect(reply.status == 401)
    }
  }

  @Test func `a client secret submits and sees little`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let secret = try #require(session["client_secret"]?.string)
      let page = bed.api.with(secret)
      let seen = try await page.get(TestBed.path(session))
      #expect(seen.json.object?.map(\.name) == ["id", "status", "expires_at", "requests", "last_error"])
      let submitted = try await bed.submit(bed.mockAnswer(session), to: session, as: secret)
      #expect(submitted.json["status"] == "verified")
      #expect(submitted.json["result"] == nil)
      #expect(!submitted.body.contains("Morgan"))

      let waiting = try await bed.api.get(TestBed.path(session) + "?expand[]=result")
      #expect(waiting.body.contains("Morgan"))
      #expect(try await page.get(TestBed.path(session) + "?expand%5B%5D=result").status == 403)
      bed.clock.advance(600)
      let over = try await bed.api.get(TestBed.path(session) + "?expand[]=result")
      #expect(over.json["result"] == .null)
    }
  }

  @Test func `a client secret is good for nothing else`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let other = try await bed.createSession()
      let secret = try #require(session["client_secret"]?.string)
      let page = bed.api.with(secret)
      #expect(try await page.get(TestBed.path(other)).code == "session.not_found")
      #expect(
        try await page.post(TestBed.path(other) + "/submit", ["protocol": "apple-in-app", "data": [:]]).status == 404)
      #expect(try await page.get("/v1/verification_sessions").status == 403)
      #expect(try await page.post("/v1/verification_sessions", TestBed.body(.standard)).status == 403)
      #expect(try await page.post(TestBed.path(session) + "/cancel").status == 403)
      #expect(try await page.post(TestBed.path(session) + "/redact").status == 403)
      #expect(try await page.get("/v1/trust_anchors").status == 403)
      #expect(try await page.post("/v1/test/mock_responses", ["session": session["id"] ?? ""]).status == 403)
      #expect(try await bed.api.post(TestBed.path(session) + "/cancel").status == 200)
      #expect(try await page.get(TestBed.path(session)).status == 401, "the secret dies with the session")
    }
  }

  @Test func `an unknown id and another's answer alike`() async throws {
    try await withTestMode { bed in
      let unknown = "/v1/verification_sessions/vs_0000000000000000000000"
      let first = try await bed.api.get(unknown)
      let second = try await bed.api.get("/v1/verification_sessions/x")
      #expect(first.status == 404)
      for member in ["type", "title", "detail", "code", "status"] { #expect(first.json[member] == second.json[member]) }
      #expect(
        try await bed.api.post(unknown + "/submit", ["protocol": "apple-in-app", "data": ["encrypted_data": ""]]).status
          == 404)
      #expect(try await bed.api.post(unknown + "/submit", ["protocol": "other", "data": [:]]).status == 404)
      #expect(try await bed.api.post(unknown + "/cancel").status == 404)
      #expect(try await bed.api.get("/v1/verification_reports/vr_0000000000000000000000").code == "api.not_found")
    }
  }

  @Test func `pages of the relying party's origins may submit and get`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let page = bed.api.with(session["client_secret"]?.string)
      let origin = ["Origin": TestBed.origin]
      let path = TestBed.path(session)
      let preflight = try await bed.api.with(nil).call(
        "OPTIONS", path + "/submit", nil, origin.merging(["Access-Control-Request-Method": "POST"]) { $1 })
      #expect(preflight.status == 204)
      #expect(preflight.header("Access-Control-Allow-Origin") == TestBed.origin)
      #expect(preflight.header("Access-Control-Allow-Methods") == "POST")
      #expect(preflight.header("Access-Control-Allow-Headers") == "Authorization, Content-Type")
      #expect(preflight.header("Vary") == "Origin")
      #expect(try await page.get(path, origin).header("Access-Control-Allow-Origin") == TestBed.origin)
      let submit = try await page.post(path + "/submit", ["protocol": "x"], origin)
      #expect(submit.status == 400)
      #expect(submit.header("Access-Control-Allow-Origin") == TestBed.origin)
      let unknown = try await bed.api.with("nope").get(path, origin)
      #expect(unknown.status == 401 && unknown.header("Access-Control-Allow-Origin") == TestBed.origin)
      let keyed = try await bed.api.get(path, origin)
      #expect(keyed.status == 200 && keyed.header("Access-Control-Allow-Origin") == nil, "keys are for backends")
    }
  }

  @Test func `a page or app may say with its secret that the wallet declined`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let page = bed.api.with(session["client_secret"]?.string)
      let path = TestBed.path(session)
      let origin = ["Origin": TestBed.origin]
      let preflight = try await bed.api.with(nil).call(
        "OPTIONS", path + "/cancel", nil, origin.merging(["Access-Control-Request-Method": "POST"]) { $1 })
      #expect(preflight.status == 204 && preflight.header("Access-Control-Allow-Origin") == TestBed.origin)
      let reply = try await page.post(path + "/cancel", ["reason": "declined"], origin)
      #expect(reply.status == 200 && reply.header("Access-Control-Allow-Origin") == TestBed.origin)
      #expect(reply.json.object?.map(\.name) == ["id", "status", "expires_at", "requests", "last_error"])
      #expect(reply.json["last_error"] == ["code": "wallet.access_denied"])
      #expect(try await bed.api.get(path).json["status"] == "canceled")
    }
  }

  @Test func `no other page and no other call is allowed across origins`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let page = bed.api.with(session["client_secret"]?.string)
      let path = TestBed.path(session)
      let header = "Access-Control-Allow-Origin"
      for origin in ["https://evil.example", "null", "https://shop.example.evil.example", "*"] {
        let preflight = try await bed.api.with(nil).call(
          "OPTIONS", path, nil, ["Origin": origin, "Access-Control-Request-Method": "GET"])
        #expect(preflight.header(header) == nil)
        #expect(try await page.get(path, ["Origin": origin]).header(header) == nil)
      }
      let ours = ["Origin": TestBed.origin, "Access-Control-Request-Method": "POST"]
      for path in ["/v1/verification_sessions", path + "/redact", "/healthz"] {
        let reply = try await bed.api.with(nil).call("OPTIONS", path, nil, ours)
        #expect(reply.status == 405)
        #expect(reply.header(header) == nil)
      }
      #expect(try await bed.api.with(nil).call("OPTIONS", path, nil, ours).header(header) == nil, "no POST there")
      // A page must not have an API key.
      #expect(try await bed.api.get(path, ["Origin": TestBed.origin]).header(header) == nil)
      #expect(try await bed.api.get("/v1/verification_sessions", ["Origin": TestBed.origin]).header(header) == nil)
    }
  }
}
