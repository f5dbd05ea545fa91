import Base
import Cryptography

/// Where a node's chain of audit entries ends, or ended at some time.
///
/// `hash_n = SHA-256(hash_{n-1} ‖ n as 8 bytes, big-endian ‖ entry)`, and `hash_0 = SHA-256("mdoc-audit-v1" ‖ node)`:
/// each hash speaks for every entry before it, so that whoever has noted a head finds any later change of them.
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
