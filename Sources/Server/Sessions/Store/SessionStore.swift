import Base

/// Stores sessions with their events and the audit entries of their attempts. Every operation is one transaction.
/// Callers pass in the time. Results and challenge material are sealed, both when passed in and when returned. `sweep`
/// records expiry later. `consume`, `cancel`, `recordOutcome` and the filter of `sessions` already use the state as of
/// `now`.
package protocol SessionStore: EventStore, AuditStore {
  /// The mode, recorded when the store was created. The store serves no other mode.
  var mode: ServerMode { get }

  /// Returns this store with an observer, to which it reports its operations.
  func observed(by observer: any StoreObserver) -> any SessionStore

  /// Adds a session and, in the same transaction, stores the reply to its creation.
  func create(_ session: SessionRecord, finishing completion: IdempotencyCompletion?) async throws(StoreError)

  /// Consumes the challenge once: in the state `requires_input`, before `expires_at`, with an offered protocol.
  func consume(_ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp)
    async throws(StoreError) -> Consumption

  /// Records an attempt's outcome and stores the reply, but only while the session is still `processing` this attempt.
  func recordOutcome(_ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?)
    async throws(StoreError) -> OutcomeRecording

  /// Records a verification without a session: its report and its audit entry, and nothing else.
  func recordVerification(_ outcome: AttemptOutcome, at now: Timestamp) async throws(StoreError)

  func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord?

  /// True if the relying party has the session. This must be cheap, since callers without a credential may trigger it.
  func exists(_ address: SessionAddress) async throws(StoreError) -> Bool

  /// The session whose client secret has this SHA-256. It may belong to any relying party.
  /// - Parameter id: the session in the secret; nil for secrets issued before schema 6.
  func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord?

  /// Returns the sessions that have not ended, of any relying party. Reads only their state, since it is called twice a
  /// second.
  func unended(among ids: [SessionID], at now: Timestamp) async throws(StoreError) -> Set<SessionID>

  /// A page of one relying party's sessions, newest first; nil if `startingAfter` is not the id of such a session.
  func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage?

  /// Cancels a session in the state `requires_input`. Erases the client secret and the challenge.
  func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition

  /// Expires a session in the state `requires_input` early. `sweep` then records the expiry. Returns false for other
  /// states.
  func expire(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Bool

  /// Redacts a session in any state. Erases its stored replies, and all of its data except ids, times, status and
  /// codes.
  func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition

  func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord?

  /// The sealed bundle of the session's outcome, until the session is redacted or deleted.
  func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]?

  /// Claims a key, unless it is in use. If a claim is unfinished after its lease, another request can take it over.
  func beginIdempotent(_ claim: IdempotencyClaim, at now: Timestamp) async throws(StoreError) -> IdempotencyStart
  /// Stores the reply if the claim is still valid.
  func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError)
  /// Releases the key, since a 5xx reply is not stored. If the reply was stored in the same transaction as its change,
  /// it remains.
  func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError)

  /// The relying party's usage. Sessions and replies from before schema 4 count only as overhead.
  func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage
  /// Marks expired sessions, erases values past their retention, deletes old rows: at most `limit` rows of each kind.
  func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount
  /// Throws if the store cannot currently be read or written.
  func probe() async throws(StoreError)
  /// Finishes queued work and closes the connections. All later calls throw `closed`.
  func close() async
}

package protocol StoreObserver: Sendable {
  /// - Parameter seconds: the duration of the operation, including waiting.
  func used(_ operation: StaticString, seconds: Double, failed: Bool)

  /// Called when the session may have ended: after an attempt to record an outcome, to cancel or to redact.
  func ended(_ session: SessionID)
}

package enum Consumption: Sendable {
  /// The record after the change, and the sealed material, which the store has deleted.
  case consumed(SessionRecord)
  /// Nothing was changed.
  case refused(Code)
}

package struct AttemptOutcome: Sendable {
  package enum Conclusion: Sendable {
    case verified(SealedResults)
    case failed(LastError)
    /// The wallet's own refusal.
    case canceled(LastError)
  }

  package let address: SessionAddress
  package let attempt: AttemptID
  /// The protocol that consumed the challenge.
  package let protocolName: String
  package let conclusion: Conclusion
  package let report: ReportRecord?
  package let evidence: [UInt8]?
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
  /// The session ended in another way. Contains the current session; nil if the session was deleted.
  case superseded(SessionRecord?)
}

package enum Transition: Sendable {
  case changed(SessionRecord)
  /// The unchanged session, whose state does not allow the change.
  case refused(SessionRecord)
  case notFound
}

/// The parts of a session that a list reads only on request. They make up most of a session's bytes.
package enum SessionPart: String, Sendable, Hashable, CaseIterable {
  /// The offers, without their sealed material.
  case requests, report
}

package struct SessionQuery: Sendable, Hashable {
  package var limit = Limits.pageSize
  package var startingAfter: SessionID?
  package var status: SessionStatus?
  package var clientReferenceID: String?
  /// Unix seconds. `createdFrom` is inclusive, `createdBefore` exclusive.
  package var createdFrom: Int64?
  package var createdBefore: Int64?
  /// A document type that the session requests.
  package var docType: String?
  package var parts: Set<SessionPart> = []

  /// Whether the query filters by more than the status.
  package var isFiltered: Bool {
    clientReferenceID != nil || createdFrom != nil || createdBefore != nil || docType != nil
  }
}

/// Records without client secrets and results, and with only those parts that the query lists. If any records match,
/// the page contains at least one. It contains fewer than the query's limit if more would exceed `Limits.pageBytes`.
package typealias SessionPage = Page<SessionRecord>

package struct Page<Entry: Sendable>: Sendable {
  package let entries: [Entry]
  package let hasMore: Bool

  package init(entries: [Entry], hasMore: Bool) {
    self.entries = entries
    self.hasMore = hasMore
  }
}

/// The usage of one relying party, for its quotas.
package struct StoreUsage: Sendable, Hashable {
  /// The approximate bytes of the row and indexes of a session or stored reply, without its content.
  package static let sessionOverhead: Int64 = 512
  package static let replyOverhead: Int64 = 256

  package var openSessions: Int64
  /// Bytes of sessions and of everything kept with them, except results that wait to be read.
  package var bytes: Int64
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
  /// Sessions with erased values or evidence.
  package var valuesErased = 0
  package var sessionsDeleted = 0
  package var verificationsDeleted = 0
  package var idempotencyKeysDeleted = 0
  package var eventsDeleted = 0
  package var deliveriesAbandoned = 0

  package init() {}

  package var total: Int {
    expired + interrupted + resultsErased + valuesErased + sessionsDeleted + verificationsDeleted
      + idempotencyKeysDeleted + eventsDeleted + deliveriesAbandoned
  }
}

/// The reason why a store operation failed. Details state the fault, never stored content.
package enum StoreError: Error, Sendable, Hashable {
  /// The disk is full, the file is locked or unreadable, or the connection is lost. Nothing was written: retry later.
  case unavailable(String)
  case closed
  /// A record that this version cannot read.
  case corrupt(String)
  /// The tables belong to an older version, or are missing (0). Starting a server does not change them.
  case olderSchema(found: Int, known: Int)
  /// A newer version of the program wrote the store.
  case newerSchema(found: Int, known: Int)
  case otherMode(ServerMode)
}
