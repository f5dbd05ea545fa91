import Base
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// An overloaded server, over the wire.
@Suite(.onOwnThreads) struct OverloadTests {
  /// A handler that is busy until it is opened, and marks requests that must not wait.
  private final class BusyHandler: HTTPHandler {
    let gate = GateHandler()
    let faults = Locked<[HTTPError]>([])

    func admission(of request: HTTPRequest) throws(HTTPError) -> Urgency {
      switch request.path {
      case "/health": return .essential
      case "/begin": return .deferrable
      case "/often": throw .rateLimited(retryAfter: 9)
      default: return .normal
      }
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      request.path == "/health" ? HTTPResponse(status: 200) : await gate.respond(to: request)
    }

    func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse {
      faults.withLock { $0.append(error) }
      var response = gate.refusal(error, of: request)
      if let request { response.headers.append(("X-Asked", request.path)) }
      return response
    }
  }

  private static func request(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

  @Test func `a request that waits too long gets 503, and what says how the server is does not wait`() async throws {
    let handler = BusyHandler()
    try await withServer(handler: handler) {
      $0.maxRunning = 1
      $0.delayTarget = 50
      $0.delayInterval = 100
      $0.overloadRetryAfter = 7
    } _: { server in
      let port = server.port
      async let first = ask(port, Self.request("/p"))
      #expect(await eventually { handler.gate.arrived == 1 })
      let late = try await ask(port, Self.request("/p"))
      #expect(late.status == 503)
      #expect(late.header("Retry-After") == "7")
      #expect(late.header("X-Asked") == "/p")
      #expect(handler.faults.withLock { $0 } == [.overloaded(.delay, retryAfter: 7)])
      // It was never handled.
      #expect(handler.gate.arrived == 1)
      #expect(try await ask(port, Self.request("/health")).status == 200)
      handler.gate.open()
      let status = try await first.status
      #expect(status == 200)
      // The server then serves as before.
      #expect(try await ask(port, Self.request("/p")).status == 200)
    }
  }

  /// A handler whose requests to `/a` hold their thread until it is opened.
  private final class BlockingHandler: HTTPHandler {
    let gate = GateHandler()
    let arrived = Atomic(0)
    let isOpen = Atomic(false)
    let costs = Locked<[Int64]>([])

    func flow(of request: HTTPRequest) -> Flow { Flow(relyingParty: request.path) }

    func charge(_ request: HTTPRequest, replyBytes: Int, nanoseconds: Int64) {
      costs.withLock { $0.append(nanoseconds) }
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      guard request.path == "/a" else { return HTTPResponse(status: 200) }
      arrived.add(1, ordering: .relaxed)
      while !isOpen.load(ordering: .relaxed) { usleep(1_000) }
      return HTTPResponse(status: 200)
    }

    func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse { gate.refusal(error, of: request) }
  }

  @Test func `one flow's requests have all processors, and another's begin at once`() async throws {
    let handler = BlockingHandler()
    let processors = HTTPServerConfiguration.processorCount
    try await withServer(handler: handler) { server in
      let port = server.port
      try await withThrowingTaskGroup(of: Int.self) { group in
        defer { handler.isOpen.store(true, ordering: .relaxed) }
        for _ in 0..<processors + 3 { group.addTask { try await ask(port, Self.request("/a")).status } }
        #expect(await eventually { handler.arrived.load(ordering: .relaxed) == processors })
        #expect(try await ask(port, Self.request("/b")).status == 200)
        #expect(handler.arrived.load(ordering: .relaxed) == processors)
        handler.isOpen.store(true, ordering: .relaxed)
        for try await status in group { #expect(status == 200) }
      }
    }
    // The time of each is charged: those that were held took longer.
    #expect(handler.costs.withLock { $0.count } == processors + 4)
    #expect(handler.costs.withLock { $0.max() ?? 0 } >= 1_000_000)
  }

  @Test func `a refusal for its rate keeps the connection`() async throws {
    let handler = BusyHandler()
    try await withServer(handler: handler) { server in
      let port = server.port
      let (refused, next) = try await blocking { () -> (RawClient.Response, RawClient.Response) in
        let client = try RawClient(port: port)
        client.send(Self.request("/often"))
        let refused = try client.response()
        client.send(Self.request("/health"))
        return (refused, try client.response())
      }
      #expect(refused.status == 429)
      #expect(refused.header("Retry-After") == "9")
      #expect(next.status == 200)
      #expect(handler.gate.arrived == 0)
    }
  }

  @Test func `bodies of all requests together have a limit`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler) {
      $0.maxBufferedBodyBytes = 1_000
    } _: { server in
      let port = server.port
      let body = String(repeating: "x", count: 600)
      let post = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 600\r\n\r\n"
      async let first = ask(port, post + body)
      #expect(await eventually { handler.arrived == 1 })
      // A declared length is refused before the body is sent.
      #expect(try await ask(port, post).status == 503)
      handler.open()
      _ = try await first
      // No memory is held any more.
      #expect(await eventually { server.core.configuration.gauges.bodyBytes.load(ordering: .acquiring) == 0 })
      #expect(try await ask(port, post + body).status == 200)
    }
  }

  @Test func `a request that waits for somebody outside lends its place`() async throws {
    let handler = LendingHandler()
    try await withServer(handler: handler) {
      $0.maxRunning = 1
    } _: { server in
      let port = server.port
      async let slow = ask(port, Self.request("/slow"))
      #expect(await eventually { handler.gate.arrived == 1 })
      #expect(try await ask(port, Self.request("/p")).status == 200)
      handler.gate.open()
      let status = try await slow.status
      #expect(status == 200)
      #expect(await eventually { server.core.configuration.gauges.running.load(ordering: .acquiring) == 0 })
    }
  }

  private struct LendingHandler: HTTPHandler {
    let gate = GateHandler()

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      guard request.path == "/slow" else { return HTTPResponse(status: 200) }
      return await HandlingPlace.lend { await gate.respond(to: request) }
    }

    func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse { gate.refusal(error, of: request) }
  }

  @Test func `a stop answers those that wait, and handles none of them`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler) {
      $0.maxRunning = 1
      $0.delayTarget = 60_000
      $0.delayInterval = 60_000
    } _: { server in
      let port = server.port
      async let first = ask(port, Self.request("/p"))
      #expect(await eventually { handler.arrived == 1 })
      async let second = ask(port, Self.request("/p"))
      #expect(await eventually { server.inFlightCount == 2 })
      await server.stop(drainSeconds: 0)
      let statuses = try await [first.status, second.status]
      #expect(statuses == [503, 503])
      #expect(await eventually { server.inFlightCount == 0 })
      #expect(handler.arrived == 1)
    }
  }
}
