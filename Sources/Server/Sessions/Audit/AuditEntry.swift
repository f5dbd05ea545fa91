import Base
import Cryptography

/// The record of one attempt at a challenge. It contains only ids, codes and times, and no personal data. Redaction
/// therefore keeps it.
package struct AuditEntry: Sendable, Hashable {
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    case verified, failed, canceled
    case redacted
  }

  package static let version: Int64 = 1

  /// The time when the outcome was written.
  package let time: Timestamp
  package let address: SessionAddress
  package let attempt: AttemptID
  /// The report's id; nil if no check was made.
  package var report: String?
  /// The protocol; nil in entries of older versions that did not record it.
  package let protocolName: String?
  package let outcome: Outcome
  package let codes: [String]
  package var trustSnapshot: String?
  package var revocationPolicy: String?
  /// The SHA-256 of the sealed evidence bundle, which identifies the bundle; nil if no bundle was stored.
  package var evidence: [UInt8]?
  package let mode: ServerMode

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
    case .verified: (self.outcome, codes) = (.verified, [])
    case .failed(let error): (self.outcome, codes) = (.failed, error.reasons.map(\.code))
    case .canceled(let error): (self.outcome, codes) = (.canceled, error.reasons.map(\.code))
    }
  }

  /// The entry of an attempt without an outcome: it was interrupted, or its session was redacted.
  /// - Parameter error: the failure of an attempt that timed out; nil if the session was redacted before the timeout.
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
    self.mode = mode
  }

  /// The form that is hashed: all members, always in this order.
  package var bytes: [UInt8] {
    let json: JSON = [
      "version": .integer(Self.version), "time": .integer(time.secondsSince1970),
      "relying_party": .string(address.relyingParty), "session": .string(address.id.text),
      "attempt": .string(attempt.text), "report": Self.text(report), "protocol": Self.text(protocolName),
      "outcome": .string(outcome.rawValue), "codes": .array(codes.map { .string($0) }),
      "trust_snapshot": Self.text(trustSnapshot), "revocation_policy": Self.text(revocationPolicy),
      "evidence": Self.text(evidence.map { Hex.encode($0) }), "livemode": .bool(mode.isLive),
      "mode": .string(mode.rawValue), "program": .string(ProgramVersion.text),
    ]
    return json.serialized()
  }

  private static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}

/// The current or an earlier end of a node's chain of audit entries.
///
/// `hash_n = SHA-256(hash_{n-1} ‖ n as 8 bytes, big-endian ‖ entry)`, and `hash_0 = SHA-256("mdoc-audit-v1" ‖ node)`.
/// Each hash covers all earlier entries, so a noted head reveals any later change of these entries.
package struct AuditHead: Sendable, Hashable {
  package let node: NodeName
  /// The sequence number of the last entry; 0 if there is no entry.
  package let sequence: Int64
  package let hash: [UInt8]

  package init(node: NodeName, sequence: Int64, hash: [UInt8]) {
    self.node = node
    self.sequence = sequence
    self.hash = hash
  }

  package init(beginning node: NodeName) {
    self.init(node: node, sequence: 0, hash: HashAlgorithm.sha256.hash(Array("mdoc-audit-v1\(node)".utf8)))
  }

  package func appending(_ entry: [UInt8]) -> AuditHead {
    let next = sequence + 1
    let number = withUnsafeBytes(of: next.bigEndian) { Array($0) }
    return AuditHead(node: node, sequence: next, hash: HashAlgorithm.sha256.hash(hash + number + entry))
  }
}

/// A chained entry: its exact bytes, and the head of the chain that ends with it.
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

