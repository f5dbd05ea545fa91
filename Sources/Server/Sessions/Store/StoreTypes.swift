import Base

/// What `consume` found.
public enum Consumption: Sendable {
  /// The record after the change, with the sealed material that is now gone from the store.
  case consumed(SessionRecord)
  case refused(ConsumeRefusal)
}

/// The precise reason why a challenge was not consumed; nothing was changed.
public enum ConsumeRefusal: Sendable, Hashable, CaseIterable {
  case notFound, alreadyUsed, expired, canceled, redacted, protocolMismatch
}

/// What is recorded of an attempt.
public struct AttemptOutcome: Sendable {
  public enum Conclusion: Sendable {
    case verified(SealedResults)
    case failed(LastError)
    /// The wallet's own word that there will be no answer.
    case canceled(LastError)
  }

  public let address: SessionAddress
  public let attempt: AttemptID
  /// By which the challenge was taken.
  public let protocolName: String
  public let conclusion: Conclusion
  public let report: ReportRecord?
  /// A sealed bundle.
  public let evidence: [UInt8]?

  public init(
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

public enum OutcomeRecording: Sendable {
  case recorded
  /// The session had ended otherwise: as it is now, or nil where it is gone.
  case superseded(SessionRecord?)
}

/// What a change of state found.
public enum Transition: Sendable {
  case changed(SessionRecord)
  /// The state does not allow it: the session as it is.
  case refused(SessionRecord)
  case notFound
}

/// What a list reads of sessions only where it is asked to: it is most of their bytes.
public enum SessionPart: String, Sendable, Hashable, CaseIterable {
  /// The offers, without the material that opens answers.
  case requests, report
}

public struct SessionQuery: Sendable, Hashable {
  public var limit: Int
  public var startingAfter: SessionID?
  public var status: SessionStatus?
  public var parts: Set<SessionPart>

  public init(
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
public struct SessionPage: Sendable {
  public let sessions: [SessionRecord]
  public let hasMore: Bool

  public init(sessions: [SessionRecord], hasMore: Bool) {
    self.sessions = sessions
    self.hasMore = hasMore
  }
}

/// What a relying party has in a store now, as far as quotas count it.
public struct StoreUsage: Sendable, Hashable {
  /// Bytes that a session or a kept reply takes besides its own, for its row and its places in indexes: about.
  public static let sessionOverhead: Int64 = 512
  public static let replyOverhead: Int64 = 256

  /// Sessions that still may be answered.
  public var openSessions: Int64
  /// Of sessions with all that is kept of them, but for results that wait to be read.
  public var bytes: Int64
  /// Of replies that are kept under idempotency keys.
  public var idempotencyBytes: Int64

  public init(openSessions: Int64 = 0, bytes: Int64 = 0, idempotencyBytes: Int64 = 0) {
    self.openSessions = openSessions
    self.bytes = bytes
    self.idempotencyBytes = idempotencyBytes
  }
}

public struct SweepCount: Sendable, Hashable {
  public var expired = 0
  public var interrupted = 0
  public var resultsErased = 0
  /// Sessions of whose retained values or evidence some were due.
  public var valuesErased = 0
  public var sessionsDeleted = 0
  public var idempotencyKeysDeleted = 0
  public var eventsDeleted = 0
  public var deliveriesAbandoned = 0

  public init() {}

  public var total: Int {
    expired + interrupted + resultsErased + valuesErased + sessionsDeleted + idempotencyKeysDeleted + eventsDeleted
      + deliveriesAbandoned
  }
}
