import Base
import Cryptography

/// What is written of one attempt at a challenge: who asked, which session, by which rules, and what came of it.
///
/// Nothing in it is personal and nothing is secret: ids, codes and times alone, so that it survives redaction and can be
/// handed out. Codes are kept as their names.
package struct AuditEntry: Sendable, Hashable {
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    case verified, failed, canceled
    /// The session was redacted while the answer was being verified.
    case redacted
  }

  /// Of the entry's form.
  package static let version: Int64 = 1

  /// When it was written, with the outcome that it tells.
  package let time: Timestamp
  package let address: SessionAddress
  package let attempt: AttemptID
  /// Nil where nothing was checked.
  package let report: String?
  /// Nil of an attempt that was begun before protocols were kept.
  package let protocolName: String?
  package let outcome: Outcome
  /// Of every failed check.
  package let codes: [String]
  package let trustSnapshot: String?
  package let revocationPolicy: String?
  /// SHA-256 of the sealed bundle of evidence, where one was kept: no other can pass for it.
  package let evidence: [UInt8]?
  package let isLive: Bool

  /// Of an outcome that is recorded at `now`.
  package init(of outcome: AttemptOutcome, at now: Timestamp, isLive: Bool) {
    time = now
    address = outcome.address
    attempt = outcome.attempt
    protocolName = outcome.protocolName
    report = outcome.report?.id
    trustSnapshot = outcome.report?.trustSnapshot
    revocationPolicy = outcome.report?.revocationPolicy
    evidence = outcome.evidence.map { HashAlgorithm.sha256.hash($0) }
    self.isLive = isLive
    switch outcome.conclusion {
    case .verified:
      self.outcome = .verified
      codes = []
    case .failed(let error):
      self.outcome = .failed
      codes = error.reasons.map(\.code)
    case .canceled(let error):
      self.outcome = .canceled
      codes = error.reasons.map(\.code)
    }
  }

  /// Of an attempt that ended without an outcome of its own: interrupted, or by its session's redaction.
  ///
  /// - Parameter error: the failure that time has caused; nil where the session was redacted before that.
  package init(
    unfinished attempt: SessionState.Attempt, of address: SessionAddress, _ error: LastError?, at now: Timestamp,
    isLive: Bool
  ) {
    time = now
    self.address = address
    self.attempt = attempt.id
    protocolName = attempt.protocolName
    outcome = error == nil ? .redacted : .failed
    codes = error?.reasons.map(\.code) ?? []
    report = nil
    trustSnapshot = nil
    revocationPolicy = nil
    evidence = nil
    self.isLive = isLive
  }

  /// Its one form, always with all members in this order: what is hashed.
  package var bytes: [UInt8] {
    let json: JSON = [
      "version": .integer(Self.version),
      "time": .integer(time.secondsSince1970),
      "relying_party": .string(address.relyingParty),
      "session": .string(address.id.text),
      "attempt": .string(attempt.text),
      "report": Self.text(report),
      "protocol": Self.text(protocolName),
      "outcome": .string(outcome.rawValue),
      "codes": .array(codes.map { .string($0) }),
      "trust_snapshot": Self.text(trustSnapshot),
      "revocation_policy": Self.text(revocationPolicy),
      "evidence": Self.text(evidence.map { Hex.encode($0) }),
      "livemode": .bool(isLive),
      "program": .string(ProgramVersion.text),
    ]
    return json.serialized()
  }

  private static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}
