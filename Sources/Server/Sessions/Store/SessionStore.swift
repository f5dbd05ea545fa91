import Base

/// Where sessions live, with the events of what happened to them and the audit entries of their attempts. Every operation is one transaction: it happens
/// durably or not at all.
///
/// Time is always passed in. Results and challenge material arrive and leave sealed: a store never sees them open.
/// What time has ended (`expired`, interrupted) is written by `sweep`, but already holds before: `consume`, `cancel`,
/// `recordOutcome` and the status filter of `sessions` judge by the state at `now`, and records carry what is needed
/// for `SessionRecord.state(at:)`.
package protocol SessionStore: EventStore, AuditStore {
  /// Recorded when the store was made; it serves no other.
  var isLive: Bool { get }

  // MARK: Sessions

  /// Adds a session, and in the same transaction the reply kept for its creation.
  func create(_ session: SessionRecord, finishing completion: IdempotencyCompletion?) async throws(StoreError)

  /// Takes the challenge, once: only from `requires_input`, before `expires_at`, and with an offered protocol. The
  /// sealed material is in the returned record and nowhere else afterwards.
  func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption

  /// Records what came of an attempt: only while the session is still `processing` that very attempt. A late outcome
  /// never overwrites another. The kept reply is written with it or not at all.
  func recordOutcome(
    _ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> OutcomeRecording

  func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord?

  /// The session whose client secret has this SHA-256, of whichever relying party.
  /// - Parameter id: which the secret names; nil for a secret of before.
  func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord?

  /// A page of one relying party's sessions, newest first; nil where `startingAfter` is not one of them.
  func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage?

  /// Only from `requires_input`. Kills the client secret and the challenge.
  func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition

  /// From every state; erases everything but ids, times, status and codes, kept replies included.
  func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition

  func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord?

  /// The sealed bundle that was recorded with the session's outcome; redaction and the session's deletion erase it.
  func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]?

  // MARK: Idempotency

  /// Claims a key, or says why not. A claim that nobody finished within its lease, because the server stopped, can be
  /// taken over.
  func beginIdempotent(_ claim: IdempotencyClaim, at now: Timestamp) async throws(StoreError) -> IdempotencyStart
  /// Keeps the reply, if the claim still holds.
  func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError)
  /// Gives the key back: nothing is kept of a 5xx. A reply that was kept in the transaction of its change stays, for
  /// the caller whose commit succeeded and whose answer was lost.
  func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError)

  // MARK: Upkeep

  /// What a relying party has in the store. Sessions and replies from before this was counted count as their overhead.
  func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage
  /// Writes what time has done, erases what is over, and deletes what is old; at most `limit` rows of each kind. A session
  /// stays as long as something of it is to be erased later (`KeptValues`).
  func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount
  /// Whether the store can be read and the right to write be had now.
  func probe() async throws(StoreError)
  /// Finishes what is queued and lets go of the file. Every later call throws `closed`.
  func close() async
}
