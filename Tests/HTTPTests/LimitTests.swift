import TestSupport
import Testing

@testable import HTTP

private let request = "GET /p HTTP/1.1\r\nHost: a\r\n\r\n"

/// What the server takes on at once.
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
      // Both places are free again, if not in this instant.
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
        // A busy machine takes its time to see that two have gone.
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
