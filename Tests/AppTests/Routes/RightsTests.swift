import Base
import HTTP
import Sessions
import TestStores
import TestSupport
import Testing
import Trust

@testable import App

/// Rights are stated in the table of routes, and enforced by one step.
@Suite(.onOwnThreads) struct RightsTests {
  private static let now = Timestamp(secondsSince1970: 1_795_000_000)

  /// A key is named by its scopes.
  private static func name(_ scopes: some Sequence<Scope>) -> String {
    "key-" + scopes.map(\.rawValue).sorted().joined(separator: "+").replacing(":", with: ".")
  }

  /// A server whose relying party has a key of each scope, and for each route a key of all other scopes.
  private static func handler(_ routes: [Route]) throws -> APIHandler {
    let all = Set(Scope.allCases)
    let sets = Set(all.map { Set([$0]) } + [all] + routes.map { all.subtracting($0.access.scopes) })
    let shop = RelyingParty(
      id: "shop", apiKeys: sets.map { APIKey(sha256: APIKey.hash(of: name($0)), scopes: $0) },
      apple: [AppleConfiguration(merchantID: "m", teamID: "t", encryptionKeys: [try .init(generatingOn: .p256)])])
    let trust = CurrentTrust(.trustingNobody)
    let configuration = ServiceConfiguration(
      mode: .test, relyingParties: try RelyingParties([shop]), protocols: BuiltProtocols.all(in: .test), trust: trust,
      revocation: NoRevocationSource(), sealingKeys: [])
    return APIHandler(
      Application(
        service: try VerificationService(configuration, store: InMemoryStore(mode: .test)) { now },
        trust: TrustUpdater(trust, plan: nil, sources: [], log: Log { _ in }, clock: { now }), metrics: Metrics(),
        additions: .sample, isBehindProxy: false, clock: { now }), log: Log { _ in })
  }

  private static func request(_ route: Route, _ token: String?, id: String = "vs_0000000000000000000000") -> HTTPRequest
  {
    let path = route.path.variables.reduce(route.path.text) { $0.replacing("{\($1)}", with: id) }
    let hasBody = route.method == .post
    let credential = token.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
    return HTTPRequest(
      method: route.method.rawValue, path: path,
      headers: HTTPHeaders(credential + (hasBody ? [(name: "Content-Type", value: "application/json")] : [])),
      body: hasBody ? Array("{}".utf8) : [])
  }

  @Test func `every route refuses callers without its scope, and no others`() async throws {
    let routes = RouteTable.routes(with: .sample)
    let handler = try Self.handler(routes)
    let guarded = routes.filter { !$0.access.scopes.isEmpty }
    #expect(guarded.count > 20 && guarded.count < routes.count)
    for route in routes {
      let anonymous = await handler.respond(to: Self.request(route, nil))
      guard !route.access.scopes.isEmpty else {
        #expect(![401, 403].contains(anonymous.status), "\(route.name)")
        continue
      }
      #expect(anonymous.status == 401, "\(route.name)")
      let others = Set(Scope.allCases).subtracting(route.access.scopes)
      let refused = await handler.respond(to: Self.request(route, Self.name(others)))
      // A person gets a page.
      let text = String(decoding: refused.body, as: UTF8.self)
      #expect(refused.status == 403 && text.contains("api.forbidden"), "\(route.name)")
      for scope in route.access.scopes {
        let served = await handler.respond(to: Self.request(route, Self.name([scope])))
        #expect(![401, 403].contains(served.status), "\(route.name) with \(scope.rawValue)")
      }
    }
  }

  @Test func `a client secret calls the routes of its session alone`() async throws {
    let routes = RouteTable.routes(with: .sample)
    let handler = try Self.handler(routes)
    let creation = try #require(routes.first { $0.name == "createVerificationSession" })
    var request = Self.request(creation, Self.name(Scope.allCases))
    request.body = TestBed.body(.standard).serialized()
    let session = try JSON(parsing: await handler.respond(to: request).body)
    let id = try #require(session["id"]?.string)
    let secret = try #require(session["client_secret"]?.string)
    for route in routes where !route.access.scopes.isEmpty {
      let response = await handler.respond(to: Self.request(route, secret, id: id))
      if route.access.takesClientSecret {
        // Without a reason, it is the relying party that cancels.
        let isOwn = route.name == "cancelVerificationSession"
        #expect(response.status != 401 && (response.status == 403) == isOwn, "\(route.name)")
      } else {
        #expect(response.status == 403, "\(route.name)")
      }
    }
  }

  @Test func `every step names a metric that there is`() async throws {
    try await withTestMode { bed in
      let text = try await bed.api.get("/metrics").body
      let named = APIHandler.steps.compactMap(\.metric)
      #expect(named.count >= 3)
      for metric in named { #expect(text.contains("# TYPE \(metric) "), "\(metric)") }
    }
  }
}
