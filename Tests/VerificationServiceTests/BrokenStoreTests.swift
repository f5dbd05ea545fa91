import Primitives
import Testing
import VerificationService

@Suite("A store that fails")
struct BrokenStoreTests {
  @Test("in the outcome: an error, no result, and the session reads as interrupted")
  func outcome() async throws {
    let store = BrokenStore()
    let fixture = try Fixture(store: store)
    let (id, _) = try await fixture.create()
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.service.submit(Fixture.answer("good"), to: id, as: fixture.full)
    }
    #expect(error?.code == .apiStoreUnavailable && error?.retryAfter != nil)
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "processing")
    fixture.clock.advance(31)
    let body = try await fixture.service.session(id, as: fixture.full).body
    #expect(body.status == "failed" && body["last_error"]?["code"] == "session.interrupted")
  }
}

/// An in-memory store that cannot record outcomes.
private struct BrokenStore: SessionStore {
  let inner = InMemoryStore(isLive: false)
  var isLive: Bool { false }

  func recordOutcome(
    _ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> OutcomeRecording { throw .unavailable("full") }

  func create(_ session: SessionRecord, finishing completion: IdempotencyCompletion?) async throws(StoreError) {
    try await inner.create(session, finishing: completion)
  }
  func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption {
    try await inner.consume(address, protocolName: protocolName, attempt: attempt, at: now)
  }
  func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    try await inner.session(address)
  }
  func session(clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    try await inner.session(clientSecretHash: clientSecretHash)
  }
  func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? { try await inner.sessions(of: relyingParty, query, at: now) }
  func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    try await inner.cancel(address, at: now)
  }
  func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    try await inner.redact(address, at: now)
  }
  func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    try await inner.report(id, of: relyingParty)
  }
  func beginIdempotent(_ claim: IdempotencyClaim, at now: Timestamp) async throws(StoreError) -> IdempotencyStart {
    try await inner.beginIdempotent(claim, at: now)
  }
  func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError) {
    try await inner.finishIdempotent(completion)
  }
  func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError) {
    try await inner.releaseIdempotent(claim)
  }
  func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    try await inner.sweep(at: now, limit: limit)
  }
  func probe() async throws(StoreError) { try await inner.probe() }
  func close() async { await inner.close() }
}
