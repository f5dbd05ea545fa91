import Base
import PKIX

/// `mdoc trust check`: certificates by the profiles of ISO/IEC 18013-5, Annexes B and C.
enum TrustCheck {
  static let command = Command(
    "check", "check certificates against the profile of their role",
    options: [.role, .at, .strict, .json],
    operand: Operand(
      placeholder: "FILE", help: "certificates: PEM with any number of them, or DER with one", isRepeatable: true),
    notes: [
      "A certificate's issuer is looked for among all that are given, in whatever order. Nothing becomes trusted here: "
        + "mdoc verify says what chains to an anchor.",
      "Exit status: 0 no check failed, 1 one did (with --strict also where one warned), 64 usage, 65 a file has no "
        + "certificate or cannot be read.",
    ],
    examples: [
      .init("An authority's certificate before it is trusted", "mdoc trust check iaca.pem"),
      .init("A signer and its authority, at a time", "mdoc trust check signer.pem iaca.pem --at 2026-11-20"),
      .init(
        "A reader's certificate, every deviation counted", "mdoc trust check r.der --as reader-authentication --strict"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    var found: [FoundCertificate] = []
    for path in arguments.operands { found += try FoundCertificate.inFile(path) }
    let role = arguments.value(.role).flatMap(CertificateRole.init)
    let findings = CertificateFindings.of(found, as: role, at: now)
    let isAccepted = findings.allSatisfy { $0.isAccepted(strictly: arguments.has(.strict)) }
    if arguments.has(.json) {
      console.print([
        "accepted": .bool(isAccepted), "strict": .bool(arguments.has(.strict)),
        "at": .integer(now.secondsSince1970),
        "certificates": .array(findings.map { $0.json(strictly: arguments.has(.strict)) }),
      ])
    } else {
      let text = FindingsText(width: console.width, style: Style(isColored: console.isColored))
      console.print((findings.map(text.block) + [text.summary(findings, isAccepted)]).joined(separator: "\n\n"))
    }
    return isAccepted ? .done : .rejected
  }
}

extension Option {
  fileprivate static let role = Option(
    "as", "ROLE",
    "the role of the certificates that issued none of the others (default: guessed, as for all others)",
    choices: CertificateRole.allCases.map(\.rawValue))
}
