import Base
import PKIX

/// What was found about one certificate.
struct CertificateFindings: Sendable {
  let found: FoundCertificate
  /// Nil for a certificate that cannot be read.
  let role: CertificateRole?
  /// By what the role was guessed; nil where it was given.
  let guessedBy: String?
  /// The issuer's name, where its certificate is at hand.
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
