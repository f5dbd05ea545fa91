import Base
import Glibc
import HTTP
import TestSupport
import Testing

@testable import App

/// The requests that get a log line.
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
      // The lines for each code, and a note that some were omitted.
      let lines = bed.log.all.dropFirst(before)
      #expect(lines.count <= codes.count * (Limits.refusalLines + 1))
      for code in codes {
        #expect(lines.count { $0.contains("\"event\":\"request\"") && $0.contains(code) } == Limits.refusalLines)
      }
      // The number follows a second later.
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

  /// The number of refusals of a code that the log omitted.
  private static func leftOut(_ log: LogCapture, _ code: String) -> Int64 {
    var count: Int64 = 0
    for line in log.all where line.contains("\"event\":\"requests.refused\"") && line.contains(code) {
      count += (try? JSON(parsing: Array(line.utf8)))?["requests"]?.integer ?? 0
    }
    return count
  }
}

@Suite(.onOwnThreads) struct LogWriterTests {
  @Test func `everything written before the close is out after it`() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    let read = Task.detached {
      try await blocking { () -> String in
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
          let count = Glibc.read(reading, &chunk, chunk.count)
          guard count > 0 else { return String(decoding: text, as: UTF8.self) }
          text += chunk[..<count]
        }
      }
    }
    let writer = LogWriter(descriptor: writing)
    for number in 0..<5_000 { writer.write("line \(number)") }
    await writer.close()
    await writer.close()
    close(writing)
    let lines = try await read.value.split(separator: "\n")
    #expect(lines.count == 5_000)
    #expect(lines.last == "line 4999")
    close(reading)
  }

  @Test func `a reader that does not read costs lines and not time`() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = LogWriter(descriptor: ends[1])
    let line = String(repeating: "x", count: 1 << 16)
    for _ in 0..<64 { writer.write(line) }
    close(ends[0])
    await writer.close()
    close(ends[1])
  }

  @Test func `a reader that stays and does not read does not hold up the stop`() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = LogWriter(descriptor: ends[1])
    writer.write(String(repeating: "x", count: 1 << 18))
    let took = await ContinuousClock().measure { await writer.close() }
    #expect(took < .seconds(10))
    // The writer's thread may still be writing, so its end stays open. Otherwise the rest of the line could go to
    // another test's socket with the same number.
    close(ends[0])
  }
}

/// W3C Trace Context: the trace that a request's log line belongs to.
@Suite(.onOwnThreads) struct TraceContextTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  @Test(arguments: [
    "00-\(trace)-\(span)-01", "00-\(trace)-\(span)-00", "01-\(trace)-\(span)-01", "cc-\(trace)-\(span)-01-x",
  ])
  func `a valid traceparent's trace goes on`(value: String) throws {
    let context = try #require(TraceContext(HTTPHeaders([("Traceparent", value)])))
    #expect(context.traceID == Self.trace)
    #expect(context.spanID != Self.span)
    #expect(context.spanID.count == 16)
  }

  @Test(arguments: [
    "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-x", "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01",
    "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01", "00-\(trace)-\(span)-1",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-\(span)-01", "00-\(trace)0-\(span)-01", "00-\(trace)-\(span)-0g",
    "00_\(trace)_\(span)_01", " 00-\(trace)-\(span)-01 x",
  ])
  func `one that is not is none`(value: String) {
    #expect(TraceContext(HTTPHeaders([("traceparent", value)])) == nil)
  }

  @Test func `two are none`() {
    let value = "00-\(Self.trace)-\(Self.span)-01"
    #expect(TraceContext(HTTPHeaders([("traceparent", value), ("traceparent", value)])) == nil)
  }

  @Test func `the log line has it, and nothing else of the headers`() async throws {
    try await withTestMode { bed in
      let reply = try await bed.api.get(
        "/openapi.json", ["traceparent": "00-\(Self.trace)-\(Self.span)-01", "tracestate": "vendor=secret"])
      let line = try #require(bed.log.line(of: reply))
      #expect(line["trace_id"]?.string == Self.trace)
      #expect(line["span_id"]?.string?.count == 16)
      #expect(!bed.log.text.contains("secret"))
      let other = try await bed.api.get("/openapi.json", ["traceparent": "nonsense"])
      let otherLine = try #require(bed.log.line(of: other))
      #expect(otherLine["trace_id"] == nil && otherLine["span_id"] == nil)
      #expect(!bed.log.text.contains("nonsense"))
    }
  }
}
