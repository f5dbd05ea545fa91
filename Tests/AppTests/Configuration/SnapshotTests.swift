import Base
import HTTP
import Sessions
import TestStores
import TestSupport
import Testing
import Trust

@testable import App

/// A request ends with the configuration that it began with, even if another one takes effect meanwhile.
@Suite(.onOwnThreads) struct SnapshotTests {
  private static func application(
    _ parties: [RelyingParty], clock: @escaping @Sendable () -> Timestamp
  ) throws -> Application {
    let trust = CurrentTrust(.trustingNobody)
    let configuration = ServiceConfiguration(
      mode: .test, relyingParties: try RelyingParties(parties),
      protocols: BuiltProtocols.all(in: .test), trust: trust, revocation: NoRevocationSource(),
      sealingKeys: [])
    return Application(
      service: try VerificationService(configuration, store: InMemoryStore(mode: .test), clock: clock),
      trust: TrustUpdater(trust, plan: nil, sources: [], log: Log { _ in }, clock: clock), metrics: Metrics(),
      isBehindProxy: false, clock: clock)
  }

  @Test func `a relying party that is taken away while it is being answered gets its answer`() async throws {
    let now = Timestamp(secondsSince1970: 1_795_000_000)
    let shop = RelyingParty(
      id: "shop", apiKeys: [APIKey(sha256: APIKey.hash(of: "key"), scopes: [.sessionsWrite])],
      apple: [AppleConfiguration(merchantID: "m", teamID: "t", encryptionKeys: [try .init(generatingOn: .p256)])])
    let inForce = Locked<CurrentApplication?>(nil)
    let without = try Self.application([]) { now }
    // The clock is read when the key is looked up, in the middle of the request.
    let with = try Self.application([shop]) {
      inForce.withLock { $0 }?.replace(by: without)
      return now
    }
    let applications = CurrentApplication(with)
    inForce.withLock { $0 = applications }
    let handler = APIHandler(applications, updater: nil, log: Log { _ in })
    let request = HTTPRequest(
      method: "POST", path: "/v1/verification_sessions",
      headers: HTTPHeaders([("Authorization", "Bearer key"), ("Content-Type", "application/json")]),
      body: TestBed.body(.standard).serialized())
    #expect(await handler.respond(to: request).status == 201)
    #expect(await handler.respond(to: request).status == 401)
  }

  @Test(arguments: [true, false])
  func `a key that is taken away, or over, while its request's body comes is no key any more`(
    isTakenAway: Bool
  ) async throws {
    let time = Locked(Timestamp(secondsSince1970: 1_795_000_000))
    let start = time.withLock { $0 }
    let key = APIKey(sha256: APIKey.hash(of: "key"), scopes: [.sessionsWrite], expiresAt: start + 10)
    let shop = RelyingParty(
      id: "shop", apiKeys: [key],
      apple: [AppleConfiguration(merchantID: "m", teamID: "t", encryptionKeys: [try .init(generatingOn: .p256)])])
    let clock: @Sendable () -> Timestamp = { time.withLock { $0 } }
    let applications = CurrentApplication(try Self.application([shop], clock: clock))
    let handler = APIHandler(applications, updater: nil, log: Log { _ in })
    var request = HTTPRequest(
      method: "POST", path: "/v1/verification_sessions",
      headers: HTTPHeaders([("Authorization", "Bearer key"), ("Content-Type", "application/json")]),
      body: TestBed.body(.standard).serialized())
    request.heading = handler.heading(of: request)
    #expect(await handler.respond(to: request).status == 201)
    if isTakenAway {
      applications.replace(by: try Self.application([], clock: clock))
    } else {
      time.withLock { $0 = start + 10 }
    }
    #expect(await handler.respond(to: request).status == 401)
  }
}
