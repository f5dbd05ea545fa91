import Base
import Cryptography

/// Verifies the exported audit logs of all nodes together. Compares the chains with one another and with noted heads,
/// and checks attempts and sessions. Stores only the hash and the ids of an entry that is known to follow its
/// predecessor.
package struct AuditVerification: Sendable {
  private var chains: [NodeName: AuditChain] = [:]
  private var file: [NodeName: AuditFileState] = [:]
  private var findings: [AuditFinding] = []
  private var attempts: Set<String> = []
  private var verifiedSessions: Set<String> = []
  private let noted: [AuditHead]

  package init(noted: [AuditHead] = []) { self.noted = noted }

  package mutating func read(_ bytes: [UInt8], at position: AuditPosition) {
    switch AuditLine(parsing: bytes) {
    case .entry(let link): read(link, at: position)
    case .head(let head):
      file[head.node, default: AuditFileState()].note(head: head.sequence)
      chains[head.node, default: AuditChain(head.node)].exported.append((head, position))
    case nil: findings.append(AuditFinding(.auditMalformed, nil, "not a line of an exported audit log", at: position))
    }
  }

  /// Ends a file, and checks that each node's head in it matches the node's last entry.
  package mutating func endFile(_ name: String) {
    for (node, state) in file.sorted(by: { $0.key < $1.key }) where state.highest > 0 {
      let last = AuditHead(node: node, sequence: state.highest, hash: [])
      if state.head == 0 {
        findings.append(AuditFinding(.auditHeadMissing, last, "\(name) has no head of this node"))
      } else if state.head < state.highest {
        findings.append(AuditFinding(.auditHeadMismatch, last, "\(name) ends its chain at \(state.head)"))
      }
    }
    if file.isEmpty { findings.append(AuditFinding(.auditHeadMissing, nil, "\(name) has no entries and no heads")) }
    file = [:]
  }

  private mutating func read(_ link: AuditLink, at position: AuditPosition) {
    let head = link.head
    let isLinked: Bool
    // Change the state in place: otherwise each line copies the whole state.
    switch file[head.node, default: AuditFileState()].take(link) {
    case .repeated:
      findings.append(AuditFinding(.auditSequenceRepeated, head, "this entry is already in this file", at: position))
      return
    case .outOfOrder(let highest):
      findings.append(AuditFinding(.auditOutOfOrder, head, "it follows \(highest)", at: position))
      isLinked = false
    case .inOrder(let follows): isLinked = follows
    }
    switch chains[head.node, default: AuditChain(head.node)].add(link, isLinked: isLinked, at: position) {
    case .new: readContent(link, at: position)
    case .known: break
    case .different:
      findings.append(AuditFinding(.auditExportsDisagree, head, "another export differs here", at: position))
    }
  }

  private mutating func readContent(_ link: AuditLink, at position: AuditPosition) {
    guard let json = try? JSON(parsing: link.entry), json["version"]?.integer == AuditEntry.version,
      let attempt = json["attempt"]?.string, let session = json["session"]?.string,
      let outcome = json["outcome"]?.string.flatMap(AuditEntry.Outcome.init)
    else {
      findings.append(
        AuditFinding(.auditMalformed, link.head, "not an audit entry of a known version", at: position))
      return
    }
    guard attempts.insert(attempt).inserted else {
      findings.append(AuditFinding(.auditAttemptRepeated, link.head, "attempt \(attempt)", at: position))
      return
    }
    if outcome == .verified, !verifiedSessions.insert(session).inserted {
      findings.append(AuditFinding(.auditSessionVerifiedTwice, link.head, "session \(session)", at: position))
    }
  }

  package func verdict() -> AuditVerdict {
    var findings = findings
    var heads: [AuditHead] = []
    var entries = 0
    let nodes = Set(chains.keys).union(noted.map(\.node)).sorted()
    for node in nodes {
      let chain = chains[node] ?? AuditChain(node)
      findings += chain.findings(noted: noted.filter { $0.node == node })
      entries += chain.count
      if let head = chain.last { heads.append(head) }
    }
    return AuditVerdict(findings: findings, entries: entries, heads: heads)
  }
}

struct AuditFileState: Sendable {
  enum Order { case repeated, outOfOrder(after: Int64), inOrder(isLinked: Bool) }

  private var sequences: Set<Int64> = []
  /// The head of the previous entry in the file; nil before the first.
  private var last: AuditHead?
  private(set) var highest: Int64 = 0
  /// The highest sequence among the head lines of the file; 0 if there is none.
  private(set) var head: Int64 = 0

  mutating func take(_ link: AuditLink) -> Order {
    let head = link.head
    guard sequences.insert(head.sequence).inserted else { return .repeated }
    defer {
      last = head
      highest = max(highest, head.sequence)
    }
    if head.sequence < highest { return .outOfOrder(after: highest) }
    return .inOrder(
      isLinked: last.map { $0.sequence + 1 == head.sequence && $0.appending(link.entry) == head } ?? false)
  }

  mutating func note(head sequence: Int64) { head = max(head, sequence) }
}

