import Base
import Mock
import TestSupport
import Testing

@testable import App

/// Refusals with a 4xx consume nothing.
@Suite(.onOwnThreads) struct RefusalTests {
  @Test func `no refused submit consumes the challenge`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let path = TestBed.path(session) + "/submit"
      let data: JSON = ["encrypted_data": "oA=="]
      let good: JSON = ["protocol": "apple-in-app", "data": data]
      func expect(_ reply: APIClient.Reply, _ status: Int, _ code: String, _ pointer: String? = nil) {
        #expect(reply.status == status, "\(reply.body)")
        #expect(reply.code == code)
        if let pointer { #expect(reply.errors == [pointer]) }
      }
      expect(try await bed.api.with("nope").post(path, good), 401, "api.unauthenticated")
      for text in ["", "{", "[1", "{\"a\":}", "\u{feff}", "nul"] {
        expect(try await bed.api.call("POST", path, Array(text.utf8)), 400, "api.malformed_request")
      }
      expect(try await bed.api.call("POST", path, [0x22, 0xff, 0x22]), 400, "api.malformed_request")
      let broken = try await bed.api.call("POST", path, Array("{\n  \"a\" 1}".utf8))
      #expect(broken.json["detail"] == "The body is not valid JSON at line 2, column 7.")
      expect(try await bed.api.post(path, [1]), 400, "api.invalid_request", "")
      expect(try await bed.api.post(path, [:]), 400, "api.invalid_request")
      expect(
        try await bed.api.post(path, ["protocol": "apple-in-app", "data": data, "extra": 1]), 400,
        "api.unknown_member", "/extra")
      expect(
        try await bed.api.post(path, ["protocol": "apple-in-app", "data": ["encrypted_data": "oA==", "more": 1]]), 400,
        "api.unknown_member", "/data/more")
      expect(
        try await bed.api.post(path, ["protocol": "apple-in-app", "data": ["encrypted_data": "o A="]]), 400,
        "api.invalid_request", "/data/encrypted_data")
      expect(
        try await bed.api.post(path, ["protocol": "org-iso-mdoc", "data": data]), 400, "session.protocol_mismatch")
      expect(try await bed.api.post(path, ["protocol": "smoke", "data": data]), 400, "session.protocol_mismatch")
      expect(try await bed.api.post(path + "?a=b", good), 400, "api.unknown_member")
      for type in ["text/plain", "application/json; charset=latin1", "application/jsonx", "application/json;a=b", ""] {
        let body = good.serialized()
        expect(
          try await bed.api.call("POST", path, body, ["Content-Type": type.isEmpty ? " " : type]), 415,
          "api.unsupported_media_type")
      }
      let untyped = try await bed.api.call("POST", path, good.serialized(), ["Content-Type": "text/plain"])
      #expect(untyped.json["detail"] == "Send this body with `Content-Type: application/json`.")
      expect(
        try await bed.api.post(path, good, ["Content-Encoding": "gzip"]), 415, "api.unsupported_media_type")
      expect(
        try await bed.api.call("POST", path, nil, ["Content-Length": "\(Limits.requestBodyBytes + 1)"]), 413,
        "api.body_too_large")
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
      let reply = try await bed.api.post(
        path, bed.mockAnswer(session), ["Content-Type": "Application/JSON ; charset=UTF-8"])
      #expect(reply.json["status"] == "verified")
    }
  }

  @Test func `a creation names what is wrong with it`() async throws {
    try await withTestMode { bed in
      func refusal(_ extra: [JSON.Member]) async throws -> APIClient.Reply {
        let reply = try await bed.api.post("/v1/verification_sessions", TestBed.body(.standard, extra: extra))
        #expect(reply.status == 400)
        return reply
      }
      #expect(try await refusal([.init("nonce", "00")]).errors == ["/nonce"])
      #expect(try await refusal([.init("expires_in", 5)]).errors == ["/expires_in"])
      #expect(try await refusal([.init("origin", "https://evil.example")]).errors == ["/origin"])
      #expect(try await refusal([.init("metadata", ["a": 1])]).errors == ["/metadata/a"])
      let protocols = try await bed.api.post(
        "/v1/verification_sessions",
        ["protocols": ["carrier-pigeon"], "documents": [["doc_type": "x", "age_over": [18]]]])
      #expect(protocols.code == "api.protocol_unsupported")
      let ages = try await bed.api.post(
        "/v1/verification_sessions",
        [
          "protocols": ["apple-in-app"],
          "documents": [["doc_type": "org.iso.18013.5.1.mDL", "age_over": [18, 21, 65]]],
        ])
      #expect(ages.code == "api.too_many_age_requests")
      let sessions = try await bed.api.get("/v1/verification_sessions")
      #expect(sessions.json["data"] == .array([]))
    }
  }

  @Test func `cancel and redact take no members that they do not know`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      for action in ["/cancel", "/redact"] {
        let reply = try await bed.api.post(TestBed.path(session) + action, ["because": "x"])
        #expect(reply.status == 400)
        #expect(reply.errors == ["/because"])
        #expect(try await bed.api.post(TestBed.path(session) + action, []).status == 400)
      }
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
    }
  }

  @Test(
    arguments: [
      "/v1", "/v1/", "/v1/verification_sessions/", "/v1//verification_sessions", "/v1/./verification_sessions",
      "/v1/%76erification_sessions", "/V1/verification_sessions", "/v1/verification_sessions/a/b", "/healthz/",
      "/v1/verification_sessions/..", "/v1/verification_sessions/a%2fsubmit", "/v1/verification_sessions;a=b",
      "/v1/x/../verification_sessions", "/metrics%00",
    ])
  func `there is nothing at other addresses`(path: String) async throws {
    try await withTestMode { bed in
      let reply = try await bed.api.get(path)
      #expect(reply.status == 404)
      #expect(reply.code == "api.not_found")
      #expect(bed.log.line(of: reply)?["route"] == "unmatched")
    }
  }

  @Test func `other methods are refused with those that are allowed`() async throws {
    try await withTestMode { bed in
      let cases = [
        ("PUT", "/v1/verification_sessions", "POST, GET, HEAD"), ("DELETE", "/healthz", "GET, HEAD"),
        ("GET", "/v1/verification_sessions/vs_1/submit", "POST, OPTIONS"), ("get", "/readyz", "GET, HEAD"),
        ("PATCH", "/v1/verification_sessions/vs_1", "GET, HEAD, OPTIONS"),
        ("POST", "/metrics", "GET, HEAD"), ("TRACE", "/openapi.json", "GET, HEAD"),
      ]
      for (method, path, allow) in cases {
        let reply = try await bed.api.call(method, path)
        #expect(reply.status == 405)
        #expect(reply.code == "api.method_not_allowed")
        #expect(reply.header("Allow") == allow)
      }
    }
  }

  @Test func `a name that can be none is not found, and a key that can be none is refused, at every operation`()
    async throws
  {
    try await withTestMode { bed in
      for route in RouteTable.routes(with: .sample) {
        let method = route.method.rawValue
        if !route.path.variables.isEmpty {
          let path = route.path.variables.reduce(route.path.text) {
            $0.replacing("{\($1)}", with: "%00")
          }
          #expect(try await bed.api.call(method, path).status == 404)
        }
        guard route.takesIdempotencyKey else { continue }
        let path = route.path.text.replacing("{id}", with: "vs_1")
        let body: [UInt8]? = if case .json = route.body { Array("{}".utf8) } else { nil }
        let reply = try await bed.api.call(method, path, body, ["Idempotency-Key": "a b"])
        #expect(reply.status == 400 && reply.code == "api.invalid_request", "\(route.name)")
      }
    }
  }

  @Test func `HEAD is GET without a body`() async throws {
    try await withTestMode { bed in
      let get = try await bed.api.get("/healthz")
      let head = try await bed.api.call("HEAD", "/healthz")
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      #expect(head.header("Content-Length") == get.header("Content-Length"))
    }
  }

  @Test func `what the transport refuses is a problem too`() async throws {
    try await withTestMode { bed in
      let cases = [
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "api.malformed_request"),
        ("GET /\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414, "api.target_too_long"),
        (
          "GET /healthz HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 17_000))\r\n\r\n", 431,
          "api.headers_too_large"
        ),
        // libmicrohttpd refuses these before any of our code sees them.
        ("GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", 400, "api.malformed_request"),
        ("GET /healthz\r\n\r\n", 400, "api.malformed_request"),
        ("GET /healthz HTTP/1.1\r\nno colon\r\n\r\n", 400, "api.malformed_request"),
        (
          "GET /healthz HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 60_000))\r\n\r\n", 431,
          "api.headers_too_large"
        ),
      ]
      for (request, status, code) in cases {
        let reply = try await ask(bed.api.port, request)
        let json = try JSON(parsing: Array(reply.body.utf8))
        #expect(reply.status == status)
        #expect(json["code"]?.string == code)
        #expect(json["request_id"]?.string == reply.header("Request-Id"))
        #expect(reply.header("Content-Type") == "application/problem+json")
      }
    }
  }

  @Test func `an element that cannot be asked for and is one slip from one that can names that`() async throws {
    try await withTestMode { bed in
      func refusal(_ identifier: String) async throws -> APIClient.Reply {
        let elements: JSON = [["namespace": "org.iso.18013.5.1", "identifier": .string(identifier)]]
        return try await bed.api.post(
          "/v1/verification_sessions",
          ["protocols": ["apple-in-app"], "documents": [["doc_type": "org.iso.18013.5.1.mDL", "elements": elements]]])
      }
      let near = try await refusal("given_names")
      #expect(near.errors == ["/documents/0/elements/0"])
      #expect(near.body.contains("did you mean `given_name` of `org.iso.18013.5.1`?"))
      let far = try await refusal("shoe_size")
      #expect(far.errors == ["/documents/0/elements/0"])
      #expect(!far.body.contains("did you mean"))
    }
  }
}
