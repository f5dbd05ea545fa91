import Glibc
import TestSupport
import Testing

@testable import HTTP

private let request = "GET /p HTTP/1.1\r\nHost: a\r\n\r\n"

/// A server that cannot start says why.
@Suite(.onOwnThreads) struct StartTests {
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

  /// Without it, the first reply to a client that has left would end the process.
  @Test func `a broken pipe is an error and not a signal`() async throws {
    try await withServer { _ in
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      close(ends[0])
      var byte: UInt8 = 0
      #expect(write(ends[1], &byte, 1) == -1)
      #expect(errno == EPIPE)
      close(ends[1])
    }
  }
}

/// A server that ends, with requests in every state.
@Suite(.onOwnThreads) struct StopTests {
  @Test func `a graceful stop answers what has begun and refuses what is new`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler) { server in
      let port = server.port
      let idle = try await blocking { Held(try RawClient(port: port)) }
      async let begun = ask(port, request)
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

      // On the server's own threads: other suites may keep the cooperative pool busy for seconds.
      let stop = Task.detached(executorPreference: WorkerThreads.shared) { await server.stop(drainSeconds: 30) }
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

  /// Without a drain, requests whose header precedes the stop and whose body follows it reach a closed server: they are
  /// suspended and get their refusal immediately.
  @Test(arguments: [0, 0, 0, 0, 10])
  func `stopping under load answers or closes every connection`(drainSeconds: Int) async throws {
    try await withServer { server in
      let port = server.port
      let work = Task {
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for _ in 0..<16 { group.addTask { try await blocking { Self.isServedUntilTheEnd(port) } } }
          return try await group.allSatisfy { $0 }
        }
      }
      try await Task.sleep(for: .milliseconds(200))
      await server.stop(drainSeconds: drainSeconds)
      let isSound = try await work.value
      #expect(isSound)
      #expect(server.core.unfinished.load(ordering: .acquiring) == 0)
      #expect(server.core.suspended.isEmpty)
    }
  }

  /// Posts, header and body apart, until the server turns one away or closes; false for any other outcome.
  private static func isServedUntilTheEnd(_ port: UInt16) -> Bool {
    guard let client = try? RawClient(port: port) else { return true }
    while true {
      client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n")
      client.send("hi")
      do {
        let status = try client.response().status
        guard status == 200 else { return status == 503 }
      } catch RawClient.Failure.closed { return true } catch { return false }
    }
  }

  @Test func `a stopped server lets go of its handler`() async throws {
    weak var handler: GateHandler?
    do {
      let strong = GateHandler()
      strong.open()
      handler = strong
      try await withServer(handler: strong) { server in
        let status = try await ask(server.port, request).status
        #expect(status == 200)
      }
    }
    // The sweeper's thread notices the stop a moment later.
    for _ in 0..<1000 where handler != nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(handler == nil)
  }
}