package struct AuditFinding: Sendable, Hashable {
  package let code: Code
  package let node: NodeName?
  package let sequence: Int64?
  /// The line; nil if the finding does not concern a single line.
  package let position: AuditPosition?
  package let detail: String

  init(_ code: Code, _ head: AuditHead?, _ detail: String, at position: AuditPosition? = nil) {
    self.code = code
    node = head?.node
    sequence = head?.sequence
    self.position = position
    self.detail = detail
  }
}

/// A line of an exported file; lines count from 1.
package struct AuditPosition: Sendable, Hashable {
  package let file: String
  package let line: Int

  package init(file: String, line: Int) {
    self.file = file
    self.line = line
  }
}

package struct AuditVerdict: Sendable, Hashable {
  package let findings: [AuditFinding]
  /// The number of distinct entries.
  package let entries: Int
  /// The head of each node, sorted by name. If `findings` is empty, note the heads for later verifications.
  package let heads: [AuditHead]

  package var isAccepted: Bool { findings.isEmpty }
}

struct AuditChain: Sendable {
  enum Addition { case new, known, different }

  private struct Entry: Sendable {
    let hash: [UInt8]
    let digest: [UInt8]
    let position: AuditPosition
    /// The entry's bytes; nil once the entry is known to follow its predecessor.
    let unlinked: [UInt8]?
  }

  let node: NodeName
  var exported: [(AuditHead, AuditPosition)] = []
  private var entries: [Int64: Entry] = [:]

  init(_ node: NodeName) { self.node = node }

  var count: Int { entries.count }

  var last: AuditHead? { entries.keys.max().flatMap(head) }

  /// - Parameter isLinked: true if the entry's hash is known to follow from the previous entry.
  mutating func add(_ link: AuditLink, isLinked: Bool, at position: AuditPosition) -> Addition {
    let digest = HashAlgorithm.sha256.hash(link.entry)
    if let known = entries[link.head.sequence] {
      return known.digest == digest && known.hash == link.head.hash ? .known : .different
    }
    entries[link.head.sequence] = Entry(
      hash: link.head.hash, digest: digest, position: position, unlinked: isLinked ? nil : link.entry)
    return .new
  }

  func findings(noted: [AuditHead]) -> [AuditFinding] { continuity(noted) + ends(noted) + contradictions(among: noted) }

  /// Checks that each entry follows from the previous one, beginning with the chain's first entry or a noted head.
  /// After a fault, the check continues from the stored hash, so that one change causes only one finding.
  private func continuity(_ noted: [AuditHead]) -> [AuditFinding] {
    let sequences = entries.keys.sorted()
    guard let first = sequences.first else { return [] }
    var findings: [AuditFinding] = []
    var before: AuditHead? = noted.first { $0.sequence == first - 1 } ?? AuditHead(beginning: node)
    for sequence in sequences {
      guard let entry = entries[sequence], let here = head(sequence) else { continue }
      if let from = before, from.sequence + 1 != sequence {
        let missing = from.sequence + 1 == sequence - 1 ? "\(sequence - 1)" : "\(from.sequence + 1) to \(sequence - 1)"
        findings.append(AuditFinding(.auditEntryMissing, here, "\(missing) missing before it", at: entry.position))
      } else if let from = before, let bytes = entry.unlinked, from.appending(bytes) != here {
        findings.append(
          AuditFinding(
            .auditHashMismatch, here, "its hash does not match its content and the previous hash", at: entry.position))
      }
      before = here
    }
    return findings
  }

  /// Checks that the heads in the files, and the noted heads, are on the chain.
  private func ends(_ noted: [AuditHead]) -> [AuditFinding] {
    let last = entries.keys.max() ?? 0
    var findings: [AuditFinding] = []
    // An older export ends earlier, which is not a fault. A head beyond the last entry shows that entries were cut off.
    for (head, position) in exported {
      if head.sequence > last {
        findings.append(AuditFinding(.auditEndMissing, head, "the entries end at \(last)", at: position))
      } else if let entry = entries[head.sequence], entry.hash != head.hash {
        findings.append(AuditFinding(.auditHeadMismatch, head, "the entry there has another hash", at: position))
      }
    }
    let first = entries.keys.min() ?? 0
    for head in noted {
      if head.sequence < first - 1 {
        findings.append(
          AuditFinding(.auditEntryMissing, head, "noted earlier; entries begin at \(first), so it cannot be checked"))
      } else if head.sequence > last {
        findings.append(AuditFinding(.auditEndMissing, head, "noted earlier; the entries end at \(last)"))
      } else if let entry = entries[head.sequence], entry.hash != head.hash {
        findings.append(AuditFinding(.auditHeadNotOnChain, head, "noted earlier; the entry there has another hash"))
      }
    }
    return findings
  }

  /// Finds noted heads with the same sequence number and different hashes: at most one such head is on this chain.
  private func contradictions(among noted: [AuditHead]) -> [AuditFinding] {
    Dictionary(grouping: Set(noted), by: \.sequence).filter { $1.count > 1 }.sorted { $0.key < $1.key }.map {
      _, heads in
      AuditFinding(.auditHeadNotOnChain, heads[0], "noted with \(heads.count) different hashes")
    }
  }

  private func head(_ sequence: Int64) -> AuditHead? {
    entries[sequence].map { AuditHead(node: node, sequence: sequence, hash: $0.hash) }
  }
}
