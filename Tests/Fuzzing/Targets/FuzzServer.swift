import Base
import Cryptography
import FuzzDriver
import HTTP
import Mdoc
import Mock
import Sessions
import TestStores
import Trust

@testable import App
@testable import TestMode

/// The server in test mode without its sockets and its disk, and the rules that hold for each of its replies.
struct FuzzServer: Sendable {
  let apiKey = "mdoc_test_fuzzing"
  private let material: Material
  private let configuration: ServiceConfiguration
  private let additions: ServerAdditions
  private let routes: [Route]
  private let router: Router

  struct Session: Sendable {
    let id: String
    let secret: String
  }

  static let request = """
    {"protocols":["apple-in-app"],"documents":[{"doc_type":"org.iso.18013.5.1.mDL","elements":[{"namespace":\
    "org.iso.18013.5.1","identifier":"given_name"}],"age_over":[21]}]}
    """

  init(_ material: Material) throws {
    self.material = material
    additions = .testMode(
      MockWalletEndpoint(authority: material.authority), apiKey: apiKey, check: CheckRoute(anchors: []))
    routes = RouteTable.routes(with: additions)
    router = Router(routes)
    let party = RelyingParty(
      id: "fuzz", origins: ["https://shop.example"],
      apiKeys: [APIKey(sha256: APIKey.hash(of: apiKey), scopes: Set(Scope.allCases))],
      apple: [
        AppleConfiguration(
          merchantID: "merchant.fuzz", teamID: "FUZZTEAM01", encryptionKeys: [try PrivateKey(generatingOn: .p256)])
      ],
      policies: .init(revocation: .off))
    configuration = ServiceConfiguration(
      mode: .test, relyingParties: try RelyingParties([party]),
      protocols: [AppleInAppProtocol(showsSimulatedResults: true)], trust: CurrentTrust(material.trust),
      revocation: NoRevocationSource(),
      sealingKeys: [try SealingKey(id: "fuzz", key: SecretBytes.random(count: SealingKey.length))])
  }

  /// A new server with nothing in its store.
  func handler() -> APIHandler {
    let now = material.now
    do {
      let service = try VerificationService(configuration, store: InMemoryStore(), clock: { now })
      return APIHandler(
        Application(
          service: service,
          trust: TrustUpdater(
            CurrentTrust(material.trust), plan: nil, sources: [], log: Log { _ in }, clock: { now }),
          metrics: Metrics(),
          additions: additions, isBehindProxy: true, clock: { now }),
        log: Log { line in require(!line.contains("Morgan") && !line.contains("mdoc_test_"), "logs hold nothing secret")
        })
    } catch {
      fatalError("no server: \(error)")
    }
  }

  func makeSession(_ handler: APIHandler) async -> Session {
    let reply = await answer(
      post("/v1/verification_sessions", token: apiKey, Array(Self.request.utf8)), handler)
    guard let json = try? JSON(parsing: reply.body), let id = json["id"]?.string,
      let secret = json["client_secret"]?.string
    else { fatalError("no session: \(reply.status)") }
    return Session(id: id, secret: secret)
  }

  /// The mock wallet's response, in base64.
  func rightAnswer(to session: Session, _ handler: APIHandler) async -> String {
    let body = Array(#"{"session":"\#(session.id)"}"#.utf8)
    let reply = await answer(post("/v1/test/mock_responses", token: apiKey, body), handler)
    return (try? JSON(parsing: reply.body))?["data"]?["encrypted_data"]?.string ?? ""
  }

  func post(_ path: String, token: String, _ body: [UInt8]) -> HTTPRequest {
    HTTPRequest(
      method: "POST", path: path,
      headers: HTTPHeaders([
        (name: "Authorization", value: "Bearer \(token)"), (name: "Content-Type", value: "application/json"),
      ]), body: body)
  }

  func get(_ path: String, query: [(name: String, value: String)] = [], token: String? = nil) -> HTTPRequest {
    HTTPRequest(
      method: "GET", path: path, query: query,
      headers: HTTPHeaders([(name: "Authorization", value: "Bearer \(token ?? apiKey)")]))
  }

  /// The reply, checked against the rules for every reply.
  func answer(_ request: HTTPRequest, _ handler: APIHandler) async -> HTTPResponse {
    let response = await handler.respond(to: request)
    require(
      response.status < 500, "no request makes the server fail: \(String(decoding: response.body, as: UTF8.self))")
    require(response.headers.contains { $0.name == "Request-Id" }, "every reply has its id")
    guard response.headers.contains(where: { $0.name == "Content-Type" && $0.value.contains("json") }) else {
      return response
    }
    guard let json = try? JSON(parsing: response.body) else { fatalError("broken rule: a reply is JSON") }
    if response.status >= 400 { check(json, of: response, to: request) }
    return response
  }

  private func check(_ problem: JSON, of response: HTTPResponse, to request: HTTPRequest) {
    guard let code = problem["code"]?.string.flatMap(Code.init) else { fatalError("broken rule: a problem has a code") }
    require(code.httpStatus == response.status, "a code has one status")
    require((problem["errors"]?.array?.count ?? 0) <= Limits.reportedFaults, "no more faults than the limit are named")
    if case .route(let route, _) = router.match(method: request.method, path: request.path) {
      require(route.allProblems.contains(code), "\(route.name) documents \(code.rawValue)")
    } else {
      require([.apiNotFound, .apiMethodNotAllowed].contains(code), "what is no route is not found")
    }
  }
}
