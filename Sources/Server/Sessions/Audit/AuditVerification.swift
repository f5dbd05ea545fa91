import Base
import Cryptography

/// Verifies the exported audit logs of all nodes together: each chain for itself, exports of one node against one
/// another, the chains against heads that were noted earlier, and over all nodes that no attempt has two entries and no
/// session was verified twice.
///
/// Lines are taken as they come; of an entry that follows its predecessor only hashes and ids are kept.
package struct AuditVerification: Sendable {
  private var chains: [NodeName: AuditChain] = [:]
  /// What the file that is being read has shown of each node.
  private var file: [NodeName: AuditFileState] = [:]
  private var findings: [AuditFinding] = []
  private var attempts: Set<String> = []
  private var verifiedSessions: Set<String> = []
  private let noted: [AuditHead]

  /// - Parameter noted: heads that were written down earlier, elsewhere.
  package init(noted: [AuditHead] = []) { self.noted = noted }

  // MARK: Reading

  /// Takes the next line of a file.
  package mutating func read(_ bytes: [UInt8], at place: AuditPlace) {
    switch AuditLine(parsing: bytes) {
    case .entry(let link): read(link, at: place)
    case .head(let head):
      file[head.node, default: AuditFileState()].note(head: head.sequence)
      chains[head.node, default: AuditChain(head.node)].exported.append((head, place))
    case nil:
      findings.append(
        AuditFinding(.auditMalformed, node: nil, sequence: nil, "no line of an exported audit log", at: place))
    }
  }

  /// Ends a file, and checks that each node's head in it is where that node's entries in the file end.
  package mutating func endFile(_ name: String) {
    for (node, state) in file.sorted(by: { $0.key < $1.key }) where state.highest > 0 {
      let last = AuditHead(node: node, sequence: state.highest, hash: [])
      if state.head == 0 {
        findings.append(AuditFinding(.auditHeadMissing, last, "\(name) has no head of this node"))
      } else if state.head < state.highest {
        findings.append(AuditFinding(.auditHeadMismatch, last, "\(name) ends its chain at \(state.head)"))
      }
    }
    if file.isEmpty {
      findings.append(AuditFinding(.auditHeadMissing, node: nil, sequence: nil, "\(name) has no line of any chain"))
    }
    file = [:]
  }

  private mutating func read(_ link: AuditLink, at place: AuditPlace) {
    let head = link.head
    let isLinked: Bool
    // The state is changed in place: otherwise everything that the file has shown would be copied for each line.
    switch file[head.node, default: AuditFileState()].take(link) {
    case .repeated:
      findings.append(AuditFinding(.auditSequenceRepeated, head, "it is in this file already", at: place))
      return
    case .outOfOrder(let highest):
      findings.append(AuditFinding(.auditOutOfOrder, head, "it follows \(highest)", at: place))
      isLinked = false
    case .inOrder(let follows): isLinked = follows
    }
    switch chains[head.node, default: AuditChain(head.node)].add(link, isLinked: isLinked, at: place) {
    case .new: readContent(link, at: place)
    case .known: break
    case .different:
      findings.append(AuditFinding(.auditExportsDisagree, head, "another export has another entry here", at: place))
    }
  }

  private mutating func readContent(_ link: AuditLink, at place: AuditPlace) {
    guard let json = try? JSON(parsing: link.entry), json["version"]?.integer == AuditEntry.version,
      let attempt = json["attempt"]?.string, let session = json["session"]?.string,
      let outcome = json["outcome"]?.string.flatMap(AuditEntry.Outcome.init)
    else {
      findings.append(AuditFinding(.auditMalformed, link.head, "no audit entry of a version known here", at: place))
      return
    }
    guard attempts.insert(attempt).inserted else {
      findings.append(AuditFinding(.auditAttemptRepeated, link.head, "attempt \(attempt)", at: place))
      return
    }
    if outcome == .verified, !verifiedSessions.insert(session).inserted {
      findings.append(AuditFinding(.auditSessionVerifiedTwice, link.head, "session \(session)", at: place))
    }
  }

  // MARK: Judging

  /// What all files together come to.
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

/// One node in the file that is being read.
struct AuditFileState: Sendable {
  enum Place { case repeated, outOfOrder(after: Int64), inOrder(isLinked: Bool) }

  private var sequences: Set<Int64> = []
  /// The head of the entry before, in the file's order; nil before the first.
  private var last: AuditHead?
  private(set) var highest: Int64 = 0
  /// The highest sequence that a head line of the file names; 0 if there is none.
  private(set) var head: Int64 = 0

  mutating func take(_ link: AuditLink) -> Place {
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

/// What is wrong with exported chains of audit entries.
package struct AuditFinding: Sendable, Hashable {
  package let code: Code
  package let node: NodeName?
  package let sequence: Int64?
  /// Where it was found; nil if it is not in one place.
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
