import Base
import TestSupport
import Testing

@testable import App
@testable import HTTP

/// Requests that are refused for their header, before their body is read.
@Suite(.onOwnThreads) struct HeaderRefusalTests {
  private static let sessions = "/v1/verification_sessions"

  /// Sends a header that announces a large body, but no body.
  private func announce(
    _ bed: TestBed, _ path: String, _ fields: [String] = [], method: String = "POST"
  ) async throws -> RawClient.Response {
    let fields = fields + ["Content-Length: 1000000"]
    return try await ask(
      bed.api.port, "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n")
  }

  private func code(_ response: RawClient.Response) -> String? {
    (try? JSON(parsing: response.bytes))?["code"]?.string
  }

  @Test func `nobody has to send a body to be told that it is not wanted`() async throws {
    try await withTestMode { bed in
      let key = "Authorization: Bearer \(bed.api.token ?? "")", json = "Content-Type: application/json"
      let secret = "Authorization: Bearer \(try await bed.createSession()["client_secret"]?.string ?? "")"
      let wallet = "/v1/wallet/test/vs_0000000000000000000000/response"
      for (method, path, fields, expected) in [
        ("POST", "/nothing", [], "api.not_found"), ("POST", "/nothing", [key, json], "api.not_found"),
        ("PUT", Self.sessions, [key, json], "api.method_not_allowed"),
        ("POST", Self.sessions, [json], "api.unauthenticated"),
        ("POST", Self.sessions, [json, "Authorization: Bearer nope"], "api.unauthenticated"),
        ("POST", Self.sessions + "?a=b", [key, json], "api.unknown_member"),
        ("POST", Self.sessions, [key, "Content-Type: text/plain"], "api.unsupported_media_type"),
        ("POST", wallet, [json], "api.unsupported_media_type"),
      ] {
        let response = try await announce(bed, path, fields, method: method)
        #expect(code(response) == expected, "\(method) \(path) \(fields)")
        #expect(response.header("Connection") == "close" && response.header("Request-Id") != nil)
      }
      #expect(try await announce(bed, Self.sessions, [], method: "PATCH").header("Allow") == "POST, GET, HEAD")
      // Only the store knows a client secret, so the body is accepted within its sender's share.
      let taken = try await blocking { [port = bed.api.port] () -> String in
        let client = try RawClient(port: port, timeout: 1)
        client.send(
          "POST \(Self.sessions) HTTP/1.1\r\nHost: a\r\n\(secret)\r\n\(json)\r\nContent-Length: 1000000\r\n\r\n")
        do { return try client.response().head } catch RawClient.Failure.timedOut { return "it waits" }
      }
      #expect(taken == "it waits")
      let metrics = try await bed.api.with(nil).get("/metrics").body
      #expect(metrics.contains("mdoc_http_refusals_total{code=\"api.unauthenticated\"} 2\n"))
      #expect(metrics.contains("mdoc_http_failed_authentications_total 2\n"))
    }
  }

  @Test func `after a short body the connection goes on`() async throws {
    try await withTestMode { bed in
      let port = bed.api.port
      let statuses = try await blocking { () -> [Int] in
        let client = try RawClient(port: port)
        client.send("POST \(Self.sessions) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n{ }")
        let refused = try client.response()
        client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        return [refused.status, try client.response().status]
      }
      #expect(statuses == [401, 200])
    }
  }

  @Test func `chunks without end are cut off, and who asks before he sends is told at once`() async throws {
    try await withTestMode { bed in
      let port = bed.api.port
      let rest = try await blocking { () -> String in
        let client = try RawClient(port: port)
        client.send("POST /nothing HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "1000\r\n" + String(repeating: "x", count: 4_096) + "\r\n"
        for _ in 0..<64 where !client.send(chunk) { break }
        return try client.untilClosed()
      }
      #expect(!rest.contains("200"))
      let asked = try await ask(
        port, "POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
      #expect(asked.status == 404)
    }
  }

  @Test func `a page can read why its body was not wanted`() async throws {
    try await withTestMode { bed in
      let path = TestBed.path(try await bed.createSession()) + "/submit"
      let refused = try await announce(bed, path, ["Origin: \(TestBed.origin)", "Content-Type: application/json"])
      #expect(refused.status == 401)
      #expect(refused.header("Access-Control-Allow-Origin") == TestBed.origin)
    }
  }

  @Test func `one address cannot take the memory for bodies`() async throws {
    try await withTestMode { bed in
      let wallet = "/v1/wallet/test/vs_0000000000000000000000/response"
      let head =
        "POST \(wallet) HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        + "Content-Length: 1400000\r\n\r\n"
      let port = bed.api.port
      let held = Held<[RawClient]>([])
      let statuses = try await blocking { () -> [Int] in
        try (0..<8).map { _ in
          let client = try RawClient(port: port, timeout: 1)
          held.value.append(client)
          client.send(head)
          do { return try client.response().status } catch RawClient.Failure.timedOut { return 0 }
        }
      }
      // An eighth of it is five.
      #expect(statuses == [0, 0, 0, 0, 0, 429, 429, 429])
      #expect(try await bed.api.post(Self.sessions, TestBed.body(.standard)).status == 201)
      held.value.removeAll()
    }
  }

  @Test func `a body of more values than any request needs is refused, and held while it is used`() async throws {
    try await withTestMode { bed in
      let values = "[" + String(repeating: "1,", count: Limits.requestJSONValues) + "1]"
      let refused = try await bed.api.call("POST", Self.sessions, Array(values.utf8))
      #expect(refused.status == 413 && refused.code == "api.body_too_large")
      let budget = BodyBudget(limit: 500, largestBody: 500, gauges: TransportGauges())
      var request = HTTPRequest(
        method: "POST", path: Self.sessions, headers: HTTPHeaders([("Content-Type", "application/json")]),
        body: Array("[1,2,3,4,5,6,7,8,9,10]".utf8))
      let route = try #require(SessionRoutes.all.first { if case .json = $0.body { true } else { false } })
      request.hold = try budget.hold(400, for: .relyingParty(.house))
      #expect(try ContentStep.body(request, route).array?.count == 10)
      #expect(throws: (any Error).self) { try ContentStep.body(request, route) }
      request.hold?.release()
    }
  }
}
