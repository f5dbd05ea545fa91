import Base

/// What is wrong with exported chains of audit entries.
package struct AuditFinding: Sendable, Hashable {
  package let code: Code
  package let node: NodeName?
  package let sequence: Int64?
  /// Where it was found, as far as it was in one place.
  package let place: AuditPlace?
  package let detail: String

  init(_ code: Code, _ head: AuditHead, _ detail: String, at place: AuditPlace? = nil) {
    self.init(code, node: head.node, sequence: head.sequence, detail, at: place)
  }

  init(_ code: Code, node: NodeName?, sequence: Int64?, _ detail: String, at place: AuditPlace? = nil) {
    self.code = code
    self.node = node
    self.sequence = sequence
    self.place = place
    self.detail = detail
  }
}

/// A line of an exported file; lines count from 1.
package struct AuditPlace: Sendable, Hashable {
  package let file: String
  package let line: Int

  package init(file: String, line: Int) {
    self.file = file
    self.line = line
  }
}

/// What verifying came to.
package struct AuditVerdict: Sendable, Hashable {
  package let findings: [AuditFinding]
  /// Entries, each counted once, however many exports have it.
  package let entries: Int
  /// The last entry of each node, by name: worth noting where `findings` is empty.
  package let heads: [AuditHead]

  package var isAccepted: Bool { findings.isEmpty }
}
