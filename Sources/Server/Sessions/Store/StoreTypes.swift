import Base

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

  package init(
    address: SessionAddress, attempt: AttemptID, protocolName: String, conclusion: Conclusion, report: ReportRecord?,
    evidence: [UInt8]? = nil
  ) {
    self.address = address
    self.attempt = attempt
    self.protocolName = protocolName
    self.conclusion = conclusion
    self.report = report
    self.evidence = evidence
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
