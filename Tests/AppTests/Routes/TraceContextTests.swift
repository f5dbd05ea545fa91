import Base
import HTTP
import TestSupport
import Testing

@testable import App

/// W3C Trace Context: whose trace a request's log line belongs to.
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
