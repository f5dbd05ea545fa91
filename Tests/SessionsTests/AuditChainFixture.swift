import Base

@testable import Sessions

/// Exported chains that a test makes, changes and verifies.
struct AuditChainFixture {
  let node: NodeName
  private(set) var links: [AuditLink] = []

  init(_ name: String = "a", entries: Int = 5) throws {
    guard let node = NodeName(name) else { throw StoreError.corrupt("a name") }
    self.node = node
    for _ in 0..<entries { append(try Self.entry()) }
  }

  static func entry(
    session: SessionID? = nil, attempt: AttemptID? = nil, verified: Bool = true, evidence: [UInt8]? = nil
  ) throws -> AuditEntry {
    let outcome = AttemptOutcome(
      address: SessionAddress(relyingParty: "shop", id: try session ?? SessionID.random()),
      attempt: try attempt ?? AttemptID.random(), protocolName: "apple-in-app",
      conclusion: verified ? .verified(.none) : .failed(.interrupted), report: nil, evidence: evidence)
    return AuditEntry(of: outcome, at: Timestamp(secondsSince1970: 1_795_000_000), mode: .live)
  }

  var head: AuditHead { links.last?.head ?? AuditHead(beginning: node) }
  var lines: [AuditLine] { links.map { .entry($0) } + [.head(head)] }

  mutating func append(_ entry: AuditEntry) { links.append(AuditLink(entry, after: head)) }

  /// The same entries without some, chained again by someone with write access to the store.
  func rewritten(without index: Int) throws -> AuditChainFixture {
    var copy = try AuditChainFixture(node.text, entries: 0)
    for (position, link) in links.enumerated() where position != index {
      copy.links.append(AuditLink(head: copy.head.appending(link.entry), entry: link.entry))
    }
    return copy
  }

  /// The codes of the findings in files of these lines.
  static func findings(_ files: [AuditLine]..., noted: [AuditHead] = []) -> [Code] {
    verdict(files.map { file in file.map(\.bytes) }, noted: noted).findings.map(\.code)
  }

  static func verdict(_ files: [[[UInt8]]], noted: [AuditHead] = []) -> AuditVerdict {
    var verification = AuditVerification(noted: noted)
    for (number, file) in files.enumerated() {
      for (index, line) in file.enumerated() {
        verification.read(line, at: AuditPosition(file: "\(number)", line: index + 1))
      }
      verification.endFile("\(number)")
    }
    return verification.verdict()
  }
}
