import Base
import Glibc

@testable import HTTP

/// Runs blocking code on a thread of its own, away from the pool that the handlers run on.
func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    let isStarted = BackgroundThread.start { continuation.resume(with: Result(catching: body)) }
    if !isStarted { continuation.resume(throwing: HTTPServerError.cannotStart) }
  }
}

/// Sends a request on a connection of its own and reads one response.
func ask(_ port: UInt16, _ request: String) async throws -> RawClient.Response {
  try await blocking {
    let client = try RawClient(port: port)
    client.send(request)
    return try client.response()
  }
}

/// Starts a server on a free port, and stops it after the body, whatever came of it.
func withServer(
  handler: any HTTPHandler = EchoHandler(), _ adjust: (inout HTTPServerConfiguration) -> Void = { _ in },
  _ body: (HTTPServer) async throws -> Void
) async throws {
  var configuration = HTTPServerConfiguration()
  configuration.port = 0
  configuration.threads = 2
  adjust(&configuration)
  let server = try HTTPServer(configuration: configuration, handler: handler)
  do {
    try await body(server)
  } catch {
    await server.stop(drainSeconds: 0)
    throw error
  }
  await server.stop(drainSeconds: 5)
}

/// Says what it was asked: `POST /p name=value [header values of X-Test] body`.
struct EchoHandler: HTTPHandler {
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    if request.path == "/later" { try? await Task.sleep(for: .milliseconds(50)) }
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    let values = request.headers.values("x-test").joined(separator: "|")
    let text = "\(request.method) \(request.path) \(query) [\(values)] " + String(decoding: request.body, as: UTF8.self)
    return HTTPResponse(status: 200, headers: [("Content-Type", "text/plain")], body: Array(text.utf8))
  }

  func refusal(_ fault: HTTPFault) -> HTTPResponse {
    HTTPResponse(status: fault.status, headers: [("X-Refused-By", "edge")], body: Array("\(fault)".utf8))
  }
}

/// Keeps every request waiting until it is opened.
final class GateHandler: HTTPHandler {
  private struct State {
    var isOpen = false
    var arrived = 0
    var cancelled = 0
    var answered = 0
  }

  private let state = Locked(State())

  var arrived: Int { state.withLock { $0.arrived } }
  var cancelled: Int { state.withLock { $0.cancelled } }
  var answered: Int { state.withLock { $0.answered } }

  func open() { state.withLock { $0.isOpen = true } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    state.withLock { $0.arrived += 1 }
    while !state.withLock({ $0.isOpen }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
    state.withLock { state in
      if Task.isCancelled { state.cancelled += 1 }
      state.answered += 1
    }
    return HTTPResponse(status: 200, body: Array("through".utf8))
  }

  func refusal(_ fault: HTTPFault) -> HTTPResponse {
    HTTPResponse(status: fault.status, headers: [("X-Refused-By", "edge")], body: Array("\(fault)".utf8))
  }
}

/// Waits for a condition, at most so many seconds; false when it never came.
func eventually(within seconds: Int = 10, _ condition: @Sendable () -> Bool) async -> Bool {
  let end = ContinuousClock.now + .seconds(seconds)
  while ContinuousClock.now < end {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return condition()
}

/// Carries a client from one `blocking` to the next.
// Sendable by use: a test awaits each `blocking` before it starts the next, so that no two threads hold it at once.
final class Held<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}

func usleepMilliseconds(_ count: UInt32) { usleep(count * 1000) }
