import App
import Base
import Sessions

/// `mdoc audit`: exports and verifies the chained audit entries of all attempts.
enum AuditCommand {
  static let command = Command(
    "audit", "export audit entries, and verify exports",
    verbs: [AuditExportCommand.command, AuditVerify.command])
}

/// `mdoc audit export`: writes all chains of a store as JSON Lines. A server may use the store meanwhile.
enum AuditExportCommand {
  static let command = Command(
    "export", "write all audit entries of a store as JSON Lines",
    options: [.config, .store, .newFile],
    notes: [
      "One line for each entry, its exact text as a JSON string; the last lines are the heads of the chains. The store is "
        + "only read, and may be in use.",
      "Exit status: 0 written, 64 usage, 65 the file exists or cannot be written, 75 the store cannot be read now, "
        + "78 configuration.",
    ],
    examples: [
      .init("Everything of a server", "mdoc audit export --config /etc/mdoc/mdoc.json --out audit-2026-11.jsonl"),
      .init("The heads alone, to note them elsewhere", "mdoc audit export --config mdoc.json | grep '\"head\"'"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let store = try open(arguments)
    guard let path = arguments.value(.newFile) else {
      try await AuditExport(store).run(reading: failure) { lines throws(Failure) in
        if !lines.isEmpty { console.print(String(decoding: lines.dropLast(), as: UTF8.self)) }
      }
      return .done
    }
    let file = try NewFile(path)
    try await AuditExport(store).run(reading: failure) { lines throws(Failure) in try file.write(lines) }
    try file.finish()
    return .done
  }

  private static func open(_ arguments: ParsedArguments) throws(Failure) -> any AuditStore {
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
    throw .usage("either --config FILE or --store STORE is required, and not both")
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
    "store", "STORE", "the SQLite file, or a postgresql:// URL, as of mdoc serve --test-mode --store")
  fileprivate static let newFile = Option("out", "FILE", "a new file to write (default: standard output)")
}

/// `mdoc audit verify`: verifies exported chains of all nodes together.
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

  /// The heads in a file of heads or in an earlier export; empty if `path` is nil.
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

/// The result of verifying audit logs, as text for people.
struct AuditText: Sendable {
  /// The most findings that are printed, since one cause can have very many.
  private static let most = 50

  let width: Int
  let style: Style

  func text(_ verdict: AuditVerdict) -> String {
    let more = verdict.findings.count - Self.most
    let blocks =
      verdict.findings.prefix(Self.most).map(block)
      + (more > 0 ? ["and \(more) more findings; --json has them all"] : [])
    let heads = verdict.heads.map { "  \($0.node)  \($0.sequence)  " + style(Hex.encode($0.hash), .faint) }
    let label = verdict.isAccepted ? style("VERIFIED", .bold, .green) : style("REJECTED", .bold, .red)
    let entries = verdict.entries == 1 ? "1 entry" : "\(verdict.entries) entries"
    let nodes = verdict.heads.count == 1 ? "1 node" : "\(verdict.heads.count) nodes"
    let summary = "\(label)  \(entries) of \(nodes)" + (heads.isEmpty ? "" : ", up to")
    return (blocks + [([summary] + heads).joined(separator: "\n")]).joined(separator: "\n\n")
  }

  private func block(_ finding: AuditFinding) -> String {
    let place = finding.place.map { "\($0.file), line \($0.line)" }
    let chain = finding.node.map { node in "\(node)" + (finding.sequence.map { ", entry \($0)" } ?? "") }
    let rows = [
      finding.code.entry.summary, chain, finding.detail, place, "What to do: " + finding.code.entry.remedy,
    ].compactMap { $0 }.map { "  " + Wrapping.wrap(Printable.line($0), indent: 2, width: width) }
    return ([style("FAILED", .bold, .red) + "  \(finding.code.rawValue)"] + rows).joined(separator: "\n")
  }
}