/// A line of an exported audit log (JSON Lines): `{"node","sequence","entry","hash"}` for an entry, or
/// `{"node","head","hash"}` for a head. `head` is the head's sequence number. An entry is a JSON string, which
/// preserves the hashed bytes.
package enum AuditLine: Sendable, Hashable {
  case entry(AuditLink)
  case head(AuditHead)

  package var bytes: [UInt8] {
    switch self {
    case .entry(let link):
      JSON.members([
        "node": .string(link.head.node.text), "sequence": .integer(link.head.sequence),
        "entry": .string(String(decoding: link.entry, as: UTF8.self)), "hash": .string(Hex.encode(link.head.hash)),
      ]).serialized()
    case .head(let head):
      JSON.members([
        "node": .string(head.node.text), "head": .integer(head.sequence), "hash": .string(Hex.encode(head.hash)),
      ]).serialized()
    }
  }

  /// Nil if the line is malformed.
  package init?(parsing bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes), let members = json.object, let hash = json["hash"]?.string,
      let digest = Hex.decode(hash), digest.count == 32, Hex.encode(digest) == hash,
      let node = json["node"]?.string.flatMap(NodeName.init)
    else { return nil }
    if members.count == 4, let sequence = json["sequence"]?.integer, Self.sequences.contains(sequence),
      let entry = json["entry"]?.string
    {
      self = .entry(AuditLink(head: AuditHead(node: node, sequence: sequence, hash: digest), entry: Array(entry.utf8)))
    } else if members.count == 3, let sequence = json["head"]?.integer, Self.sequences.contains(sequence) {
      self = .head(AuditHead(node: node, sequence: sequence, hash: digest))
    } else {
      return nil
    }
  }

  package static func bytes(of lines: [AuditLine]) -> [UInt8] { lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] } }

  /// The largest number has no successor.
  private static let sequences = 1..<Int64.max

  package static let mediaType = "application/jsonl"
}

/// The name of a server process and of its chain of audit entries: 1–63 of `a-z 0-9 . -`. Processes with the same name
/// share a chain.
package struct NodeName: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let text: String

  package init?(_ text: String) {
    let isValid = text.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789.-".utf8.contains)
    guard isValid, (1...63).contains(text.utf8.count) else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  /// The default name, for a single server.
  package static let standard = NodeName(unchecked: "node")

  package static func < (left: NodeName, right: NodeName) -> Bool { left.text < right.text }

  package var description: String { text }
}

/// The audit entries of a store: one for each attempt at a challenge, chained by node. The store writes an entry in the
/// transaction of the change that ends the attempt. It never deletes or changes an entry.
package protocol AuditStore: Sendable {
  /// At most `limit` entries of the node after `sequence`, in order, with the node's head at that time.
  /// - Parameter relyingParty: limits the page to this party's entries and to the head at its last entry. Nil reads all
  ///   entries.
  func auditEntries(of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int)
    async throws(StoreError) -> AuditPage

  /// The heads of all nodes that have entries, sorted by name. With a relying party, returns each chain's head at that
  /// party's last entry.
  func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead]
}

extension AuditStore {
  package func auditEntries(
    of node: NodeName, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try await auditEntries(of: node, nil, after: sequence, limit: limit)
  }

  package func auditHeads() async throws(StoreError) -> [AuditHead] { try await auditHeads(of: nil) }
}

package struct AuditPage: Sendable, Hashable {
  package let links: [AuditLink]
  package let head: AuditHead?

  package init(links: [AuditLink], head: AuditHead?) {
    self.links = links
    self.head = head
  }
}

extension AuditStore {
  /// Writes all chains up to their heads at the start of the call. The last lines are these heads: a file without heads
  /// is truncated.
  /// - Parameter write: receives the lines in portions.
  package func export<Failure: Error>(
    reading: (StoreError) -> Failure, _ write: ([UInt8]) throws(Failure) -> Void
  ) async throws(Failure) {
    let heads: [AuditHead]
    do throws(StoreError) { heads = try await auditHeads() } catch { throw reading(error) }
    for head in heads {
      var after: Int64 = 0
      while after < head.sequence {
        let page: AuditPage
        do throws(StoreError) {
          page = try await auditEntries(of: head.node, after: after, limit: Int(min(500, head.sequence - after)))
        } catch { throw reading(error) }
        guard let last = page.links.last else { throw reading(.corrupt("audit entries that end before their head")) }
        try write(AuditLine.bytes(of: page.links.map { .entry($0) }))
        after = last.head.sequence
      }
    }
    try write(AuditLine.bytes(of: heads.map { .head($0) }))
  }
}
