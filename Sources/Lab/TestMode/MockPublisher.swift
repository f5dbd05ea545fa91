import App
import Base
import Glibc
import HTTP
import Mock

/// Test mode's publisher: serves the mock authority's lists over plain HTTP on the loopback interface, as an issuer's
/// publisher would on the web.
///
/// What it remembers of who asked is which path, and how often.
package final class MockPublisher: Sendable {
  /// Where a list is to be had, as it is when it is asked for.
  package enum Answer: Sendable {
    case list(mediaType: String, @Sendable (Timestamp) throws -> [UInt8])
    case status(Int)
    case redirect(to: String)
    /// None, until the server stops.
    case silence
  }

  private let http: HTTPServer
  private let shelf: MockShelf

  /// `http://127.0.0.1:40123/`.
  package var baseURL: String { "http://127.0.0.1:\(http.port)/" }
  package var port: UInt16 { http.port }
  package var addresses: MockAddresses { MockAddresses(base: baseURL) }

  /// Has nothing to serve yet.
  /// - Parameter port: 0 for a free one.
  package init(port: UInt16 = 0, clock: @escaping @Sendable () -> Timestamp) throws(StartError) {
    shelf = MockShelf(clock: clock)
    var configuration = HTTPServerConfiguration()
    configuration.port = port
    configuration.threads = 1
    configuration.maxBodyBytes = 0
    do throws(HTTPServerError) {
      http = try HTTPServer(configuration: configuration, handler: shelf)
    } catch {
      throw .unavailable("the mock publisher: \(error.description)")
    }
  }

  /// Serves the lists of an authority whose addresses are these.
  package func publish(_ lists: [MockPublishedList] = MockPublishedList.all, of authority: MockAuthority) {
    for list in lists {
      let answer: Answer =
        switch list.manner {
        case .serves: .list(mediaType: list.mediaType) { try list.published(by: authority, at: $0) }
        case .isUnavailable: .status(503)
        case .isSilent: .silence
        }
      publish(answer, at: list.path)
    }
  }

  /// Serves lists of anchors that name the authority.
  package func publish(_ lists: [MockAnchorList], naming authority: MockAuthority) {
    for list in lists {
      publish(.list(mediaType: list.mediaType) { try list.published(by: authority, at: $0) }, at: list.path)
    }
  }

  /// Takes the place of what was there.
  package func publish(_ answer: Answer, at path: String) { shelf.put(answer, at: "/" + path) }

  /// How often each path was asked for since the start, or since it was forgotten, without its first slash.
  package var requests: [String: Int] { shelf.requests }
  package func forgetRequests() { shelf.forgetRequests() }

  package func stop() async { await http.stop(drainSeconds: 0) }
}

/// What the publisher has, by path.
private final class MockShelf: HTTPHandler {
  private struct State {
    var answers: [String: MockPublisher.Answer] = [:]
    var requests: [String: Int] = [:]
  }

  /// Paths that are counted apart; whatever else is asked for counts as one.
  private static let maximumPaths = 1_024

  private let state = Locked(State())
  private let clock: @Sendable () -> Timestamp

  init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

  func put(_ answer: MockPublisher.Answer, at path: String) { state.withLock { $0.answers[path] = answer } }

  var requests: [String: Int] { state.withLock { $0.requests } }
  func forgetRequests() { state.withLock { $0.requests = [:] } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let answer = state.withLock { state in
      let path = String(request.path.dropFirst())
      let isCounted = state.requests[path] != nil || state.requests.count < Self.maximumPaths
      state.requests[isCounted ? path : "", default: 0] += 1
      return state.answers[request.path]
    }
    guard request.method == "GET" || request.method == "HEAD" else { return HTTPResponse(status: 405) }
    switch answer {
    case .list(let mediaType, let make)?:
      guard let bytes = try? make(clock()) else { return HTTPResponse(status: 500) }
      return HTTPResponse(status: 200, headers: [("Content-Type", mediaType)], body: bytes)
    case .status(let status)?: return HTTPResponse(status: status)
    case .redirect(let address)?: return HTTPResponse(status: 302, headers: [("Location", address)])
    case .silence?:
      try? await Task.sleep(for: .seconds(600))
      return HTTPResponse(status: 503)
    case nil: return HTTPResponse(status: 404)
    }
  }

  func refusal(_ fault: HTTPFault) -> HTTPResponse { HTTPResponse(status: fault.status) }
}

/// What `mdoc mock publish` calls.
extension MockPublisher {
  /// Serves the lists of an authority, whatever its addresses were, until SIGTERM or SIGINT.
  package static func run(
    port: UInt16, authority: MockAuthority, announce: (String) -> Void
  ) async throws(StartError) {
    StopSignal.install()
    let publisher = try MockPublisher(port: port, clock: Timestamp.systemNow)
    let authority = authority.publishing(at: publisher.addresses)
    publisher.publish(of: authority)
    publisher.publish(MockAnchorList.all, naming: authority)
    announce(publisher.baseURL)
    fflush(nil)
    await StopSignal.wait()
    await publisher.stop()
  }
}
