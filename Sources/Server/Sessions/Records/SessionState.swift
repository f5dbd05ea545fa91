import Base

/// A session's status as the API prints it.
package enum SessionStatus: String, Sendable, Hashable, CaseIterable {
  case requiresInput = "requires_input"
  case processing
  case verified
  case failed
  case canceled
  case expired
  case redacted

  /// Whether the session has come to its end.
  package var isFinal: Bool { self != .requiresInput && self != .processing }
}

/// Where a session is in its life, with what belongs to that state and nothing else.
///
/// `requires_input` → `processing` → `verified` | `failed` | `canceled`; or `canceled`, `expired`; afterwards
/// `redacted`. One challenge, one attempt: there is no way back (HTTP API, Sessions).
package enum SessionState: Sendable, Hashable {
  case requiresInput
  /// The challenge is consumed; its answer is being verified.
  case processing(Attempt)
  case verified(at: Timestamp)
  case failed(LastError, at: Timestamp)
  /// By the relying party; or, with its reason, by the wallet, which then has consumed the challenge.
  case canceled(at: Timestamp, lastError: LastError? = nil)
  case expired
  /// Erased but for ids, times, status and codes.
  case redacted(at: Timestamp, lastError: LastError?)

  package struct Attempt: Sendable, Hashable {
    package let id: AttemptID
    /// By which its challenge was taken; nil in sessions from before this was kept.
    package let protocolName: String?
    package let startedAt: Timestamp

    package init(id: AttemptID, protocolName: String?, startedAt: Timestamp) {
      self.id = id
      self.protocolName = protocolName
      self.startedAt = startedAt
    }
  }

  package var status: SessionStatus {
    switch self {
    case .requiresInput: .requiresInput
    case .processing: .processing
    case .verified: .verified
    case .failed: .failed
    case .canceled: .canceled
    case .expired: .expired
    case .redacted: .redacted
    }
  }

  package var lastError: LastError? {
    switch self {
    case .failed(let error, _): error
    case .canceled(_, let error), .redacted(_, let error): error
    default: nil
    }
  }

  /// The state that a reader sees at `now`: time ends what nobody has ended yet.
  ///
  /// A session expires at the very second `expiresAt`; one that is `processing` for more than 30 seconds was
  /// interrupted, at the second after.
  package func seen(at now: Timestamp, expiresAt: Timestamp) -> SessionState {
    switch self {
    case .requiresInput where now >= expiresAt: .expired
    case .processing(let attempt) where now > attempt.startedAt + Limits.processingTimeout:
      .failed(.interrupted, at: attempt.startedAt + (Limits.processingTimeout + 1))
    default: self
    }
  }
}

/// The rules of a session's life, for stores that change records in place. A store that does it with one conditional
/// update states the same rules in its query; one suite of tests runs over both.
extension SessionRecord {
  /// Why its challenge cannot be consumed with this protocol now, or nil where it can.
  package func consumeRefusal(protocolName: String, at now: Timestamp) -> ConsumeRefusal? {
    switch state(at: now) {
    case .requiresInput: offers.contains { $0.protocolName == protocolName } ? nil : .protocolMismatch
    case .expired: .expired
    case .canceled: .canceled
    case .redacted: .redacted
    case .processing, .verified, .failed: .alreadyUsed
    }
  }

  /// Kills what could still be used to answer.
  package mutating func eraseMaterial() {
    for index in offers.indices { offers[index].sealedMaterial = nil }
  }

  package mutating func cancel(at now: Timestamp) {
    state = .canceled(at: now)
    clientSecretHash = nil
    eraseMaterial()
  }

  /// Everything goes but ids, times, status and codes.
  package mutating func redact(at now: Timestamp) {
    state = .redacted(at: now, lastError: state(at: now).lastError?.redacted)
    clientSecretHash = nil
    content = nil
    offers = []
    results = .none
    report = report?.redacted()
  }

  package mutating func conclude(_ outcome: AttemptOutcome, at now: Timestamp) {
    switch outcome.conclusion {
    case .verified(let results):
      state = .verified(at: now)
      self.results = results
    case .failed(let error): state = .failed(error, at: now)
    case .canceled(let error): state = .canceled(at: now, lastError: error)
    }
    report = outcome.report
  }

  /// When the session's last change was: its age for deletion.
  package var endedAt: Timestamp {
    switch state {
    case .requiresInput, .expired: expiresAt
    case .processing(let attempt): attempt.startedAt
    case .verified(let time), .failed(_, let time), .canceled(let time, _), .redacted(let time, _): time
    }
  }
}
