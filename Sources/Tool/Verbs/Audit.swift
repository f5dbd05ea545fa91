import App
import Base
import Sessions

enum AuditCommand {
  static let command = Command(
    "audit", "export audit entries, and verify exports", verbs: [AuditExportCommand.command, AuditVerify.command])
}

/// `mdoc audit export`: writes all chains of a store as JSON Lines. A server may use the store at the same time.
enum AuditExportCommand {
  static let command = Command(
    "export", "write all audit entries of a store as JSON Lines", options: [.config, .store, .newFile],
    notes: [
      "Each entry has one line, which holds its exact text as a JSON string. The last lines are the heads of the "
        + "chains. The store is only read, and may be in use.",
      "Exit status: 0 written, 64 usage, 65 the file exists or cannot be written, 75 the store cannot be read now, "
        + "78 configuration.",
    ],
    examples: [
      .init("Export a server's log", "mdoc audit export --config /etc/mdoc/mdoc.json --out audit-2026-11.jsonl"),
      .init("Print only the heads, to keep elsewhere", "mdoc audit export --config mdoc.json | grep '\"head\"'"),
    ], work: run)

  private static func run(_ arguments: Arguments) async throws(Failure) {
    let store = try open(arguments)
    guard let path = arguments.value(.newFile) else {
      try await store.export(reading: failure) { lines throws(Failure) in
        if !lines.isEmpty { arguments.console.print(String(decoding: lines.dropLast(), as: UTF8.self)) }
      }
      return
    }
    let file = try OutputFile(new: path)
    try await store.export(reading: failure) { lines throws(Failure) in try file.write(lines) }
    try file.flush()
    try file.close()
  }

  private static func open(_ arguments: Arguments) throws(Failure) -> any AuditStore {
    let config = arguments.value(.config)
    var store: StoreLocation?
    if let text = arguments.value(.store) { store = try ServeCommand.location(text) }
    do throws(StartError) {
      if let config, store == nil { return try AuditSource.open(configurationFile: config) }
      if let store, config == nil { return try AuditSource.open(store) }
    } catch {
      throw error.exitCode == ExitStatus.configuration.rawValue
        ? .configuration(error.message) : .temporary(error.message)
    }
    throw .usage("give exactly one of --config FILE and --store STORE")
  }

  private static func failure(_ error: StoreError) -> Failure {
    switch error {
    case .unavailable(let reason): .temporary("the store: \(reason)")
    case .corrupt(let what): .unreadable("the store has \(what)")
    default: .internal("the store: \(error)")
    }
  }
}

extension Option {
  fileprivate static let config = Option("config", "FILE", "the server's configuration, JSON")
  fileprivate static let store = Option(
    "store", "STORE", "the SQLite file, or a postgresql:// URL, as for mdoc serve --test-mode --store")
  fileprivate static let newFile = Option("out", "FILE", "a new file to write (default: standard output)")
}

/// `mdoc audit verify`: verifies exported chains of all nodes together.
enum AuditVerify {
  static let command = Command(
    "verify", "verify exported audit entries, of all nodes together", options: [.heads, .json],
    operand: Operand(placeholder: "FILE", help: "exports, JSON Lines: of every node, in any order", isRepeatable: true),
    notes: [
      "Every chain is verified from its first entry, or from an earlier head of --heads. Exports of the same node must "
        + "agree. Over all nodes, no attempt may have two entries, and no session may be verified twice. Note heads "
        + "elsewhere: without --heads, a truncated or rewritten log cannot be detected.",
      "Exit status: 0 the log is intact, 1 the log has findings, 64 usage, 65 a file cannot be read.",
    ],
    examples: [
      .init("Verify the logs of two nodes", "mdoc audit verify a.jsonl b.jsonl"),
      .init("Compare with last month's heads", "mdoc audit verify audit.jsonl --heads heads-2026-10.jsonl"),
    ], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    var verification = AuditVerification(noted: try noted(arguments.value(.heads)))
    for path in arguments.operands {
      try FileAccess.readLines(path, purpose: "audit log") { line, number in
        verification.read(line, at: AuditPosition(file: path, line: number))
      }
      verification.endFile(path)
    }
    let verdict = verification.verdict()
    arguments.print(report(verdict))
    return verdict.isAccepted ? .done : .rejected
  }

  /// The heads in a file of heads or in an earlier export; empty if `path` is nil.
  static func noted(_ path: String?) throws(Failure) -> [AuditHead] {
    guard let path else { return [] }
    var heads: [AuditHead] = []
    var wrong: Int?
    try FileAccess.readLines(path, purpose: "heads") { line, number in
      switch AuditLine(parsing: line) {
      case .head(let head): heads.append(head)
      case .entry: break
      case nil: wrong = wrong ?? number
      }
    }
    if let wrong { throw .unreadable("heads \(path): line \(wrong) must be a line of an audit log") }
    guard !heads.isEmpty else { throw .unreadable("heads \(path): has no head") }
    return heads
  }

  /// Maximum number of findings in the text, since one cause can lead to very many.
  private static let mostFindings = 50

  private static func report(_ verdict: AuditVerdict) -> [Report] {
    let more = verdict.findings.count - mostFindings
    let entries = verdict.entries == 1 ? "1 entry" : "\(verdict.entries) entries"
    let summary = "  \(entries) of \(counted(verdict.heads.count, "node"))" + (verdict.heads.isEmpty ? "" : ", up to")
    return [
      .members([
        "accepted": verdict.isAccepted, "entries": verdict.entries, "heads": verdict.heads.map(json),
        "findings": verdict.findings.map(json),
      ])
    ] + verdict.findings.prefix(mostFindings).map { .section(text($0)) } + [
      .note("\(more > 0 ? "and \(more) more findings; --json has them all" : "")"),
      .section(
        [.line(verdict.isAccepted ? .good("VERIFIED") : .bad("REJECTED"), "\(summary)")]
          + verdict.heads.map { .line("  \($0.node)  \($0.sequence)  ", .faint(Hex.encode($0.hash))) }),
    ]
  }

  private static func json(_ head: AuditHead) -> JSON {
    .of(["node": head.node.text, "head": head.sequence, "hash": Hex.encode(head.hash)])
  }

  private static func json(_ finding: AuditFinding) -> JSON {
    .of([
      "code": finding.code.rawValue, "node": finding.node?.text, "sequence": finding.sequence,
      "file": finding.position?.file, "line": finding.position?.line, "detail": finding.detail,
      "summary": finding.code.entry.summary, "remedy": finding.code.entry.remedy,
    ])
  }

  private static func text(_ finding: AuditFinding) -> [Report] {
    let chain = finding.node.map { node in "\(node)" + (finding.sequence.map { ", entry \($0)" } ?? "") }
    let lines = [
      finding.code.entry.summary, chain, finding.detail, finding.position.map { "\($0.file), line \($0.line)" },
      "What to do: " + finding.code.entry.remedy,
    ]
    return [.line(.bad("FAILED"), "  \(finding.code.rawValue)")] + lines.compactMap { $0 }.map { .paragraph("\($0)") }
  }
}

extension Option {
  static let heads = Option("heads", "FILE", "heads that were noted earlier: lines of an export, or of /v1/audit/heads")
}
