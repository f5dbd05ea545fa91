import TestSupport
import Testing

@testable import HTTP

private let request = "GET /p HTTP/1.1\r\nHost: a\r\n\r\n"

/// The limits of concurrent connections and requests.
@Suite(.onOwnThreads) struct LimitTests {
  @Test func `above the requests in flight the reply is 503 and the connection stays`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler) {
      $0.maxInFlight = 1
      $0.overloadRetryAfter = 7
    } _: { server in
      let port = server.port
      async let first = ask(port, request)
      #expect(await eventually { handler.arrived == 1 })
      let (refused, accepted) = try await blocking { () -> (RawClient.Response, RawClient.Response) in
        let client = try RawClient(port: port)
        client.send(request)
        let refused = try client.response()
        handler.open()
        // The first request leaves the handler at some moment after the gate has opened.
        var next = refused
        for _ in 0..<1000 where next.status == 503 {
          usleepMilliseconds(5)
          client.send(request)
          next = try client.response()
        }
        return (refused, next)
      }
      #expect(refused.status == 503)
      #expect(refused.header("Retry-After") == "7")
      #expect(refused.header("X-Refused-By") == "edge")
      #expect(accepted.status == 200)
      let status = try await first.status
      #expect(status == 200)
    }
  }

  @Test func `above the connections per address a new one is closed at once`() async throws {
    try await withServer {
      $0.maxConnectionsPerAddress = 2
    } _: { server in
      let port = server.port
      let rest = try await blocking { () -> String in
        let held = [try RawClient(port: port), try RawClient(port: port)]
        for client in held {
          client.send(request)
          _ = try client.response()
        }
        let third = try RawClient(port: port)
        defer { withExtendedLifetime(held) {} }
        return try third.untilClosed()
      }
      #expect(rest == "")
      // Both slots are free again, perhaps a moment later.
      let isServedAgain = try await blocking { () -> Bool in
        for _ in 0..<100 {
          let client = try RawClient(port: port)
          client.send(request)
          if (try? client.response())?.status == 200 { return true }
          usleepMilliseconds(50)
        }
        return false
      }
      #expect(isServedAgain)
    }
  }

  /// Near the limit, a connection without a request under way is closed for a new one.
  @Test(arguments: ["unused", "used before"])
  func `whatever others hold open, a new connection is answered, and none that is at work is cut`(
    kind: String
  ) async throws {
    let handler = SlowHandler()
    try await withServer(handler: handler) {
      $0.maxConnections = 64
    } _: { server in
      let port = server.port
      async let busy = ask(port, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await eventually { handler.gate.arrived == 1 })
      let statuses = try await blocking { () -> [Int] in
        var held: [RawClient] = []
        for _ in 0..<200 {
          let client = try RawClient(port: port)
          held.append(client)
          guard kind == "used before" else { continue }
          client.send(request)
          guard try client.response().status == 200 else { return [] }
        }
        return try (0..<20).map { _ in
          let client = try RawClient(port: port)
          held.append(client)
          client.send(request)
          return try client.response().status
        }
      }
      #expect(statuses == Array(repeating: 200, count: 20))
      #expect(server.connectionCount <= 64)
      handler.gate.open()
      let status = try await busy.status
      #expect(status == 200)
    }
  }

  @Test func `peers that are slow to send their requests give way, too`() async throws {
    try await withServer {
      $0.maxConnections = 32
      $0.requestDeadline = 600
    } _: { server in
      let port = server.port
      let status = try await blocking { () -> Int in
        let held = try (0..<64).map { _ in
          let client = try RawClient(port: port)
          client.send("GET /p HTTP/1.1\r\nX: ")
          return client
        }
        defer { withExtendedLifetime(held) {} }
        // The first ones count as slow after two seconds. Each new connection looks for them.
        for _ in 0..<60 {
          let client = try RawClient(port: port, timeout: 1)
          client.send(request)
          if let response = try? client.response() { return response.status }
        }
        return 0
      }
      #expect(status == 200)
    }
  }

  /// Replies at once to all paths except `/slow`.
  private struct SlowHandler: HTTPHandler {
    let gate = GateHandler()

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      request.path == "/slow" ? await gate.respond(to: request) : HTTPResponse(status: 200)
    }

    func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse { gate.refusal(error, of: request) }
  }

  @Test func `above the connections a new one waits`() async throws {
    try await withServer {
      $0.threads = 1
      $0.maxConnections = 2
    } _: { server in
      let port = server.port
      let (early, late) = try await blocking { () -> (Bool, RawClient.Response) in
        var held = [try RawClient(port: port), try RawClient(port: port)]
        for client in held {
          client.send(request)
          _ = try client.response()
        }
        let third = try RawClient(port: port, timeout: 1)
        third.send(request)
        let early = (try? third.response()) != nil
        held.removeAll()
        // On a busy machine it takes some time to notice that two have left.
        for _ in 0..<29 { if let late = try? third.response() { return (early, late) } }
        return (early, try third.response())
      }
      #expect(!early)
      #expect(late.status == 200)
    }
  }

  @Test func `many clients on kept-alive connections each get their own answers`() async throws {
    try await withServer { server in
      let port = server.port
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<32 {
          group.addTask {
            try await blocking {
              let client = try RawClient(port: port, timeout: 60)
              var right = 0
              for round in 0..<50 {
                let body = String(repeating: "\(number)-\(round) ", count: 1 + round * 10)
                client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                if try client.response().body == "POST /p  [] " + body { right += 1 }
              }
              return right
            }
          }
        }
        for try await right in group { #expect(right == 50) }
      }
      #expect(await eventually { server.core.unfinished.load(ordering: .acquiring) == 0 })
    }
  }
}

/// How many connections one client has.
@Suite struct ConnectionCountTests {
  @Test(arguments: [
    ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"), ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
  ])
  func `addresses of one IPv6 network are one client, and an IPv4 address is one`(
    first: String, same: String, other: String
  ) {
    let counts = ConnectionCounts(limit: 2)
    counts.opened(ClientAddress(first))
    #expect(counts.mayAccept(ClientAddress(same)))
    counts.opened(ClientAddress(same))
    #expect(!counts.mayAccept(ClientAddress(first)) && !counts.mayAccept(ClientAddress(same)))
    #expect(counts.mayAccept(ClientAddress(other)))
    counts.closed(ClientAddress(first))
    #expect(counts.mayAccept(ClientAddress(same)))
  }

  @Test func `without a limit nobody is counted`() {
    let counts = ConnectionCounts(limit: 0)
    for _ in 0..<1_000 { counts.opened(ClientAddress("192.0.2.1")) }
    #expect(counts.mayAccept(ClientAddress("192.0.2.1")))
  }
}
