import Base
import Glibc

@testable import HTTP

/// Starts a server on a free port, and always stops it after the body.
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

/// Repeats the request: `POST /p name=value [header values of X-Test] body`.
struct EchoHandler: HTTPHandler {
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    if request.path == "/later" { try? await Task.sleep(for: .milliseconds(50)) }
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    let values = request.headers.values("x-test").joined(separator: "|")
    let text = "\(request.method) \(request.path) \(query) [\(values)] " + String(decoding: request.body, as: UTF8.self)
    return HTTPResponse(status: 200, headers: [("Content-Type", "text/plain")], body: Array(text.utf8))
  }

  func refusal(_ fault: HTTPError, of request: HTTPRequest?) -> HTTPResponse {
    HTTPResponse(status: fault.status, headers: [("X-Refused-By", "edge")], body: Array("\(fault)".utf8))
  }
}

/// Keeps every request waiting until it is opened.
final class GateHandler: HTTPHandler {
  /// Whether its requests only wait, so that they may end with their peers.
  private let holds: Bool

  init(holds: Bool = false) { self.holds = holds }

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
    if holds { await HandlingPlace.lend(endsWithPeer: true, while: wait) } else { await wait() }
    state.withLock { state in
      if Task.isCancelled { state.cancelled += 1 }
      state.answered += 1
    }
    return HTTPResponse(status: 200, body: Array("through".utf8))
  }

  private func wait() async {
    while !state.withLock({ $0.isOpen }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
  }

  func refusal(_ fault: HTTPError, of request: HTTPRequest?) -> HTTPResponse {
    HTTPResponse(status: fault.status, headers: [("X-Refused-By", "edge")], body: Array("\(fault)".utf8))
  }
}
