import Base
import Testing

@testable import Sessions

@Suite("Exported audit logs")
struct AuditVerificationTests {
  private typealias Chain = AuditChainFixture

  @Test("unchanged ones are accepted: together, twice, in pages, and from a noted head on")
  func accepted() throws {
    let a = try Chain("a"), b = try Chain("b")
    let verdict = Chain.verdict([a.lines.map(\.bytes), b.lines.map(\.bytes), a.lines.map(\.bytes)])
    #expect(verdict.isAccepted && verdict.entries == 10 && verdict.heads == [a.head, b.head])
    #expect(Chain.findings([]) == [.auditHeadMissing])
    let head = [AuditLine.head(a.head)]
    let pages = [a.lines[..<2] + head, a.lines[2..<4] + head, a.lines[4...]].map { Array($0) }
    #expect(Chain.findings(pages[1], pages[2], pages[0]) == [])
    #expect(Chain.findings(pages[0] + pages[1] + pages[2]) == [])
    #expect(Chain.findings(pages[1] + pages[2], noted: [a.links[1].head]) == [])
    // An export of last month beside today's.
    #expect(Chain.findings(Array(a.lines[..<3]) + [.head(a.links[2].head)], a.lines, noted: [a.links[2].head]) == [])
  }

  @Test("an altered entry")
  func altered() throws {
    let chain = try Chain()
    for index in chain.links.indices {
      let link = chain.links[index]
      let entry = Array(String(decoding: link.entry, as: UTF8.self).replacing("verified", with: "failed").utf8)
      var lines = chain.lines
      lines[index] = .entry(AuditLink(head: link.head, entry: entry))
      #expect(Chain.findings(lines) == [.auditHashMismatch])
      // After a change of its hash, the next entry no longer follows; after the last entry, the file's head does not.
      let before = index == 0 ? AuditHead(beginning: chain.node) : chain.links[index - 1].head
      lines[index] = .entry(AuditLink(head: before.appending(entry), entry: entry))
      #expect(Chain.findings(lines) == [index == 4 ? .auditHeadMismatch : .auditHashMismatch])
    }
  }

  @Test("a removed entry")
  func removed() throws {
    let chain = try Chain()
    for index in 0..<4 {
      var lines = chain.lines
      lines.remove(at: index)
      #expect(Chain.findings(lines) == [.auditEntryMissing])
    }
    // A missing beginning needs exactly the head before it.
    let rest = Array(chain.lines[2...])
    #expect(Chain.findings(rest) == [.auditEntryMissing])
    #expect(Chain.findings(rest, noted: [chain.links[0].head]) == [.auditEntryMissing, .auditEntryMissing])
    // With the head before it, older heads can no longer be checked.
    #expect(Chain.findings(rest, noted: [chain.links[1].head]) == [])
    #expect(Chain.findings(rest, noted: [chain.links[0].head, chain.links[1].head]) == [.auditEntryMissing])
  }

