import Base
import FoundationEssentials
import Longfellow
import Mdoc
import Mock
import Sessions
import Testing

@testable import App
@testable import TestMode

/// A folder that is removed after the test.
func withFolder<R>(_ body: (String) async throws -> R) async throws -> R {
  let folder = try TemporaryStore.makeFolder()
  defer { TemporaryStore.remove(folder) }
  return try await body(folder)
}

extension ServerAdditions {
  /// Test mode's paths, as listed in the table of routes.
  static let sample: ServerAdditions = {
    do {
      return .testMode(
        MockWalletEndpoint(authority: try MockAuthority(seed: Array("sample".utf8))), apiKey: "none",
        check: CheckRoute(anchors: []))
    } catch {
      fatalError("no mock authority: \(error)")
    }
  }()

  static func of(isLive: Bool) -> ServerAdditions { isLive ? .none : sample }
}

/// Collects the log's lines.
final class LogCapture: Sendable {
  private let lines = Locked<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  var text: String { all.joined(separator: "\n") }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  /// The line of a request.
  func line(of reply: APIClient.Reply) -> JSON? {
    let id = reply.header("Request-Id") ?? "none"
    return all.compactMap { try? JSON(parsing: Array($0.utf8)) }.first { $0["request_id"]?.string == id }
  }
}

/// A clock that only the test changes.
final class TestClock: Sendable {
  private let time: Locked<Timestamp>
  init(_ time: Timestamp = Timestamp(secondsSince1970: 1_795_000_000)) { self.time = Locked(time) }
  var now: Timestamp { time.withLock { $0 } }
  func advance(_ seconds: Int64) { time.withLock { $0 = $0 + seconds } }
}

/// A server in test mode with a client for it.
struct TestBed: Sendable {
  static let origin = "https://shop.example"
  let mode: TestServer
  let log: LogCapture
  let clock: TestClock
  let api: APIClient

  var waits: SessionWaits { mode.server.updater.inForce.current.state.waits }

  /// Creates a session; by default the one that the mock variants are made for.
  func createSession(_ request: MockRequest = .standard, extra: [JSON.Member] = []) async throws -> JSON {
    let reply = try await api.post("/v1/verification_sessions", TestBed.body(request, extra: extra))
    #expect(reply.status == 201, "\(reply.body)")
    return reply.json
  }

  /// `{protocol, data}` of the mock wallet.
  func mockAnswer(_ session: JSON, variant: String = "good", by name: String? = nil) async throws -> JSON {
    let reply = try await api.post(
      "/v1/test/mock_responses",
      .members(["session": session["id"], "variant": .string(variant), "protocol": name.map { .string($0) }]))
    #expect(reply.status == 200, "\(reply.body)")
    return reply.json
  }

  func submit(_ answer: JSON, to session: JSON, as token: String? = nil) async throws -> APIClient.Reply {
    try await api.with(token ?? api.token).post(TestBed.path(session) + "/submit", answer)
  }

  static func path(_ session: JSON) -> String { "/v1/verification_sessions/\(session["id"]?.string ?? "none")" }

  /// Creates a session by web protocols, or by one whose responses wallets post.
  func createSession(
    by protocols: String..., asking request: MockRequest = .standard, origin: String = TestBed.origin,
    redirectURI: String? = nil
  ) async throws -> JSON {
    var extra: [JSON.Member] = []
    if protocols.contains(where: { ProtocolFamily(ofProtocol: $0) == .web }) {
      extra.append(.init("origin", .string(origin)))
    }
    if let redirectURI { extra.append(.init("redirect_uri", .string(redirectURI))) }
    let reply = try await api.post(
      "/v1/verification_sessions", TestBed.body(request, protocols: protocols, extra: extra))
    #expect(reply.status == 201, "\(reply.body)")
    return reply.json
  }

  /// Posts a form to the wallets' response address; with the hash of a page's response code, to that page's address.
  func postForm(
    _ fields: JSON, to session: JSON, action: String = "response", code: String? = nil
  ) async throws -> APIClient.Reply {
    let text = (fields.object ?? []).map { "\($0.name)=\(Self.escaped($0.value.string ?? ""))" }
    return try await api.with(nil).call(
      "POST", Self.walletPath(session, action, code: code), Array(text.joined(separator: "&").utf8),
      ["Content-Type": "application/x-www-form-urlencoded"])
  }

  static func walletPath(_ session: JSON, _ action: String, code: String? = nil) -> String {
    let name = (session["id"]?.string ?? "none") + (code.map { "." + $0 } ?? "")
    return "/v1/wallet/\(TestServer.relyingPartyID)/\(name)/\(action)"
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let scalar = UnicodeScalar(byte)
      let isPlain =
        byte < 0x80 && (Character(scalar).isLetter || Character(scalar).isNumber || "-._~".contains(Character(scalar)))
      return isPlain ? String(scalar) : "%" + Hex.encode([byte])
    }.joined()
  }

  static func body(
    _ request: MockRequest, protocols: [String] = ["apple-in-app"], extra: [JSON.Member] = []
  ) -> JSON {
    let documents = request.documents.map { document -> JSON in
      .members([
        "doc_type": .string(document.docType),
        "elements": .array(
          document.elements.map { ["namespace": .string($0.namespace), "identifier": .string($0.identifier)] }),
        "age_over": .array(document.ageOver.map { .integer(Int64($0)) }),
        "zk": document.requiresProof ? "required" : nil,
      ])
    }
    return .object(
      [.init("protocols", .array(protocols.map { .string($0) })), .init("documents", .array(documents))] + extra)
  }
}

/// Starts test mode with a fixed seed and clock, and stops it after the body.
func withTestMode<R>(
  store: String? = nil, clock: TestClock = TestClock(), seed: String = "tests",
  revocation: RevocationPolicy = .requireGood, webhook: String? = nil,
  evidenceKey: EvidenceKey? = nil, circuits: CircuitLibrary? = nil, origins: [String] = [TestBed.origin],
  documentation: DocumentationSite? = nil,
  openID4VP change: (inout OpenID4VPConfiguration) -> Void = { _ in }, _ body: (TestBed) async throws -> R
) async throws -> R {
  let log = LogCapture()
  var options = TestModeOptions()
  options.seed = Array(seed.utf8)
  options.store = store.map(StoreLocation.sqlite)
  options.origins = origins
  change(&options.openID4VP)
  options.revocation = revocation
  options.webhookURL = webhook
  options.evidenceKey = evidenceKey
  options.circuits = circuits
  options.documentation = documentation
  // Bursts of tests on a slow machine must not count as overload.
  options.patience = 60_000
  options.clock = { clock.now }
  options.log = log.add
  let mode = try TestServer.start(options)
  let api = APIClient(port: mode.server.listen.port, token: mode.apiKey)
  do {
    let result = try await body(TestBed(mode: mode, log: log, clock: clock, api: api))
    await mode.server.stop(drainSeconds: 5)
    return result
  } catch {
    await mode.server.stop(drainSeconds: 0)
    throw error
  }
}
