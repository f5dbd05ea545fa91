import Base
import HTTP
import TestSupport
import Testing

@testable import App

/// A person gets a page for every refusal, whatever its cause and place.
@Suite(.onOwnThreads) struct ErrorPageTests {
  @Test func `the address of a page may have parameters of others, and a slash behind it`() async throws {
    try await withTestMode { bed in
      let session = try await bed.api.post(
        "/v1/verification_sessions", TestBed.body(.standard, protocols: ["openid4vp"])
      ).json
      let page = "/verify/test/\(try #require(session["id"]?.string))"
      let api = bed.api.with(nil)
      for path in [page, page + "/", page + "?fbclid=IwAR0&utm_source=mail", page + "/?lang=de&lang=fr&gclid=%C3%A9"] {
        let reply = try await api.get(path)
        #expect(reply.status == 200 && reply.body.contains("/assets/page.js"), "\(path)")
        #expect(reply.header("Content-Security-Policy")?.contains("script-src 'self'") == true)
      }
      for path in ["/playground/", "/playground?utm_source=a", "/playground/?b", "/status?utm_source=a"] {
        #expect(try await api.get(path).status == 200, "\(path)")
      }
      // One slash after the whole address of a page that anyone may open: rules of proxies protect all other addresses.
      for path in [page + "//", "/verify/test/", "/verify/test/logo/", "/status/", "/playground/style.css/"] {
        let reply = try await api.get(path)
        #expect(reply.status == 404 && reply.code == "api.not_found", "\(path)")
      }
      // An operation takes neither.
      #expect(try await api.get("/healthz/").json["code"] == "api.not_found")
      #expect(try await api.get("/healthz?utm_source=a").json["code"] == "api.unknown_member")
    }
  }

  @Test func `the address of the server says what it is, to people and to programs`() async throws {
    try await withTestMode { bed in
      let api = bed.api.with(nil)
      let page = try await api.get("/", ["Accept": "text/html,application/xhtml+xml,*/*;q=0.8"])
      #expect(page.status == 200 && page.body.contains("href=\"/playground\"") && page.body.contains("test mode"))
      #expect(page.header("Content-Security-Policy") != nil && page.header("Vary")?.contains("Accept") == true)
      let json = try await api.get("/").json
      #expect(json["mode"] == "test" && json["links"]?["contract"] == "/openapi.json")
    }
  }

  @Test func `a refusal that the application decides is a page`() async throws {
    try await withTestMode { bed in
      let api = bed.api.with(nil)
      for path in ["/verify", "/verify/test/vs_0/more", "/verify/nobody/vs_0", "/playground/none"] {
        let reply = try await api.get(path, ["Accept": "application/json"])
        #expect(reply.status == 404 && reply.json == .null, "\(path)")
      }
      let posted = try await api.post("/verify/test/vs_0")
      #expect(posted.status == 405 && posted.header("Allow") == "GET, HEAD")
      // With a body, only the header decides.
      #expect(try await api.post("/verify/test/vs_0", [:]).status == 405)
      let stranger = try await api.get("/status", ["X-Forwarded-For": "203.0.113.7"])
      #expect(stranger.status == 401 && stranger.header("WWW-Authenticate") == "Bearer realm=\"mdoc\"")
      let bare = try await bed.api.call("HEAD", "/verify/test/vs_0")
      #expect(bare.status == 404 && bare.header("Content-Type") == "text/html; charset=utf-8")
      // The page shows no part of the address.
      let odd = try await api.get("/verify/test/vs_0?lang=%3Cscript%3E")
      #expect(odd.status == 404 && !odd.body.contains("script"))
    }
  }

  @Test(
    arguments: [
      ("GET /verify/test/vs_0 HTTP/1.1\r\n\r\n", 400, "api.malformed_request"),
      ("GET /verify/test/vs_0?a=%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, "api.malformed_request"),
      ("GET /verify/test/vs_0 HTTP/1.1\r\nno colon\r\n\r\n", 400, "api.malformed_request"),
      (
        "GET /verify/test/\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414,
        "api.target_too_long"
      ),
      (
        "GET /verify/test/vs_0 HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 60_000))\r\n\r\n", 431,
        "api.headers_too_large"
      ),
      (
        "POST /verify/test/vs_0 HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413, "api.body_too_large"
      ),
    ] as [(String, Int, String)])
  func `a refusal by the transport is a page`(request: String, status: Int, code: String) async throws {
    try await withTestMode { bed in
      let port = bed.api.port
      let response = try await blocking {
        let client = try RawClient(port: port, timeout: 30)
        client.send(request)
        return try client.response()
      }
      #expect(response.status == status && response.header("Content-Type") == "text/html; charset=utf-8")
      #expect(response.body.contains(">\(code) · req_") && response.body.contains("This page is no longer valid"))
    }
  }

  @Test(arguments: [
    (HTTPError.rateLimited(retryAfter: 7), 429, "7"), (.overloaded(.full, retryAfter: 2), 503, "2"),
    (.shuttingDown, 503, "1"),
  ])
  func `a refusal that passes asks to try again`(fault: HTTPError, status: Int, retryAfter: String) async throws {
    try await withTestMode { bed in
      let request = HTTPRequest(
        method: "GET", path: "/verify/test/vs_0", headers: HTTPHeaders([("Accept-Language", "fr-CH, de;q=0.8")]))
      let handler = APIHandler(bed.mode.server.updater.inForce.current, log: Log { _ in })
      let response = handler.refusal(fault, of: request)
      let body = String(decoding: response.body, as: UTF8.self)
      #expect(
        response.status == status && response.headers.contains { $0.name == "Retry-After" && $0.value == retryAfter })
      #expect(body.contains("<html lang=\"fr\">") && body.contains("Veuillez réessayer"))
      let program = handler.refusal(fault, of: HTTPRequest(method: "GET", path: "/v1/events"))
      #expect(program.headers.contains { $0.value == "application/problem+json" })
      let unread = handler.refusal(fault, of: nil)
      #expect(unread.headers.contains { $0.value == "application/problem+json" })
    }
  }

  @Test(arguments: [
    ("", "", "en"), ("?lang=ja", "de", "ja"), ("?lang=xx", "de-AT;q=0.9,en", "de"), ("", "pt, es-MX", "es"),
    ("?lang=EN-us", "fr", "en"),
  ])
  func `it speaks the language that the page would`(query: String, header: String, language: String) async throws {
    try await withTestMode { bed in
      let reply = try await bed.api.with(nil).get("/verify/test/vs_0" + query, ["Accept-Language": header])
      #expect(reply.body.contains("<html lang=\"\(language)\">"))
      // Pages for operators show the problem's text, in the reference's language.
      let operators = try await bed.api.with("wrong").get(
        "/status" + query, ["Accept-Language": header, "X-Forwarded-For": "203.0.113.7"])
      #expect(operators.body.contains("<html lang=\"en\">") && operators.code == "api.unauthenticated")
    }
  }

  @Test func `the relying party's own pages may frame it, and no others`() async throws {
    try await withTestMode { bed in
      let api = bed.api.with(nil)
      let (own, other) = (try await api.get("/verify/test/vs_0"), try await api.get("/verify/nobody/vs_0"))
      #expect(own.header("Content-Security-Policy")?.hasSuffix(" \(TestBed.origin)") == true)
      #expect(other.header("Content-Security-Policy")?.hasSuffix("frame-ancestors 'none'") == true)
    }
  }
}
