import Base

/// Where sessions live, with the events of what happened to them and the audit entries of their attempts. Every
/// operation is one transaction: it happens durably or not at all.
///
/// Time is always passed in. Results and challenge material arrive and leave sealed: a store never sees them open.
/// What time has ended (`expired`, interrupted) is written by `sweep`, but already holds before: `consume`, `cancel`,
/// `recordOutcome` and the status filter of `sessions` judge by the state at `now`, and records carry what is needed
/// for `SessionRecord.state(at:)`.
package protocol SessionStore: EventStore, AuditStore {
  /// Recorded when the store was made; it serves no other.
  var mode: ServerMode { get }

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

  /// Whether the relying party has such a session. Reads an index and one row's head, for callers without a credential.
  func exists(_ address: SessionAddress) async throws(StoreError) -> Bool

  /// The session whose client secret has this SHA-256, of whichever relying party.
  /// - Parameter id: which the secret names; nil for a secret of before.
  func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord?

  /// Those of these sessions that have not ended, of whichever relying party. Asked twice a second while anybody waits
  /// for a session's end, so it reads nothing but their state.
  func unended(among ids: [SessionID], at now: Timestamp) async throws(StoreError) -> Set<SessionID>

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

/// What `consume` found.
package enum Consumption: Sendable {
  /// The record after the change, with the sealed material that is now gone from the store.
  case consumed(SessionRecord)
  case refused(ConsumeRefusal)
}

/// The precise reason why a challenge was not consumed; nothing was changed.
package enum ConsumeRefusal: Sendable, Hashable, CaseIterable {
  case notFound, alreadyUsed, expired, canceled, redacted, protocolMismatch
}

/// What is recorded of an attempt.
package struct AttemptOutcome: Sendable {
  package enum Conclusion: Sendable {
    case verified(SealedResults)
    case failed(LastError)
    /// The wallet's own word that there will be no answer.
    case canceled(LastError)
  }

  package let address: SessionAddress
  package let attempt: AttemptID
  /// By which the challenge was taken.
  package let protocolName: String
  package let conclusion: Conclusion
  package let report: ReportRecord?
  /// A sealed bundle.
  package let evidence: [UInt8]?
  /// Where the result is, for the event.
  package let result: ResultPlace?

  package init(
    address: SessionAddress, attempt: AttemptID, protocolName: String, conclusion: Conclusion, report: ReportRecord?,
    evidence: [UInt8]? = nil, result: ResultPlace? = nil
  ) {
    self.address = address
    self.attempt = attempt
    self.protocolName = protocolName
    self.conclusion = conclusion
    self.report = report
    self.evidence = evidence
    self.result = result
  }
}

package enum OutcomeRecording: Sendable {
  case recorded
  /// The session had ended otherwise: as it is now, or nil where it is gone.
  case superseded(SessionRecord?)
}

/// What a change of state found.
package enum Transition: Sendable {
  case changed(SessionRecord)
  /// The state does not allow it: the session as it is.
  case refused(SessionRecord)
  case notFound
}

/// What a list reads of sessions only where it is asked to: it is most of their bytes.
package enum SessionPart: String, Sendable, Hashable, CaseIterable {
  /// The offers, without the material that opens answers.
  case requests, report
}

package struct SessionQuery: Sendable, Hashable {
  package var limit: Int
  package var startingAfter: SessionID?
  package var status: SessionStatus?
  package var parts: Set<SessionPart>

  package init(
    limit: Int = Limits.pageSize, startingAfter: SessionID? = nil, status: SessionStatus? = nil,
    parts: Set<SessionPart> = []
  ) {
    self.limit = limit
    self.startingAfter = startingAfter
    self.status = status
    self.parts = parts
  }
}

/// Records without their client secrets and results, and without the parts that the query does not name. At least one
/// where there is one; fewer than the query's limit where more would be beyond `Limits.pageBytes`.
package struct SessionPage: Sendable {
  package let sessions: [SessionRecord]
  package let hasMore: Bool

  package init(sessions: [SessionRecord], hasMore: Bool) {
    self.sessions = sessions
    self.hasMore = hasMore
  }
}

/// What a relying party has in a store now, as far as quotas count it.
package struct StoreUsage: Sendable, Hashable {
  /// Bytes that a session or a kept reply takes besides its own, for its row and its places in indexes: about.
  package static let sessionOverhead: Int64 = 512
  package static let replyOverhead: Int64 = 256

  /// Sessions that still may be answered.
  package var openSessions: Int64
  /// Of sessions with all that is kept of them, but for results that wait to be read.
  package var bytes: Int64
  /// Of replies that are kept under idempotency keys.
  package var idempotencyBytes: Int64

  package init(openSessions: Int64 = 0, bytes: Int64 = 0, idempotencyBytes: Int64 = 0) {
    self.openSessions = openSessions
    self.bytes = bytes
    self.idempotencyBytes = idempotencyBytes
  }
}

package struct SweepCount: Sendable, Hashable {
  package var expired = 0
  package var interrupted = 0
  package var resultsErased = 0
  /// Sessions of whose retained values or evidence some were due.
  package var valuesErased = 0
  package var sessionsDeleted = 0
  package var idempotencyKeysDeleted = 0
  package var eventsDeleted = 0
  package var deliveriesAbandoned = 0

  package init() {}

  package var total: Int {
    expired + interrupted + resultsErased + valuesErased + sessionsDeleted + idempotencyKeysDeleted + eventsDeleted
      + deliveriesAbandoned
  }
}

/// Why a store could not do what it was asked. Details name the fault, never what is stored.
package enum StoreError: Error, Sendable, Hashable {
  /// The disk is full, the file locked or unreadable, the connection gone: nothing was written, and it may work later.
  case unavailable(String)
  case closed
  /// A record that this version cannot read.
  case corrupt(String)
  /// The store's tables are those of an older version of the program, or none (0), and are not changed by a start.
  case olderSchema(found: Int, known: Int)
  /// The store was written by a newer version of the program.
  case newerSchema(found: Int, known: Int)
  /// A store of this mode was opened in another.
  case otherMode(ServerMode)
}
