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
