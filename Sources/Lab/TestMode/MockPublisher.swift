import App
import Base
import Glibc
import HTTP
import Mock

/// Test mode's publisher: serves the mock authority's lists over HTTP on the loopback interface, and counts requests.
package final class MockPublisher: Sendable {
  /// The reply at a path. A list is made when it is requested.
  package enum Reply: Sendable {
    case list(mediaType: String, @Sendable (Timestamp) throws -> [UInt8])
    case status(Int)
    case redirect(to: String)
    /// Sends no reply until the publisher stops, or for ten minutes.
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
  /// - Parameter port: 0 for any free port.
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

  /// Serves the lists of an authority with this publisher's addresses.
  package func publish(_ lists: [MockPublishedList] = MockPublishedList.all, of authority: MockAuthority) {
    for list in lists {
      let reply: Reply =
        switch list.manner {
        case .serves: .list(mediaType: list.mediaType) { try list.published(by: authority, at: $0) }
        case .isUnavailable: .status(503)
        case .isSilent: .silence
        }
      publish(reply, at: list.path)
    }
  }

  /// Serves lists of anchors that contain the authority.
  package func publishAnchorLists(naming authority: MockAuthority) {
    for list in MockList.ofAnchors {
      publish(.list(mediaType: list.mediaType) { try list.published(by: authority, now: $0) }, at: list.anchorPath)
    }
  }

  /// Serves this reply at the path. It replaces any earlier reply.
  package func publish(_ reply: Reply, at path: String) { shelf.state.withLock { $0.replies["/" + path] = reply } }

  /// The number of requests for each path. Paths omit their first slash.
  package var requests: [String: Int] { shelf.state.withLock { $0.requests } }

  package func stop() async { await http.stop(drainSeconds: 0) }
}

/// The publisher's replies, by path.
private struct MockShelf: HTTPHandler {
  struct State {
    var replies: [String: MockPublisher.Reply] = [:]
    var requests: [String: Int] = [:]
  }

  /// The number of paths that are counted separately. All others are counted together, under the empty path.
  private static let maximumPaths = 1_024

  let state = Locked(State())
  let clock: @Sendable () -> Timestamp

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let reply = state.withLock { state in
      let path = String(request.path.dropFirst())
      let isCounted = state.requests[path] != nil || state.requests.count < Self.maximumPaths
      state.requests[isCounted ? path : "", default: 0] += 1
      return state.replies[request.path]
    }
    guard request.method == "GET" || request.method == "HEAD" else { return HTTPResponse(status: 405) }
    switch reply {
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

  func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse { HTTPResponse(status: error.status) }
}

extension MockPublisher {
  /// The command `mdoc mock publish`: serves an authority's lists at this publisher's addresses until SIGTERM or
  /// SIGINT.
  package static func run(port: UInt16, authority: MockAuthority, announce: (String) -> Void) async throws(StartError) {
    StopSignal.install()
    let publisher = try MockPublisher(port: port, clock: Timestamp.systemNow)
    let authority = authority.publishing(at: publisher.addresses)
    publisher.publish(of: authority)
    publisher.publishAnchorLists(naming: authority)
    announce(publisher.baseURL)
    fflush(nil)
    await StopSignal.wait()
    await publisher.stop()
  }
}
