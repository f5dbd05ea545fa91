import Base
import Mdoc
import Sessions

/// `mdoc verify bundle`: verifies evidence that a server kept, again and under the rules of that time.
enum VerifyBundle {
  static let command = Command(
    "bundle", "verify a sealed bundle of evidence again, offline",
    options: [.evidenceKey, .audit, .heads, .circuits, .json],
    operand: Operand(placeholder: "FILE", help: "what /v1/verification_sessions/{id}/evidence gave"),
    notes: [
      "The answer, its challenge, the request, the trust anchors, the lists about revocation and the time are those of the "
        + "bundle; nothing is fetched. The report is made anew and must be the one that was given. A bundle of test mode "
        + "says so. A zero-knowledge proof needs --circuits, and its time is judged as the server was set up then. "
        + "With --audit the log must verify and have this very bundle: without it, whoever has the evidence key "
        + "could have made it. With --heads the log must agree with heads that you noted at its time: without them "
        + "whoever has the key could have made such a log, too.",
      "Exit status: 0 verified, 1 the bundle cannot be opened or does not come to its report, 64 usage, 65 one of your "
        + "files cannot be read.",
    ],
    examples: [
      .init("A bundle, by the relying party's evidence key", "mdoc verify bundle session.evidence --key evidence.key"),
      .init(
        "One that the audit log has",
        """
        mdoc verify bundle session.evidence --key evidence.key \\
          --audit audit.jsonl --heads heads.jsonl
        """),
      .init(
        "By the key of now or the one before, for a program to read",
        """
        mdoc verify bundle session.evidence --json \\
          --key evidence.key --key evidence-2025.key
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    var keys: [EvidenceKey] = []
    for path in arguments.values(.evidenceKey) { keys.append(try KeyFile.evidenceKey(path)) }
    let sealed = try FileAccess.readPrefix(arguments.operands[0], purpose: "bundle")
    let bundle: EvidenceBundle
    do throws(EvidenceFault) {
      bundle = try EvidenceBundle(opening: sealed, with: keys)
    } catch {
      return show(EvidenceRendering.json(error), error.detail, arguments, console)
    }
    let heads = try AuditVerify.noted(arguments.value(.heads))
    guard heads.isEmpty || arguments.has(.audit) else { throw .usage("--heads goes with --audit FILE") }
    let circuits = try CircuitFiles.library(arguments.value(.circuits))
    var found = await bundle.verify(circuits: circuits)
    var audit = EvidenceRendering.Audit.notConsulted
    if found.fault == nil, arguments.has(.audit) {
      found.fault = try trace(of: bundle, sealed: sealed, in: arguments.values(.audit), noted: heads)
      audit = found.fault != nil ? .without : heads.isEmpty ? .alone : .withHeads
    }
    let (json, fault) = EvidenceRendering.json(bundle, found, audit: audit)
    return show(json, fault?.detail, arguments, console)
  }

  private static func trace(
    of bundle: EvidenceBundle, sealed: [UInt8], in logs: [String], noted heads: [AuditHead]
  ) throws(Failure) -> EvidenceFault? {
    var trace = EvidenceTrace(of: bundle, sealed: sealed, noted: heads)
    for path in logs {
      try LineFile.read(path, purpose: "audit log") { line, number in
        trace.read(line, at: AuditPlace(file: path, line: number))
      }
      trace.endFile(path)
    }
    return trace.fault()
  }

  private static func show(
    _ json: JSON, _ detail: String?, _ arguments: ParsedArguments, _ console: Console
  ) -> ExitStatus {
    if arguments.has(.json) {
      console.print(json)
    } else {
      let style = Style(isColored: console.isColored)
      let verdict = VerdictText(json: json, width: console.width, style: style).text
      let blocks = [verdict, detail.map(Printable.line), origin(json, style)].compactMap { $0 }
      console.print(blocks.joined(separator: "\n\n"))
    }
    return json["last_error"]?.isNull == true ? .done : .rejected
  }

  /// The origin of the evidence; nil if the bundle could not be opened.
  static func origin(_ json: JSON, _ style: Style) -> String? {
    guard let session = json["session"]?.string else { return nil }
    let names = [("relying_party", "Relying party"), ("protocol", "Protocol"), ("program", "Kept by version")]
    let audit =
      switch (json["in_audit"]?.bool, json["audit_heads"]?.bool) {
      case (true?, true?): "has this bundle, and agrees with the noted heads"
      case (true?, _): "has this bundle; without --heads such a log could be made as well"
      case (false?, _): "does not have it"
      default: "not consulted"
      }
    let rows = names.map { name, label in (label, Printable.line(json[name]?.string ?? "")) } + [("Audit log", audit)]
    let warning: String? =
      switch json["mode"]?.string.flatMap(ServerMode.init) {
      case .live: nil
      case .staging: "STAGING: documents of sandboxes verify here."
      case .test, nil: "TEST MODE: nothing verified here is real."
      }
    return (warning.map { style($0, .bold, .yellow) + "\n" } ?? "") + "Evidence of session \(session)\n"
      + Wrapping.columns(rows, indent: 2, width: 240)
  }
}

extension Option {
  fileprivate static let evidenceKey = Option(
    "key", "FILE", "the relying party's evidence key; of several the bundle names its own",
    occurrence: .requiredRepeatable)
  fileprivate static let audit = Option(
    "audit", "FILE", "an export of mdoc audit export: of several nodes, one each", occurrence: .repeatable)
}
