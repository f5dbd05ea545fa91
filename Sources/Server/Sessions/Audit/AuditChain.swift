import Base
import Cryptography

/// One node's chain as all exports together show it.
struct AuditChain: Sendable {
  enum Addition { case new, known, different }

  private struct Entry: Sendable {
    let hash: [UInt8]
    let digest: [UInt8]
    let place: AuditPlace
    /// The entry's bytes, kept as long as it is not known to follow its predecessor; nil once that is known.
    let unlinked: [UInt8]?
  }

  let node: NodeName
  /// The heads that the files themselves have.
  var exported: [(AuditHead, AuditPlace)] = []
  private var entries: [Int64: Entry] = [:]

  init(_ node: NodeName) { self.node = node }

  var count: Int { entries.count }

  var last: AuditHead? { entries.keys.max().flatMap(head) }

  /// - Parameter isLinked: whether its hash is known to follow from the entry before it.
  mutating func add(_ link: AuditLink, isLinked: Bool, at place: AuditPlace) -> Addition {
    let digest = HashAlgorithm.sha256.hash(link.entry)
    if let known = entries[link.head.sequence] {
      return known.digest == digest && known.hash == link.head.hash ? .known : .different
    }
    entries[link.head.sequence] = Entry(
      hash: link.head.hash, digest: digest, place: place, unlinked: isLinked ? nil : link.entry)
    return .new
  }

  /// - Parameter noted: earlier heads of this node.
  func findings(noted: [AuditHead]) -> [AuditFinding] {
    continuity(noted) + ends(noted) + contradictions(among: noted)
  }

  /// Checks that each entry follows from the one before it, beginning at the chain's first entry or at a noted head.
  ///
  /// If an entry does not follow, the next one is still judged by the hash that stands in that entry, so that one
  /// change is one finding.
  private func continuity(_ noted: [AuditHead]) -> [AuditFinding] {
    let sequences = entries.keys.sorted()
    guard let first = sequences.first else { return [] }
    var findings: [AuditFinding] = []
    var before: AuditHead? = noted.first { $0.sequence == first - 1 } ?? AuditHead(beginning: node)
    for sequence in sequences {
      guard let entry = entries[sequence], let here = head(sequence) else { continue }
      if let from = before, from.sequence + 1 != sequence {
        let missing = from.sequence + 1 == sequence - 1 ? "\(sequence - 1)" : "\(from.sequence + 1) to \(sequence - 1)"
        findings.append(
          AuditFinding(.auditEntryMissing, here, "\(missing) missing before it", at: entry.place))
      } else if let from = before, let bytes = entry.unlinked, from.appending(bytes) != here {
        findings.append(
          AuditFinding(
            .auditHashMismatch, here, "its hash does not follow from it and the hash before", at: entry.place))
      }
      before = here
    }
    return findings
  }

  /// Checks that the heads in the files and the noted heads are on the chain.
  private func ends(_ noted: [AuditHead]) -> [AuditFinding] {
    let last = entries.keys.max() ?? 0
    var findings: [AuditFinding] = []
    // An earlier export ends earlier, which is no fault. A head beyond the last entry shows that entries are cut off.
    for (head, place) in exported {
      if head.sequence > last {
        findings.append(AuditFinding(.auditEndMissing, head, "the entries end at \(last)", at: place))
      } else if let entry = entries[head.sequence], entry.hash != head.hash {
        findings.append(AuditFinding(.auditHeadMismatch, head, "the entry there has another hash", at: place))
      }
    }
    let first = entries.keys.min() ?? 0
    for head in noted {
      if head.sequence < first - 1 {
        findings.append(
          AuditFinding(.auditEntryMissing, head, "noted earlier; the entries begin at \(first), too late to check it"))
      } else if head.sequence > last {
        findings.append(AuditFinding(.auditEndMissing, head, "noted earlier; the entries end at \(last)"))
      } else if let entry = entries[head.sequence], entry.hash != head.hash {
        findings.append(AuditFinding(.auditHeadNotOnChain, head, "noted earlier; the entry there has another hash"))
      }
    }
    return findings
  }

  /// Finds noted heads that have the same sequence and different hashes: at most one of them is on this chain.
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
