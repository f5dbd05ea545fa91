import TestSupport
import Testing

@testable import HTTP

/// Peers that are slow on purpose. The deadline is 1 s and the idle time far longer, so only the sweeper can close the
/// connection. A peer that is not cut is detected after `patience` tries.
@Suite(.onOwnThreads) struct DeadlineTests {
  private static let patience = 100

  /// Sends the start, then one byte every 100 ms; true when the server closes before the client loses patience.
  private static func isCutOff(port: UInt16, start: String, trickle: String) async throws -> Bool {
    try await blocking {
      let client = try RawClient(port: port)
      client.send(start)
      for index in 0..<Self.patience {
        usleepMilliseconds(100)
        let byte = trickle.utf8[trickle.utf8.index(trickle.utf8.startIndex, offsetBy: index % trickle.utf8.count)]
        if !client.send([byte]) { return true }
      }
      return false
    }
  }

  private static func strict(_ configuration: inout HTTPServerConfiguration) {
    configuration.requestDeadline = 1
    configuration.responseDeadline = 1
    configuration.idleTimeout = 60
  }

  @Test(arguments: [
    ("a slow request line", "GET /", "x"),
    ("a slow header", "GET /p HTTP/1.1\r\nHost: a\r\n", "X: 1\r\n"),
    ("a slow body", "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", "x"),
    ("a slow chunked body", "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
    (
      "a slow body after a whole request",
      "GET /p HTTP/1.1\r\nHost: a\r\n\r\nPOST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", "x"
    ),
    // libmicrohttpd 0.9.75 takes 56 bytes of its pool for each member, and stalls when they are used up.
    (
      "a query of a thousand members", "GET /?" + String(repeating: "a&", count: 1000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
      "x"
    ),
  ])
  func `is cut off`(name: String, start: String, trickle: String) async throws {
    try await withServer(Self.strict) { server in
      let isCutOff = try await Self.isCutOff(port: server.port, start: start, trickle: trickle)
      #expect(isCutOff)
      #expect(await eventually { server.core.unfinished.load(ordering: .acquiring) == 0 })
    }
  }

  @Test func `a slow request line on a kept-alive connection is cut off after idle time and deadline`() async throws {
    try await withServer {
      $0.requestDeadline = 1
      $0.idleTimeout = 2
    } _: { server in
      let start = "GET /p HTTP/1.1\r\nHost: a\r\n\r\nGET /"
      let isCutOff = try await Self.isCutOff(port: server.port, start: start, trickle: "x")
      #expect(isCutOff)
    }
  }

  @Test func `a request that is being handled has no deadline`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler, Self.strict) { server in
      let port = server.port
      async let response = blocking { () -> RawClient.Response in
        let client = try RawClient(port: port)
        client.send("GET /p HTTP/1.1\r\nHost: a\r\n\r\n")
        return try client.response()
      }
      #expect(await eventually { handler.arrived == 1 })
      try await Task.sleep(for: .seconds(2.5))
      handler.open()
      let status = try await response.status
      #expect(status == 200)
    }
  }

  @Test func `a reply that nobody reads is given up`() async throws {
    try await withServer(handler: LargeReply(), Self.strict) { server in
      let port = server.port
      let client = try await blocking { () -> Held<RawClient> in
        let client = try RawClient(port: port, receiveBuffer: 4096)
        client.send("GET /p HTTP/1.1\r\nHost: a\r\n\r\n")
        return Held(client)
      }
      #expect(await eventually { server.core.unfinished.load(ordering: .acquiring) == 1 })
      #expect(await eventually(within: 15) { server.core.unfinished.load(ordering: .acquiring) == 0 })
      withExtendedLifetime(client) {}
    }
  }

  @Test func `a silent connection is closed after the idle time`() async throws {
    try await withServer {
      $0.idleTimeout = 1
    } _: { server in
      let port = server.port
      let rest = try await blocking { () -> String in
        let client = try RawClient(port: port)
        client.send("GET /p HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.response()
        return try client.untilClosed()
      }
      #expect(rest == "")
    }
  }

  private struct LargeReply: HTTPHandler {
    func respond(to request: HTTPRequest) async -> HTTPResponse {
      HTTPResponse(status: 200, body: [UInt8](repeating: 0, count: 32 << 20))
    }
    func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse { HTTPResponse(status: error.status) }
  }
}
