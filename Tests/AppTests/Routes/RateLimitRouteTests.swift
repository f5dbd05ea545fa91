import Base
import TestSupport
import Testing

@testable import App

/// Rates over HTTP, in live mode.
@Suite(.onOwnThreads) struct RateLimitRouteTests {
  /// The limits are low enough that no bucket refills during a slow test.
  private static func serve(
    _ limits: RateLimits, _ changes: [String: JSON] = [:],
    _ body: (VerifierServer, APIClient, LogCapture) async throws -> Void
  ) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(changes)
      try await folder.serve { server, api, log in
        server.edge.limiter.adopt(limits)
        try await body(server, api, log)
      }
    }
  }

  private static func limit(_ burst: Double) -> RateLimit { RateLimit(rate: 0.001, burst: burst) }

  @Test func `a key that asks too often is told when to come again`() async throws {
    try await Self.serve(RateLimits(perKey: Self.limit(2))) { _, api, log in
      let path = "/v1/verification_sessions"
      let replies = [try await api.get(path), try await api.get(path), try await api.get(path)]
      #expect(replies.map(\.status) == [200, 200, 429])
      #expect(replies[2].code == "api.rate_limited")
      #expect((500...1_000).contains(replies[2].header("Retry-After").flatMap { Int($0) } ?? 0))
      // Another caller and the health checks are not delayed.
      #expect(try await api.with("another").get(path).status == 401)
      #expect(try await api.with(nil).get("/healthz").status == 200)
      let metrics = try await api.with(nil).get("/metrics").body
      #expect(metrics.contains("mdoc_http_rate_limited_total{limit=\"key\"} 1\n"))
      #expect(metrics.contains("mdoc_http_requests_total{method=\"other\",route=\"refused\",status=\"429\"} 1\n"))
      #expect(log.text.contains("\"event\":\"requests.refused\",\"code\":\"api.rate_limited\",\"requests\":1"))
    }
  }

  @Test func `guessing keys is dear, and asking with a good one is not`() async throws {
    try await Self.serve(RateLimits(perAddress: Self.limit(20))) { _, api, _ in
      let path = "/v1/verification_sessions"
      let guesses = [try await api.with("a").get(path), try await api.with("b").get(path)]
      #expect(guesses.map(\.status) == [401, 401])
      #expect(try await api.with("c").get(path).status == 429)
      #expect(try await api.get(path).status == 200)
      let metrics = try await api.with(nil).get("/metrics").body
      #expect(metrics.contains("mdoc_http_failed_authentications_total 2\n"))
    }
  }

  @Test func `metrics are no place to guess keys at`() async throws {
    // Over loopback, no key is checked there.
    try await Self.serve(RateLimits(perAddress: Self.limit(20)), ["behind_proxy": true]) { _, api, _ in
      func guess(_ key: String) async throws -> Int {
        try await api.with(key).get("/metrics", ["X-Forwarded-For": "203.0.113.7"]).status
      }
      let statuses = [try await guess("a"), try await guess("b"), try await guess("c")]
      #expect(statuses == [401, 401, 429])
      #expect(try await api.with(nil).get("/healthz").status == 200)
    }
  }

  @Test func `a client secret is held to its session's rate`() async throws {
    try await Self.serve(RateLimits(perSession: Self.limit(2))) { _, api, _ in
      let body: JSON = [
        "protocols": ["apple-in-app"],
        "documents": [
          [
            "doc_type": "org.iso.18013.5.1.mDL",
            "elements": [["namespace": "org.iso.18013.5.1", "identifier": "given_name"]],
          ]
        ],
      ]
      let sessions = [
        try await api.post("/v1/verification_sessions", body), try await api.post("/v1/verification_sessions", body),
      ].map(\.json)
      func get(_ session: JSON) async throws -> Int {
        try await api.with(session["client_secret"]?.string)
          .get("/v1/verification_sessions/\(session["id"]?.string ?? "")").status
      }
      #expect(try await [get(sessions[0]), get(sessions[0]), get(sessions[0])] == [200, 200, 429])
      #expect(try await get(sessions[1]) == 200)
    }
  }

  @Test func `a session's wallets share its rate, by whichever page's link they come`() async throws {
    try await Self.serve(RateLimits(perSession: Self.limit(2))) { _, api, _ in
      let name = "vs_0000000000000000000000"
      let hashes = ["", "." + String(repeating: "A", count: 43), "." + String(repeating: "E", count: 43)]
      var statuses: [Int] = []
      for hash in hashes {
        statuses.append(try await api.with(nil).get("/v1/wallet/shop/\(name)\(hash)/request").status)
      }
      #expect(statuses == [404, 404, 429])
    }
  }

  /// Without these headers a browser hides the reply from a page, which then cannot learn when to retry.
  @Test func `a page that asks too often can read so, if it is one of the relying party's`() async throws {
    try await Self.serve(RateLimits(perSession: Self.limit(1))) { _, api, _ in
      let body: JSON = [
        "protocols": ["apple-in-app"],
        "documents": [
          ["doc_type": "org.iso.18013.5.1.mDL", "elements": [["apple_element": "givenName"]]]
        ],
      ]
      let session = try await api.post("/v1/verification_sessions", body).json
      let path = "/v1/verification_sessions/\(session["id"]?.string ?? "")"
      let page = api.with(session["client_secret"]?.string)
      let own = ["Origin": "https://shop.example"]
      #expect(try await page.get(path, own).status == 200)
      let refused = try await page.get(path, own)
      #expect(refused.status == 429)
      #expect(refused.header("Access-Control-Allow-Origin") == "https://shop.example")
      #expect(refused.header("Access-Control-Expose-Headers") == "Request-Id, Retry-After")
      #expect(refused.header("Vary") == "Origin")
      let other = try await page.get(path, ["Origin": "https://evil.example"])
      #expect(other.status == 429 && other.header("Access-Control-Allow-Origin") == nil)
      #expect(try await page.get(path).header("Vary") == nil)
    }
  }

  @Test func `asking whether a page may ask is not held to a rate`() async throws {
    try await Self.serve(RateLimits(perAddress: Self.limit(1))) { _, api, _ in
      let headers = ["Origin": "https://shop.example", "Access-Control-Request-Method": "GET"]
      for _ in 0..<3 {
        let reply = try await api.with(nil).call("OPTIONS", "/v1/verification_sessions/vs_1", nil, headers)
        #expect(reply.status == 204 && reply.header("Access-Control-Allow-Origin") == "https://shop.example")
      }
    }
  }

  @Test func `behind a proxy each of its clients has a rate`() async throws {
    try await Self.serve(RateLimits(perAddress: Self.limit(1)), ["behind_proxy": true]) { _, api, _ in
      func get(_ headers: [String: String]) async throws -> Int {
        try await api.with(nil).get("/openapi.json", headers).status
      }
      let hops = ["203.0.113.7", "192.0.2.1, 203.0.113.7", "203.0.113.8"]
      var statuses: [Int] = []
      for hop in hops { statuses.append(try await get(["X-Forwarded-For": hop])) }
      #expect(statuses == [200, 429, 200])
      // A proxy that does not name its clients: they do not count as one client.
      let unsaid = [try await get([:]), try await get([:])]
      #expect(unsaid == [200, 200])
    }
  }
}
