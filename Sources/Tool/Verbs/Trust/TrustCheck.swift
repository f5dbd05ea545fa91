import Base
import PKIX

/// `mdoc trust check`: checks certificates against the profiles of ISO/IEC 18013-5, Annexes B and C.
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

/// The findings about one certificate.
struct CertificateFindings: Sendable {
  let found: FoundCertificate
  /// The certificate's role; nil if it cannot be read.
  let role: CertificateRole?
  /// Why this role was guessed; nil if the role was given.
  let guessedBy: String?
  /// The issuer's certificate if it is among the given ones; otherwise nil.
  let issuer: Certificate?
  let checks: [Check]

  static func of(_ found: [FoundCertificate], as role: CertificateRole?, at now: Timestamp) -> [CertificateFindings] {
    let all = found.compactMap(\.certificate)
    let issuers = all.compactMap { CertificateProfile.issuer(of: $0, among: all)?.sha256 }
    return found.map { found in
      guard let certificate = found.certificate else {
        return CertificateFindings(
          found: found, role: nil, guessedBy: nil, issuer: nil, checks: [Check(.certificateMalformed, .failed)])
      }
      let guess = CertificateRole.guess(certificate)
      let given = issuers.contains(certificate.sha256) ? nil : role
      let issuer = CertificateProfile.issuer(of: certificate, among: all)
      return CertificateFindings(
        found: found, role: given ?? guess.role, guessedBy: given == nil ? guess.reason : nil, issuer: issuer,
        checks: CertificateProfile.check(certificate, as: given ?? guess.role, issuer: issuer, at: now))
    }
  }

  func isAccepted(strictly: Bool) -> Bool {
    !checks.contains { $0.outcome == .failed || strictly && $0.outcome == .warning }
  }

  func json(strictly: Bool) -> JSON {
    [
      "source": .string(found.source), "subject": found.certificate.map { .string($0.subject.text) } ?? .null,
      "sha256": found.certificate.map { .string($0.fingerprint) } ?? .null,
      "published_key": found.certificate.flatMap(PublishedKeys.place).map { .string($0) } ?? .null,
      "role": role.map { .string($0.rawValue) } ?? .null, "guessed_by": guessedBy.map { .string($0) } ?? .null,
      "issuer": issuer.map { .string($0.subject.text) } ?? .null, "accepted": .bool(isAccepted(strictly: strictly)),
      "checks": .array(
        checks.map { check in
          [
            "code": .string(check.code.rawValue), "outcome": .string(check.outcome.rawValue),
            "clause": .string(check.clause), "detail": check.detail.map { .string($0) } ?? .null,
            "summary": .string(check.code.entry.summary), "remedy": .string(check.code.entry.remedy),
          ]
        }),
    ]
  }
}

/// Findings about certificates as text for people: each finding, its clause, and what to do about it.
struct FindingsText: Sendable {
  let width: Int
  let style: Style

  func block(_ findings: CertificateFindings) -> String {
    let name = findings.found.certificate?.subject.text ?? "(unreadable)"
    let rows = head(findings).map { ($0.0, Printable.line($0.1)) }
    let notable = findings.checks.filter { $0.outcome == .failed || $0.outcome == .warning }
    let counts = [(Check.Outcome.passed, "passed"), (.failed, "failed"), (.warning, "warned"), (.notRun, "not run")]
      .map { outcome, word in "\(findings.checks.count { $0.outcome == outcome }) \(word)" }
    var remedies: [String] = []
    for remedy in notable.map(\.code.entry.remedy) where !remedies.contains(remedy) { remedies.append(remedy) }
    let lines = [style(Printable.line(name), .bold), Wrapping.columns(rows, width: width)] + notable.map(finding)
    return
      (lines + remedies.map { "  What to do: " + Wrapping.wrap($0, indent: 4, width: width) }
      + ["  " + counts.joined(separator: ", ")]).joined(separator: "\n")
  }

  func summary(_ findings: [CertificateFindings], _ isAccepted: Bool) -> String {
    let verdict = isAccepted ? style("ACCEPTED", .bold, .green) : style("REJECTED", .bold, .red)
    let count = findings.count == 1 ? "1 certificate" : "\(findings.count) certificates"
    return "\(verdict)  \(count). This says nothing about whom to trust."
  }

  private func head(_ findings: CertificateFindings) -> [(String, String)] {
    guard let certificate = findings.found.certificate, let role = findings.role else {
      return [("Source", findings.found.source)]
    }
    let validity = certificate.validity
    let issuer =
      findings.issuer.map { $0.subject.text }
      ?? (certificate.isSelfSigned ? "itself" : "\(certificate.issuer.text), whose certificate is not here")
    return [
      ("Source", findings.found.source),
      ("SHA-256", certificate.fingerprint),
      ("Role", "\(role.rawValue) (\(role.clause))" + (findings.guessedBy.map { ", guessed: \($0)" } ?? "")),
      ("Issuer", issuer),
      ("Valid", "\(validity.lowerBound) to \(validity.upperBound)"),
    ] + (certificate.testOrigin.map { [("For tests", "live mode never trusts it: \($0)")] } ?? [])
  }

  private func finding(_ check: Check) -> String {
    let label = check.outcome == .failed ? style("FAILED ", .bold, .red) : style("warning", .yellow)
    let lines = [check.code.entry.summary] + (check.detail.map { [Printable.line($0)] } ?? [])
    return "  \(label)  \(check.code.rawValue)  " + style(check.clause, .faint) + "\n"
      + lines.map { "           " + Wrapping.wrap($0, indent: 11, width: width) }.joined(separator: "\n")
  }
}
