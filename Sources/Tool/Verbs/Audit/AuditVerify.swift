import Base
import Sessions

/// `mdoc audit verify`: exported chains, all together.
enum AuditVerify {
  static let command = Command(
    "verify", "verify exported audit entries, of all nodes together",
    options: [.heads, .json],
    operand: Operand(placeholder: "FILE", help: "exports, JSON Lines: of every node, in any order", isRepeatable: true),
    notes: [
      "Every chain is verified from its first entry, or from a head of --heads before it; exports of one node must "
        + "agree; over all nodes no attempt has two entries and no session was verified twice. Without heads that were "
        + "noted elsewhere, a log that was cut short or written anew as a whole looks like one that was not.",
      "Exit status: 0 nothing is wrong, 1 something is, 64 usage, 65 a file cannot be read.",
    ],
    examples: [
      .init("The logs of two nodes", "mdoc audit verify a.jsonl b.jsonl"),
      .init("Against what was noted last month", "mdoc audit verify audit.jsonl --heads heads-2026-10.jsonl"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    var verification = AuditVerification(noted: try noted(arguments.value(.heads)))
    for path in arguments.operands {
      try LineFile.read(path, purpose: "audit log") { line, number in
        verification.read(line, at: AuditPlace(file: path, line: number))
      }
      verification.endFile(path)
    }
    let verdict = verification.verdict()
    if arguments.has(.json) {
      console.print(json(verdict))
    } else {
      console.print(AuditText(width: console.width, style: Style(isColored: console.isColored)).text(verdict))
    }
    return verdict.isAccepted ? .done : .rejected
  }

  /// The heads of a file of heads, or of an earlier export; none without one.
  static func noted(_ path: String?) throws(Failure) -> [AuditHead] {
    guard let path else { return [] }
    var heads: [AuditHead] = []
    var wrong: Int?
    try LineFile.read(path, purpose: "heads") { line, number in
      switch AuditLine(parsing: line) {
      case .head(let head): heads.append(head)
      case .entry: break
      case nil: wrong = wrong ?? number
      }
    }
    if let wrong { throw .unreadable("heads \(path): line \(wrong) is no line of an audit log") }
    guard !heads.isEmpty else { throw .unreadable("heads \(path): has no head") }
    return heads
  }

  private static func json(_ verdict: AuditVerdict) -> JSON {
    [
      "accepted": .bool(verdict.isAccepted), "entries": .integer(Int64(verdict.entries)),
      "heads": .array(
        verdict.heads.map { head in
          [
            "node": .string(head.node.text), "head": .integer(head.sequence), "hash": .string(Hex.encode(head.hash)),
          ]
        }),
      "findings": .array(verdict.findings.map(json)),
    ]
  }

  private static func json(_ finding: AuditFinding) -> JSON {
    [
      "code": .string(finding.code.rawValue), "node": finding.node.map { .string($0.text) } ?? .null,
      "sequence": finding.sequence.map { .integer($0) } ?? .null,
      "file": finding.place.map { .string($0.file) } ?? .null,
      "line": finding.place.map { .integer(Int64($0.line)) } ?? .null, "detail": .string(finding.detail),
      "summary": .string(finding.code.entry.summary), "remedy": .string(finding.code.entry.remedy),
    ]
  }
}

extension Option {
  static let heads = Option(
    "heads", "FILE", "heads that were noted earlier: lines of an export, or of /v1/audit/heads")
}
