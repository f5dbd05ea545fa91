import App
import Base
import Cryptography
import HTTP
import Mock
import TestMode
import Vectors

/// The mock wallet in the load's own process, so that a node can be killed without taking the wallet along.
///
/// The nodes' seed gives the authority that they trust and the key that decrypts their responses. This process also
/// serves the lists that the documents name.
struct LoadWallet: Sendable {
  private let wallet: MockWallet
  private let merchantID: String
  private let teamID: String
  private let recipientKey: PublicKey

  /// - Parameter mode: a server of the nodes' seed. It gives the keys; nobody calls its API.
  init(_ mode: TestServer) throws {
    wallet = MockWallet(authority: mode.authority)
    merchantID = mode.merchantID
    teamID = mode.teamID
    recipientKey = try PublicKey(curve: .p256, encoded: mode.encryptionPublicKey)
  }

  /// The body of a submit for the created session, made at the node's time; nil if the reply is not a session with a
  /// nonce.
  func answer(_ created: JSON) -> [UInt8]? {
    guard let nonce = created["requests"]?.array?.first?["data"]?["nonce"]?.string.flatMap(Base64.decode),
      let now = created["created"]?.integer
    else { return nil }
    let session = MockAppleSession(
      nonce: nonce, merchantID: merchantID, teamID: teamID, recipientKey: recipientKey)
    let answer = try? wallet.answerApple(
      Self.request, session: session, at: Timestamp(secondsSince1970: now))
    guard let answer else { return nil }
    let body: JSON = [
      "protocol": "apple-in-app", "data": ["encrypted_data": .string(Base64.encode(answer.bytes))],
    ]
    return body.serialized()
  }

  /// The same request as `ServerBenchmarkWorker.requestBytes`.
  private static let request = MockRequest(documents: [
    MockRequest.Document(
      docType: MockDocType.mDL, elements: ServerBenchmarkWorker.elements.map { (MockNamespace.mDL, $0) },
      ageOver: [Int(ServerBenchmarkWorker.age)])
  ])
}

/// A relying party's endpoint that hangs at first: messages that arrive then get no reply. Later messages get a reply.
final class WebhookReceiver: HTTPHandler {
  struct Deliveries: Sendable {
    /// Messages that came during the silence and got no reply.
    var held = 0
    /// Messages that got a reply, and how many of them had come before.
    var taken = 0
    var repeated = 0
    /// Sessions whose event had not come when the wait ended.
    var missing = 0
    /// Seconds from the end of the silence to the last event that came for the first time.
    var caughtUpAfter = 0.0
  }

  private struct State {
    var deliveries = Deliveries()
    var answersFrom = Double.infinity
    var sessions: Set<String> = []
    var events: Set<String> = []
  }

  /// Seconds after the silence in which every event must come: the second attempt is due after 5 s and the third 25 s
  /// later.
  private static let patience = 120.0

  private let silence: Double
  private let state = Locked(State())

  /// - Parameter silence: seconds of silence from the beginning of the load.
  init(silence: Double) { self.silence = silence }

  func begin() {
    let answersFrom = CPUClock.wall() + silence * 1e6
    state.withLock { $0.answersFrom = answersFrom }
  }

  func start(port: UInt16) throws(HTTPServerError) -> HTTPServer {
    var configuration = HTTPServerConfiguration()
    configuration.port = port
    configuration.threads = 1
    // A message that is held blocks a place, so as many may run as may be in flight.
    configuration.maxRunning = configuration.maxInFlight
    return try HTTPServer(configuration: configuration, handler: self)
  }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let now = CPUClock.wall()
    let body = try? JSON(parsing: request.body)
    let isHeld = state.withLock { state in
      guard now >= state.answersFrom else {
        state.deliveries.held += 1
        return true
      }
      state.deliveries.taken += 1
      if !state.events.insert(body?["id"]?.string ?? "").inserted { state.deliveries.repeated += 1 }
      if body?["type"] == "verification_session.verified",
        state.sessions.insert(body?["data"]?["id"]?.string ?? "").inserted
      {
        state.deliveries.caughtUpAfter = (now - state.answersFrom) / 1e6
      }
      return false
    }
    if isHeld { try? await Task.sleep(for: .seconds(600)) }
    return HTTPResponse(status: isHeld ? 503 : 204)
  }

  func refusal(_ fault: HTTPError, of request: HTTPRequest?) -> HTTPResponse {
    HTTPResponse(status: fault.status)
  }

  /// Waits until the event of each of these sessions has come, or the patience is over.
  func waitForAll(_ sessions: Set<String>) async -> Deliveries {
    let end = CPUClock.wall() + (silence + Self.patience) * 1e6
    while true {
      let (missing, deliveries) = state.withLock { (sessions.subtracting($0.sessions).count, $0.deliveries) }
      guard missing > 0, CPUClock.wall() < end else {
        var deliveries = deliveries
        deliveries.missing = missing
        return deliveries
      }
      try? await Task.sleep(for: .milliseconds(100))
    }
  }
}