  @Test("an inserted entry")
  func inserted() throws {
    let chain = try Chain()
    var lines = chain.lines
    lines.insert(.entry(AuditLink(try Chain.entry(), after: chain.links[1].head)), at: 3)
    #expect(Chain.findings(lines) == [.auditSequenceRepeated])
    var longer = try Chain(entries: 0)
    for _ in 0..<2 { longer.append(try Chain.entry()) }
    #expect(
      Chain.findings([.entry(longer.links[0]), .entry(longer.links[1]), .head(longer.links[0].head)])
        == [.auditHeadMismatch])
  }

  @Test("swapped entries, by their lines or by their contents")
  func swapped() throws {
    let chain = try Chain()
    var lines = chain.lines
    lines.swapAt(1, 2)
    #expect(Chain.findings(lines) == [.auditOutOfOrder])
    lines = chain.lines
    let (second, third) = (chain.links[1], chain.links[2])
    lines[1] = .entry(AuditLink(head: second.head, entry: third.entry))
    lines[2] = .entry(AuditLink(head: third.head, entry: second.entry))
    #expect(Set(Chain.findings(lines)) == [.auditHashMismatch])
  }

  @Test("a cut end: by the file's own head, by a missing one, and with a new one only by the noted head")
  func cut() throws {
    let chain = try Chain()
    var lines = chain.lines
    lines.remove(at: 4)
    #expect(Chain.findings(lines) == [.auditEndMissing])
    #expect(Chain.findings(Array(chain.lines[..<3])) == [.auditHeadMissing])
    let cut = Array(chain.lines[..<3]) + [.head(chain.links[2].head)]
    #expect(Chain.findings(cut) == [])
    #expect(Chain.findings(cut, noted: [chain.links[1].head]) == [])
    #expect(Chain.findings(cut, noted: [chain.head]) == [.auditEndMissing])
    #expect(Chain.findings([], noted: [chain.head]) == [.auditHeadMissing, .auditEndMissing])
  }

  @Test("a chain that was rewritten is found only by a noted head")
  func rewritten() throws {
    let chain = try Chain()
    let other = try chain.rewritten(without: 1)
    #expect(Chain.findings(other.lines) == [])
    #expect(Chain.findings(other.lines, noted: [chain.links[2].head]) == [.auditHeadNotOnChain])
    #expect(Chain.findings(other.lines, noted: [chain.links[0].head]) == [])
    // Heads of both, noted at one sequence, also if the entries there are missing.
    let both = [chain.links[2].head, other.links[2].head]
    #expect(Set(Chain.findings(other.lines, noted: both)) == [.auditHeadNotOnChain])
    #expect(Chain.findings(Array(other.lines[3...]), noted: both).contains(.auditHeadNotOnChain))
  }

  @Test("exports of one node that disagree")
  func disagreeing() throws {
    let chain = try Chain()
    let last = try chain.rewritten(without: 4)
    var forked = last
    forked.append(try Chain.entry())
    #expect(Set(Chain.findings(chain.lines, forked.lines)) == [.auditExportsDisagree, .auditHeadMismatch])
    var lines = last.lines
    lines[3] = .entry(AuditLink(try Chain.entry(), after: chain.links[2].head))
    #expect(Chain.findings(chain.lines, Array(lines[..<4]) + [.head(chain.head)]) == [.auditExportsDisagree])
  }

  @Test("one attempt in two entries, over nodes too")
  func repeatedAttempt() throws {
    var a = try Chain("a"), b = try Chain("b")
    let entry = try Chain.entry()
    a.append(entry)
    b.append(entry)
    #expect(Chain.findings(a.lines) == [])
    #expect(Chain.findings(a.lines, b.lines) == [.auditAttemptRepeated])
    a.append(entry)
    #expect(Chain.findings(a.lines) == [.auditAttemptRepeated])
  }

  @Test("one session verified twice, over nodes too")
  func repeatedSession() throws {
    var a = try Chain("a"), b = try Chain("b")
    let session = try SessionID.random()
    a.append(try Chain.entry(session: session))
    a.append(try Chain.entry(session: session, verified: false))
    #expect(Chain.findings(a.lines) == [])
    b.append(try Chain.entry(session: session))
    #expect(Chain.findings(a.lines, b.lines) == [.auditSessionVerifiedTwice])
  }

  @Test("lines and entries that are none")
  func malformed() throws {
    let chain = try Chain()
    let good = chain.lines.map(\.bytes)
    for line in [
      "", "{}", "[]", #"{"node":"a","sequence":1,"entry":"x"}"#, #"{"node":"A b","head":1,"hash":"00"}"#,
      String(decoding: good[0], as: UTF8.self).replacing(#""sequence":1"#, with: #""sequence":0"#),
      String(decoding: good[0], as: UTF8.self).replacing(#""sequence":1"#, with: #""sequence":9223372036854775807"#),
      String(decoding: good[0], as: UTF8.self).replacing(#"{"node""#, with: #"{"more":1,"node""#),
    ] {
      #expect(Chain.verdict([good + [Array(line.utf8)]]).findings.map(\.code) == [.auditMalformed], "\(line)")
    }
    let head = AuditHead(beginning: chain.node).appending(Array("{}".utf8))
    #expect(Chain.findings([.entry(AuditLink(head: head, entry: Array("{}".utf8))), .head(head)]) == [.auditMalformed])
  }

  @Test("the chain's hashes are those that are documented")
  func hashes() throws {
    // Computed independently of this program, with Python's hashlib.
    let beginning = AuditHead(beginning: try Chain("a", entries: 0).node)
    #expect(Hex.encode(beginning.hash) == "2be56696a8ce12be56b5305a2c20fb2636c026c602b09cf56e664fd51601b734")
    #expect(
      Hex.encode(beginning.appending(Array("{}".utf8)).hash)
        == "96864a063cd26f82f0fe92ff84f198db92a64b4b37f9904c92b4f0ff2152134b")
  }

  @Test("names of nodes are those of hosts, in lower case")
  func names() {
    for name in ["a", "node-1.example", String(repeating: "x", count: 63)] { #expect(NodeName(name)?.text == name) }
    for name in ["", "A", "a b", "a_b", "ä", String(repeating: "x", count: 64)] { #expect(NodeName(name) == nil) }
  }
}
