import Glibc
import Testing

@testable import VerifierHTTP

private let request = "GET /p HTTP/1.1\r\nHost: a\r\n\r\n"

/// Starting, stopping, and peers that leave in between.
@Suite struct LifecycleTests {
  @Test func `a graceful stop answers what has begun and refuses what is new`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler) { server in
      let port = server.port
      let idle = try await blocking { Held(try RawClient(port: port)) }
      async let begun = blocking { () -> RawClient.Response in
        let client = try RawClient(port: port)
        client.send(request)
        return try client.response()
      }
      #expect(await eventually { handler.arrived == 1 })
      // One round trip, so that the idle connection is the server's and not still in the listen queue.
      let warm = try await blocking { () -> RawClient.Response in
        idle.value.send("GET / HTTP/9\r\n")
        idle.value.finishSending()
        return try idle.value.response()
      }
      #expect(warm.status >= 400)
      let kept = try await blocking { () -> Held<RawClient> in
        let client = try RawClient(port: port)
        client.send("GET /p HTTP/1.1\r\nHost: a\r\n")
        return Held(client)
      }
      try await Task.sleep(for: .milliseconds(300))

      let stop = Task { await server.stop(drainSeconds: 30) }
      let isRefused = try await blocking { () -> Bool in
        for _ in 0..<500 {
          do { _ = try RawClient(port: port) } catch RawClient.Failure.cannotConnect(ECONNREFUSED) { return true }
          usleepMilliseconds(10)
        }
        return false
      }
      #expect(isRefused)
      let late = try await blocking { () -> RawClient.Response in
        kept.value.send("\r\n")
        return try kept.value.response()
      }
      #expect(late.status == 503)
      #expect(late.body == "shuttingDown")
      #expect(late.header("Connection")?.lowercased() == "close")

      handler.open()
      let response = try await begun
      #expect(response.status == 200)
      #expect(response.body == "through")
      #expect(response.header("Connection")?.lowercased() == "close")
      await stop.value
      await server.stop(drainSeconds: 30)
      #expect(handler.cancelled == 0)
    }
  }

  @Test func `what is unanswered after the drain gets 503 and is cancelled`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler) { server in
      let port = server.port
      async let statuses = withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 {
          group.addTask {
            try await blocking {
              let client = try RawClient(port: port)
              client.send(request)
              return try client.response().status
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(await eventually { handler.arrived == 8 })
      await server.stop(drainSeconds: 0)
      let received = try await statuses
      #expect(received == [Int](repeating: 503, count: 8))
      #expect(await eventually { handler.cancelled == 8 })
    }
  }

  @Test func `clients that leave while their request is handled do no harm`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler) { server in
      let port = server.port
      let clients = try await blocking { () -> Held<[RawClient]> in
        Held(
          try (0..<20).map { _ in
            let client = try RawClient(port: port)
            client.send(request)
            return client
          })
      }
      #expect(await eventually { handler.arrived == 20 })
      clients.value.removeAll()
      handler.open()
      #expect(await eventually { handler.answered == 20 })
      #expect(await eventually { server.core.unfinished.load(ordering: .acquiring) == 0 })
      #expect(server.core.inFlight.load(ordering: .acquiring) == 0)
      let status = try await blocking { () -> Int in
        let client = try RawClient(port: port)
        client.send(request)
        return try client.response().status
      }
      #expect(status == 200)
    }
  }

  /// libmicrohttpd 0.9.75 overlooks the end of a stream that comes together with data (its epoll is edge-triggered), so
  /// that it is the deadline which frees such a connection.
  @Test func `clients that leave within a body are forgotten by the deadline`() async throws {
    try await withServer {
      $0.requestDeadline = 1
    } _: { server in
      let port = server.port
      try await blocking {
        for _ in 0..<20 {
          let client = try RawClient(port: port)
          client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
        }
      }
      #expect(await eventually { server.core.unfinished.load(ordering: .acquiring) == 0 })
    }
  }

  @Test func `stopping under load answers or closes every connection`() async throws {
    try await withServer { server in
      let port = server.port
      let work = Task {
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for _ in 0..<16 {
            group.addTask {
              try await blocking {
                guard let client = try? RawClient(port: port) else { return true }
                while true {
                  client.send(request)
                  do {
                    let status = try client.response().status
                    guard status == 200 else { return status == 503 }
                  } catch RawClient.Failure.closed { return true } catch { return false }
                }
              }
            }
          }
          return try await group.allSatisfy { $0 }
        }
      }
      try await Task.sleep(for: .milliseconds(300))
      await server.stop(drainSeconds: 10)
      let isSound = try await work.value
      #expect(isSound)
      #expect(server.core.unfinished.load(ordering: .acquiring) == 0)
    }
  }

  @Test func `a stopped server lets go of its handler`() async throws {
    weak var handler: GateHandler?
    do {
      let strong = GateHandler()
      strong.open()
      handler = strong
      try await withServer(handler: strong) { server in
        let port = server.port
        let status = try await blocking { () -> Int in
          let client = try RawClient(port: port)
          client.send(request)
          return try client.response().status
        }
        #expect(status == 200)
      }
    }
    // The sweeper's thread notices the stop a moment later.
    for _ in 0..<1000 where handler != nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(handler == nil)
  }

  @Test(arguments: [
    HTTPResponse(status: 99), HTTPResponse(status: 600), HTTPResponse(status: 200, headers: [("X-A", "1\r\nX-B: 2")]),
    HTTPResponse(status: 200, headers: [("X A", "1")]), HTTPResponse(status: 200, headers: [("X-A", "")]),
    HTTPResponse(status: 200, headers: [("X-A:", "1")]), HTTPResponse(status: 200, headers: [("X-A", "1\u{0}2")]),
  ])
  func `a reply that cannot be sent becomes an empty 500`(reply: HTTPResponse) async throws {
    try await withServer(handler: Fixed(reply: reply)) { server in
      let port = server.port
      let response = try await blocking { () -> RawClient.Response in
        let client = try RawClient(port: port)
        client.send(request)
        return try client.response()
      }
      #expect(response.status == 500)
      #expect(response.body == "")
    }
  }

  @Test func `the transport alone says how long a reply is`() async throws {
    let reply = HTTPResponse(
      status: 200, headers: [("content-length", "99"), ("Transfer-Encoding", "chunked")], body: [0x61])
    try await withServer(handler: Fixed(reply: reply)) { server in
      let port = server.port
      let response = try await blocking { () -> RawClient.Response in
        let client = try RawClient(port: port)
        client.send(request)
        return try client.response()
      }
      #expect(response.header("Content-Length") == "1")
      #expect(response.header("Transfer-Encoding") == nil)
      #expect(response.body == "a")
    }
  }

  @Test func `the peer's address is numeric, on a dual-stack socket too`() async throws {
    for address in ["127.0.0.1", "::"] {
      try await withServer(handler: Address()) {
        $0.address = address
      } _: { server in
        let port = server.port
        let response = try await blocking { () -> RawClient.Response in
          let client = try RawClient(port: port)
          client.send(request)
          return try client.response()
        }
        #expect(response.body == "127.0.0.1")
      }
    }
  }

  @Test func `what cannot be listened on is said`() async throws {
    try await withServer { server in
      var configuration = HTTPServerConfiguration()
      configuration.port = server.port
      #expect(throws: HTTPServerError.cannotListen(address: "127.0.0.1", port: server.port, errno: EADDRINUSE)) {
        try HTTPServer(configuration: configuration, handler: EchoHandler())
      }
      configuration.address = "localhost"
      #expect(throws: HTTPServerError.invalidAddress("localhost")) {
        try HTTPServer(configuration: configuration, handler: EchoHandler())
      }
      configuration.idleTimeout = 0
      #expect(throws: HTTPServerError.invalidLimit("idleTimeout")) {
        try HTTPServer(configuration: configuration, handler: EchoHandler())
      }
    }
  }

  private struct Fixed: HTTPHandler {
    let reply: HTTPResponse
    func respond(to request: HTTPRequest) async -> HTTPResponse { reply }
    func refusal(_ fault: HTTPFault) -> HTTPResponse { HTTPResponse(status: fault.status) }
  }

  private struct Address: HTTPHandler {
    func respond(to request: HTTPRequest) async -> HTTPResponse {
      HTTPResponse(status: 200, body: Array(request.remoteAddress.utf8))
    }
    func refusal(_ fault: HTTPFault) -> HTTPResponse { HTTPResponse(status: fault.status) }
  }
}
