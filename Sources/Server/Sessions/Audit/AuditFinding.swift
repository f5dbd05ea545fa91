import Base

/// What is wrong with exported chains of audit entries.
public struct AuditFinding: Sendable, Hashable {
  public let code: Code
  public let node: NodeName?
  public let sequence: Int64?
  /// Where it was found, as far as it was in one place.
  public let place: AuditPlace?
  public let detail: String

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
public struct AuditPlace: Sendable, Hashable {
  public let file: String
  public let line: Int

  public init(file: String, line: Int) {
    self.file = file
    self.line = line
  }
}

/// What verifying came to.
public struct AuditVerdict: Sendable, Hashable {
  public let findings: [AuditFinding]
  /// Entries, each counted once, however many exports have it.
  public let entries: Int
  /// The last entry of each node, by name: worth noting where `findings` is empty.
  public let heads: [AuditHead]

  public var isAccepted: Bool { findings.isEmpty }
}
