import App
import Base
import Glibc
import HTTP
import Mock

/// Test mode's publisher. It serves the mock authority's lists over plain HTTP on the loopback interface, as an
/// issuer's publisher does on the web.
///
/// It counts the requests for each path, and remembers nothing else about them.
package final class MockPublisher: Sendable {
  /// What the publisher answers at a path. A list is made when it is requested.
  package enum Answer: Sendable {
    case list(mediaType: String, @Sendable (Timestamp) throws -> [UInt8])
    case status(Int)
    case redirect(to: String)
    /// Sends no answer until the publisher stops, or for ten minutes.
    case silence
  }

  private let http: HTTPServer
  private let shelf: MockShelf

  /// `http://127.0.0.1:40123/`.
  package var baseURL: String { "http://127.0.0.1:\(http.port)/" }
  package var port: UInt16 { http.port }
  package var addresses: MockAddresses { MockAddresses(base: baseURL) }

  /// Starts a publisher without lists.
  ///
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

  /// Serves the lists of an authority whose addresses are those of this publisher.
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

  /// Serves this answer at the path, in place of any earlier one.
  package func publish(_ answer: Answer, at path: String) { shelf.put(answer, at: "/" + path) }

  /// The number of requests for each path, without its first slash, since the start or the last `forgetRequests`.
  package var requests: [String: Int] { shelf.requests }
  package func forgetRequests() { shelf.forgetRequests() }

  package func stop() async { await http.stop(drainSeconds: 0) }
}

/// The publisher's answers, by path.
private final class MockShelf: HTTPHandler {
  private struct State {
    var answers: [String: MockPublisher.Answer] = [:]
    var requests: [String: Int] = [:]
  }

  /// At most this many paths are counted separately. All others are counted together, under the empty path.
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

  func refusal(_ fault: HTTPFault, of request: HTTPRequest?) -> HTTPResponse { HTTPResponse(status: fault.status) }
}

/// The command `mdoc mock publish`.
extension MockPublisher {
  /// Serves the lists of an authority, which from now on are at this publisher's addresses, until SIGTERM or SIGINT.
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
