import Base
import PKIX

/// What is shown of a file that has to do with trust.
struct ShownFile: Sendable {
  enum State: String, Sendable {
    /// Signed by one whom the named anchors vouch for, and in force.
    case accepted
    case refused
    /// Nobody was named who might have signed it, or nothing is signed.
    case unverified
  }

  struct Entry: Sendable {
    let title: String
    let rows: [(String, String)]
    let json: JSON
  }

  let kind: String
  let title: String
  let state: State
  /// Why it is not verified.
  let caution: String?
  let rows: [(String, String)]
  let entries: [Entry]
  let checks: [Check]
  /// Members of its kind.
  let members: [(String, JSON)]

  var json: JSON {
    var members: [JSON.Member] = [
      .init("kind", .string(kind)), .init("state", .string(state.rawValue)),
    ]
    members += self.members.map { .init($0.0, $0.1) }
    members.append(.init("entries", .array(entries.map(\.json))))
    members.append(.init("checks", .array(checks.map(\.json))))
    return .object(members)
  }
}

/// A certificate in one line of facts.
extension Certificate {
  var summaryJSON: JSON {
    [
      "subject": .string(subject.text), "sha256": .string(fingerprint),
      "not_before": .integer(validity.lowerBound.secondsSince1970),
      "expires_at": .integer(validity.upperBound.secondsSince1970), "mock": .bool(isMock),
    ]
  }

  func summaryRows(at now: Timestamp) -> [(String, String)] {
    let state = validity.contains(now) ? "" : now > validity.upperBound ? "  EXPIRED" : "  NOT YET VALID"
    return [
      ("SHA-256", fingerprint), ("Valid", "\(validity.lowerBound) to \(validity.upperBound)\(state)"),
    ]
  }
}
