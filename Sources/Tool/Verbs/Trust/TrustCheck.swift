import Base
import PKIX

/// `mdoc trust check`: checks certificates against the profiles of ISO/IEC 18013-5, Annexes B and C.
enum TrustCheck {
  static let command = Command(
    "check", "check certificates against the profile of their role", options: [.role, .at, .strict, .json],
    operand: Operand(
      placeholder: "FILE",
      help: "certificates: a PEM file with any number of certificates, or a DER file with one", isRepeatable: true),
    notes: [
      "List the certificates in any order. This command adds no trust anchor. To see the anchor of a signer, use mdoc "
        + "trust explain.",
      "Exit status: 0 every check passed, 1 a check failed (with --strict: or warned), 64 usage, 65 a file has no "
        + "certificate or cannot be read.",
    ],
    examples: [
      .init("Check an authority before you trust it", "mdoc trust check iaca.pem"),
      .init("Check a signer and its authority at a time", "mdoc trust check signer.pem iaca.pem --at 2026-11-20"),
      .init(
        "Check a reader's certificate strictly", "mdoc trust check r.der --as reader-authentication --strict"),
    ], action: run)

  private static func run(_ arguments: Arguments) throws(Failure) -> ExitStatus {
    let now = try arguments.time(.at)
    let isStrict = arguments.has(.strict)
    var found: [FoundCertificate] = []
    for path in arguments.operands { found += try FoundCertificate.inFile(path) }
    let role = arguments.value(.role).flatMap(CertificateRole.init)
    let findings = CertificateFindings.of(found, as: role, at: now)
    let isAccepted = findings.allSatisfy { $0.isAccepted(strictly: isStrict) }
    let report: [Report] = [
      .members(["accepted": isAccepted, "strict": isStrict, "at": now]),
      .list("certificates", findings.map { [$0.members(strictly: isStrict)] + $0.text }),
      .note(
        isAccepted ? .good("ACCEPTED") : .bad("REJECTED"),
        "  \(counted(findings.count, "certificate")). The checks do not say whom to trust."),
    ]
    arguments.print(report)
    return isAccepted ? .done : .rejected
  }
}

extension Option {
  fileprivate static let role = Option(
    "as", "ROLE",
    "the role of the certificates at the end of the chains (default: guessed; all other roles are always guessed)",
    choices: CertificateRole.allCases.map(\.rawValue))
}

/// The findings about one certificate.
struct CertificateFindings: Sendable {
  let found: FoundCertificate
  /// The certificate's role; nil if the certificate is malformed.
  let role: CertificateRole?
  /// The reason for guessing this role; nil if the role was given.
  let guessedBy: String?
  /// The issuer's certificate if it is among the given certificates; otherwise nil.
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

  var notable: [Check] { checks.filter(\.isNotable) }
  var name: String { found.certificate?.subject.text ?? "(unreadable)" }
  var guess: String { guessedBy.map { ", guessed: \($0)" } ?? "" }

  func isAccepted(strictly: Bool) -> Bool {
    !checks.contains { $0.outcome == .failed || strictly && $0.outcome == .warning }
  }

  func members(strictly: Bool) -> Report {
    let certificate = found.certificate
    return .members([
      "source": found.source, "subject": certificate?.subject.text, "sha256": certificate?.fingerprint,
      "published_key": certificate.flatMap(PublishedKeys.origin), "role": role?.rawValue, "guessed_by": guessedBy,
      "issuer": issuer?.subject.text, "accepted": isAccepted(strictly: strictly),
      "checks": checks.map {
        JSON.of([
          "code": $0.code.rawValue, "outcome": $0.outcome.rawValue, "clause": $0.clause, "detail": $0.detail,
          "summary": $0.code.entry.summary, "remedy": $0.code.entry.remedy,
        ])
      },
    ])
  }

  var text: [Report] {
    var lines: [Report] = [.line(.bold(name)), .row("Source", found.source)]
    if let certificate = found.certificate, let role {
      lines += [
        .row("SHA-256", certificate.fingerprint), .row("Role", "\(role.rawValue) (\(role.clause))\(guess)"),
        .row(
          "Issuer",
          issuer?.subject.text
            ?? (certificate.isSelfSigned ? "itself" : "\(certificate.issuer.text), whose certificate was not given")),
        .row("Valid", certificate.validityText()),
        .row("For tests", certificate.testOrigin.map { "live mode never trusts it: \($0)" }),
      ]
    }
    for check in notable {
      lines.append(.line("  ", check.outcome.label, "  \(check.code.rawValue)  ", .faint(check.clause)))
      lines += [check.code.entry.summary, check.detail].compactMap { $0 }.map {
        .paragraph("\($0)", lead: Wrapping.spaces(11))
      }
    }
    return lines + Report.remedies(of: notable) + [.line("  \(Report.counts(of: checks))")]
  }
}
