/// What happened to a session. A session ends once and is redacted at most once, so that it has at most one event of a
/// type.
package enum EventType: String, Sendable, Hashable, CaseIterable {
  case verified = "verification_session.verified"
  case failed = "verification_session.failed"
  case canceled = "verification_session.canceled"
  case expired = "verification_session.expired"
  case redacted = "verification_session.redacted"

  /// The status that the session then had. Stores keep the type as its name.
  package var status: SessionStatus {
    switch self {
    case .verified: .verified
    case .failed: .failed
    case .canceled: .canceled
    case .expired: .expired
    case .redacted: .redacted
    }
  }

  /// Nil for what is no end: a session that waits or is being answered.
  package init?(_ status: SessionStatus) {
    guard let type = Self.allCases.first(where: { $0.status == status }) else { return nil }
    self = type
  }
}

/// An event's name, `evt_…_verified`: made of the session's, so that it is unique, and the same whoever writes it.
package struct EventID: Sendable, Hashable, CustomStringConvertible {
  package static let prefix = "evt_"
  /// All that an id can be, as a regular expression (ECMA-262).
  package static let pattern = RandomName.pattern(prefix: prefix, suffix: statuses)
  /// What follows the session's name.
  static let statuses = "_(\(EventType.allCases.map(\.status.rawValue).joined(separator: "|")))"
  package let session: SessionID
  package let type: EventType

  package init(_ session: SessionID, _ type: EventType) {
    self.session = session
    self.type = type
  }

  /// The id, or nil where the text cannot be one; whether it exists only the store knows.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    self.init(suffix: text.dropFirst(Self.prefix.count))
  }

  /// What follows the prefix.
  init?(suffix: Substring) {
    let parts = suffix.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let session = SessionID(SessionID.prefix + parts[0]),
      let type = SessionStatus(rawValue: String(parts[1])).flatMap(EventType.init)
    else { return nil }
    self.init(session, type)
  }

  var suffix: String { "\(session.characters)_\(type.status.rawValue)" }

  package var text: String { Self.prefix + suffix }
  package var description: String { text }
}
