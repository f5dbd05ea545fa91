import Base
import TestSupport
import Testing

@testable import App

/// Which requests have a line of the log.
@Suite(.onOwnThreads) struct RequestLogTests {
  @Test func `what is asked all the time is not logged where it succeeds`() async throws {
    try await withTestMode { bed in
      let before = bed.log.all.count
      let preflight = ["Origin": TestBed.origin, "Access-Control-Request-Method": "GET"]
      for path in ["/healthz", "/readyz", "/metrics"] { #expect(try await bed.api.with(nil).get(path).status == 200) }
      #expect(
        try await bed.api.with(nil).call("OPTIONS", "/v1/verification_sessions/vs_1", nil, preflight).status == 204)
      #expect(bed.log.all.count == before)
      let served = try await bed.api.get("/v1/verification_sessions")
      #expect(bed.log.line(of: served)?["status"] == 200)
    }
  }

  @Test func `of many refusals a few have a line, all are counted, and the log says how many it left out`() async throws
  {
    try await withTestMode { bed in
      let count = Limits.refusalLines + 15
      let before = bed.log.all.count
      for _ in 0..<count {
        let malformed = try await ask(bed.api.port, "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        #expect(malformed.status == 400)
        let refused = try await bed.api.with(nil).get("/metrics", ["X-Forwarded-For": "192.0.2.1"])
        #expect(refused.status == 401)
      }
      let codes = ["api.malformed_request", "api.unauthenticated"]
      // For each code its lines, and that some were left out.
      let lines = bed.log.all.dropFirst(before)
      #expect(lines.count <= codes.count * (Limits.refusalLines + 1))
      for code in codes {
        #expect(lines.count { $0.contains("\"event\":\"request\"") && $0.contains(code) } == Limits.refusalLines)
      }
      // A second later it is said how many.
      bed.clock.advance(1)
      _ = try await bed.api.with(nil).get("/v1/verification_sessions")
      let metrics = try await bed.api.with(nil).get("/metrics").body
      for code in codes {
        let said = Self.leftOut(bed.log, code)
        #expect(said == 15, "\(code)")
        let all = code == "api.unauthenticated" ? count + 1 : count
        #expect(metrics.contains("mdoc_http_refusals_total{code=\"\(code)\"} \(all)\n"))
      }
    }
  }

  /// How many refusals of a code the log says that it left out.
  private static func leftOut(_ log: LogCapture, _ code: String) -> Int64 {
    var count: Int64 = 0
    for line in log.all where line.contains("\"event\":\"requests.refused\"") && line.contains(code) {
      count += (try? JSON(parsing: Array(line.utf8)))?["requests"]?.integer ?? 0
    }
    return count
  }
}
