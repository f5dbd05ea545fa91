import Base
import Cryptography
import HTTP
import Network
import TestStores
import TestSupport
import Testing

@testable import App
@testable import Sessions

/// A receiver on this machine that replies as instructed, and remembers the messages.
final class Receiver: HTTPHandler {
  private let requests = Locked<[HTTPRequest]>([])
  private let answer: @Sendable (Int) async -> HTTPResponse

  /// - Parameter answer: the reply to the request with this number, from 1.
  init(_ answer: @escaping @Sendable (Int) async -> HTTPResponse) { self.answer = answer }

  var seen: [HTTPRequest] { requests.withLock { $0 } }
  var ids: [String] { seen.compactMap { $0.headers.single("webhook-id") } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let number = requests.withLock { requests in
      requests.append(request)
      return requests.count
    }
    return await answer(number)
  }

  func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse { HTTPResponse(status: error.status) }

  static func always(_ status: Int, _ headers: [(name: String, value: String)] = []) -> Receiver {
    Receiver { _ in HTTPResponse(status: status, headers: headers) }
  }

  /// Never within an attempt's time.
  static func silent() -> Receiver {
    Receiver { _ in
      try? await Task.sleep(for: .seconds(600))
      return HTTPResponse(status: 200)
    }
  }
}

/// A store, its clock, and receivers that events are delivered to.
struct WebhookBed: Sendable {
  static let secret = "whsec_" + Base64.encode([UInt8](repeating: 9, count: 32))

  let store: any SessionStore
  let clock = TestClock()
  let log = LogCapture()
  let metrics = WebhookMetrics()
  let party: RelyingParty

  init(_ endpoints: [WebhookEndpoint], store: any SessionStore = InMemoryStore(mode: .test)) {
    self.store = store
    party = RelyingParty(id: "shop", webhooks: endpoints)
  }

  static func endpoint(
    _ id: String = "main", at url: String, secrets: [String] = [secret]
  ) throws -> WebhookEndpoint {
    WebhookEndpoint(id: id, url: url, secrets: try secrets.map { try #require(WebhookSecret($0)) })
  }

  func dispatcher(
    in mode: ServerMode = .test, store: (any EventStore)? = nil, pinnedNames: [String] = []
  ) throws -> WebhookDispatcher {
    var configuration = WebListFetcher.Configuration()
    configuration.pinnedNames = pinnedNames
    let parties = try RelyingParties([party])
    let clock = clock
    return WebhookDispatcher(
      .init(
        store: store ?? self.store, relyingParties: { parties }, mode: mode,
        poster: try WebPoster(configuration), log: Log(sink: log.add), clock: { clock.now }, metrics: metrics,
        interval: .milliseconds(20), grace: .milliseconds(100)))
  }

  /// Runs a dispatcher for as long as the body.
  func dispatching(
    in mode: ServerMode = .test, pinnedNames: [String] = [], _ body: () async throws -> Void
  ) async throws {
    let dispatcher = try dispatcher(in: mode, pinnedNames: pinnedNames)
    do {
      try await body()
    } catch {
      await dispatcher.stop()
      throw error
    }
    await dispatcher.stop()
  }

  /// Triggers an event and returns it.
  @discardableResult
  func cancelSession() async throws -> EventID {
    let now = clock.now
    let session = SessionRecord(
      address: SessionAddress(relyingParty: "shop", id: try SessionID.random()), created: now, expiresAt: now + 600,
      clientSecretHash: nil, content: nil, offers: [])
    try await store.create(session, finishing: nil)
    _ = try await store.cancel(session.address, at: now)
    return EventID(session.address.id, .canceled)
  }

  func deliveries(_ status: DeliveryStatus) async throws -> [DeliveryRecord] {
    try #require(try await store.deliveries(of: "shop", DeliveryQuery(limit: 100, status: status))).entries
  }
}

/// Starts receivers and stops them after the body, which gets their addresses. Compares the sent messages with the
/// contract, like every reply.
func withReceivers(_ receivers: Receiver..., body: ([String]) async throws -> Void) async throws {
  var servers: [HTTPServer] = []
  for receiver in receivers {
    var configuration = HTTPServerConfiguration()
    configuration.port = 0
    configuration.threads = 1
    servers.append(try HTTPServer(configuration: configuration, handler: receiver))
  }
  do {
    try await body(servers.map { "http://127.0.0.1:\($0.port)/hooks" })
  } catch {
    for server in servers { await server.stop(drainSeconds: 0) }
    throw error
  }
  for server in servers { await server.stop(drainSeconds: 0) }
  let document = Contract.test.document
  for request in receivers.flatMap(\.seen) {
    let event = try JSON(parsing: request.body)
    #expect(
      Schema.reference("Event").violations(of: event, with: .init(of: document)) == [])
  }
}

/// Waits generously for the dispatcher's own actions.
func eventually(
  _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
  for _ in 0..<2_000 {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(20))
  }
  Issue.record(comment, sourceLocation: sourceLocation)
}
