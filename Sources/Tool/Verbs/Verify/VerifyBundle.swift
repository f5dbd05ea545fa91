import App
import Base
import Mdoc
import Sessions

enum VerifyBundle {
  static let command = Command(
    "bundle", "verify an encrypted evidence bundle again, offline",
    options: [.evidenceKey, .audit, .heads, .circuits] + VerifyCommand.output,
    operand: Operand(placeholder: "FILE", help: "the reply of /v1/verification_sessions/{id}/evidence"),
    notes: [
      "Everything comes from the bundle, including the time; nothing is fetched. The recomputed report must equal the "
        + "stored one. The report marks bundles of test mode. A zero-knowledge proof needs --circuits; its "
        + "timestamp is checked with the settings that the server had when it kept the bundle.",
      "--audit requires this bundle in a verified log: without it, a holder of the evidence key could have forged the "
        + "bundle. --heads requires heads that you noted at that time: without them, that holder could have forged the "
        + "log too.",
      "Exit status: 0 verified, 1 the bundle cannot be opened or its report differs, 64 usage, 65 a file cannot be "
        + "read.",
    ],
    examples: [
      .init("Verify a bundle with its evidence key", "mdoc verify bundle session.evidence --key evidence.key"),
      .init(
        "Verify that the audit log has the bundle",
        """
        mdoc verify bundle session.evidence --key evidence.key \\
          --audit audit.jsonl --heads heads.jsonl
        """),
      .init(
        "Try the current key and the previous key; print JSON",
        """
        mdoc verify bundle session.evidence --json \\
          --key evidence.key --key evidence-2025.key
        """),
    ], action: run)

  private static func run(_ arguments: Arguments) async throws(Failure) -> ExitStatus {
    var keys: [EvidenceKey] = []
    for path in arguments.values(.evidenceKey) { keys.append(try KeyFile.evidenceKey(path)) }
    let sealed = try FileAccess.readPrefix(arguments.operands[0], purpose: "bundle")
    let bundle: EvidenceBundle
    do throws(EvidenceError) {
      bundle = try EvidenceBundle(opening: sealed, with: keys)
    } catch {
      return try show(EvidenceRendering.json(error), error.detail, of: nil, arguments)
    }
    let heads = try AuditVerify.noted(arguments.value(.heads))
    guard heads.isEmpty || arguments.has(.audit) else { throw .usage("--heads needs --audit FILE") }
    let circuits = try arguments.circuitLibrary()
    var found = await bundle.verify(circuits: circuits)
    var audit = EvidenceRendering.Audit.notConsulted
    if found.fault == nil, arguments.has(.audit) {
      found.fault = try trace(of: bundle, sealed: sealed, in: arguments.values(.audit), noted: heads)
      audit = found.fault != nil ? .without : heads.isEmpty ? .withoutHeads : .withHeads
    }
    let (json, fault) = EvidenceRendering.json(bundle, found, audit: audit)
    return try show(json, fault?.detail, of: bundle.request, arguments)
  }

  private static func trace(
    of bundle: EvidenceBundle, sealed: [UInt8], in logs: [String], noted heads: [AuditHead]
  ) throws(Failure) -> EvidenceError? {
    var trace = EvidenceTrace(of: bundle, sealed: sealed, noted: heads)
    for path in logs {
      try FileAccess.readLines(path, purpose: "audit log") { line, number in
        trace.read(line, at: AuditPosition(file: path, line: number))
      }
      trace.endFile(path)
    }
    return trace.fault()
  }

  private static func show(
    _ json: JSON, _ detail: String?, of request: PresentationRequest?, _ arguments: Arguments
  ) throws(Failure) -> ExitStatus {
    let text = VerdictText(json: json, showsImages: true).report + (detail.map { [.section([.line("\($0)")])] } ?? [])
    let asked = request.map { [VerifyCommand.asked($0)] } ?? []
    try VerifyCommand.publish(
      [.members(of: json)] + text.prefix(1) + asked + text.dropFirst() + origin(json),
      kind: "Report of kept evidence", files: [], arguments)
    return json["last_error"]?.isNull == true ? .done : .rejected
  }

  /// The origin of the evidence, as text; empty if the bundle could not be opened.
  static func origin(_ json: JSON) -> [Report] {
    guard let session = json["session"]?.string else { return [] }
    let audit =
      switch (json["in_audit"]?.bool, json["audit_heads"]?.bool) {
      case (true?, true?): "has this bundle, and agrees with the noted heads"
      case (true?, _): "has this bundle; without --heads the log could be forged too"
      case (false?, _): "does not have this bundle"
      default: "not consulted"
      }
    let rows = [("relying_party", "Relying party"), ("protocol", "Protocol"), ("program", "Kept by version")].map {
      ($1, json[$0]?.string ?? "")
    }
    let warning: Span =
      switch json["mode"]?.string.flatMap(ServerMode.init) {
      case .live: ""
      case .staging: .caution("STAGING: documents of sandboxes verify here.")
      case .test, nil: .caution("TEST MODE: nothing verified here is real.")
      }
    return [
      .section([
        .line(warning), .line("Evidence of session \(session)"), .table(rows + [("Audit log", audit)], width: 240),
      ])
    ]
  }
}

extension Option {
  fileprivate static let evidenceKey = Option(
    "key", "FILE", "the relying party's evidence key; several may be given",
    occurrence: .requiredRepeatable)
  fileprivate static let audit = Option(
    "audit", "FILE", "an export of mdoc audit export, one from each node", occurrence: .repeatable)
}
