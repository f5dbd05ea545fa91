import Base

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
  mutating func eraseMaterial() {
    for index in offers.indices { offers[index].sealedMaterial = nil }
  }

  mutating func cancel(at now: Timestamp) {
    state = .canceled(at: now)
    clientSecretHash = nil
    eraseMaterial()
  }

  /// Everything goes but ids, times, status and codes.
  mutating func redact(at now: Timestamp) {
    state = .redacted(at: now, lastError: state(at: now).lastError)
    clientSecretHash = nil
    content = nil
    offers = []
    results = .none
    report = report?.redacted()
  }

  mutating func conclude(_ outcome: AttemptOutcome, at now: Timestamp) {
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
  var endedAt: Timestamp {
    switch state {
    case .requiresInput, .expired: expiresAt
    case .processing(let attempt): attempt.startedAt
    case .verified(let time), .failed(_, let time), .canceled(let time, _), .redacted(let time, _): time
    }
  }
}
