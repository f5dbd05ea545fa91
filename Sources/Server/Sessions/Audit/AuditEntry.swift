import Base
import Cryptography

/// What is written of one attempt at a challenge: who asked, which session, by which rules, and what came of it.
///
/// It holds ids, codes and times alone. Nothing in it is personal or secret, so it survives redaction and can be handed
/// out. Codes are kept as their names.
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
  /// Nil if the attempt began under a version that did not yet keep the protocol.
  package let protocolName: String?
  package let outcome: Outcome
  /// Of every failed check.
  package let codes: [String]
  package let trustSnapshot: String?
  package let revocationPolicy: String?
  /// SHA-256 of the sealed bundle of evidence, so that no other bundle can pass for it; nil if none was kept.
  package let evidence: [UInt8]?
  package let mode: ServerMode

  /// Of an outcome that is recorded at `now`.
  package init(of outcome: AttemptOutcome, at now: Timestamp, mode: ServerMode) {
    time = now
    address = outcome.address
    attempt = outcome.attempt
    protocolName = outcome.protocolName
    report = outcome.report?.id
    trustSnapshot = outcome.report?.trustSnapshot
    revocationPolicy = outcome.report?.revocationPolicy
    evidence = outcome.evidence.map { HashAlgorithm.sha256.hash($0) }
    self.mode = mode
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

  /// The entry of an attempt that ended without an outcome of its own: it was interrupted, or its session was redacted.
  ///
  /// - Parameter error: the failure of an attempt that ran out of time; nil if the session was redacted before that.
  package init(
    unfinished attempt: SessionState.Attempt, of address: SessionAddress, _ error: LastError?, at now: Timestamp,
    mode: ServerMode
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
    self.mode = mode
  }

  /// The entry's only written form, which is hashed: always all members, in this order.
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
      "livemode": .bool(mode.isLive),
      "mode": .string(mode.rawValue),
      "program": .string(ProgramVersion.text),
    ]
    return json.serialized()
  }

  private static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}

/// Where a node's chain of audit entries ends, or ended at some time.
///
/// `hash_n = SHA-256(hash_{n-1} ‖ n as 8 bytes, big-endian ‖ entry)`, and `hash_0 = SHA-256("mdoc-audit-v1" ‖ node)`:
/// each hash covers every entry before it, so a head that was noted shows any later change of those entries.
package struct AuditHead: Sendable, Hashable {
  package let node: NodeName
  /// Of the last entry; 0 where there is none yet.
  package let sequence: Int64
  package let hash: [UInt8]

  package init(node: NodeName, sequence: Int64, hash: [UInt8]) {
    self.node = node
    self.sequence = sequence
    self.hash = hash
  }

  /// The beginning of a node's chain, before its first entry.
  package init(beginning node: NodeName) {
    self.init(node: node, sequence: 0, hash: HashAlgorithm.sha256.hash(Array("mdoc-audit-v1\(node)".utf8)))
  }

  /// The head after one more entry.
  package func appending(_ entry: [UInt8]) -> AuditHead {
    let next = sequence + 1
    let number = withUnsafeBytes(of: next.bigEndian) { Array($0) }
    return AuditHead(node: node, sequence: next, hash: HashAlgorithm.sha256.hash(hash + number + entry))
  }
}

/// An entry in its place: its exact bytes, and the head of the chain that ends with it.
package struct AuditLink: Sendable, Hashable {
  package let head: AuditHead
  package let entry: [UInt8]

  package init(head: AuditHead, entry: [UInt8]) {
    self.head = head
    self.entry = entry
  }

  package init(_ entry: AuditEntry, after head: AuditHead) {
    self.entry = entry.bytes
    self.head = head.appending(self.entry)
  }
}

/// One line of an exported audit log (JSON Lines): an entry in its place, or the head that a node's chain had.
///
/// An entry's text is a JSON string of its own, so that the bytes that were hashed are kept:
/// `{"node","sequence","entry","hash"}`, and `{"node","head","hash"}` for a head, where `head` is its sequence.
package enum AuditLine: Sendable, Hashable {
  case entry(AuditLink)
  case head(AuditHead)

  /// Without the end of the line.
  package var bytes: [UInt8] {
    switch self {
    case .entry(let link):
      let json: JSON = [
        "node": .string(link.head.node.text), "sequence": .integer(link.head.sequence),
        "entry": .string(String(decoding: link.entry, as: UTF8.self)), "hash": .string(Hex.encode(link.head.hash)),
      ]
      return json.serialized()
    case .head(let head):
      let json: JSON = [
        "node": .string(head.node.text), "head": .integer(head.sequence), "hash": .string(Hex.encode(head.hash)),
      ]
      return json.serialized()
    }
  }

  /// Nil where the bytes are no such line.
  package init?(parsing bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes), let members = json.object, let hash = json["hash"]?.string,
      let digest = Hex.decode(hash), digest.count == 32, Hex.encode(digest) == hash,
      let node = json["node"]?.string.flatMap(NodeName.init)
    else { return nil }
    if members.count == 4, let sequence = json["sequence"]?.integer, Self.sequences.contains(sequence),
      let entry = json["entry"]?.string
    {
      self = .entry(
        AuditLink(head: AuditHead(node: node, sequence: sequence, hash: digest), entry: Array(entry.utf8)))
    } else if members.count == 3, let sequence = json["head"]?.integer, Self.sequences.contains(sequence) {
      self = .head(AuditHead(node: node, sequence: sequence, hash: digest))
    } else {
      return nil
    }
  }

  /// Lines as they are sent and written.
  package static func bytes(of lines: [AuditLine]) -> [UInt8] { lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] } }

  /// The last number has no successor.
  private static let sequences = 1..<Int64.max

  package static let mediaType = "application/jsonl"
}

/// The name of one server process among those that share a store, or of one server: 1 to 63 of `a-z 0-9 . -`.
///
/// It names a chain of audit entries. Processes of one name on one store write one chain.
package struct NodeName: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let text: String

  /// Nil where the text is no name.
  package init?(_ text: String) {
    let isValid = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
      }
    }
    guard isValid, (1...63).contains(text.utf8.count) else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  /// Of a server that is alone and was given no name.
  package static let standard = NodeName(unchecked: "node")

  package static func < (left: NodeName, right: NodeName) -> Bool { left.text < right.text }

  package var description: String { text }
}
