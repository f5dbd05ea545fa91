import Base
import PKIX

/// Findings about certificates for people: what was found, by which clause, and what to do about it.
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
    let isMock = certificate.isMock || PublishedTestRoots.contains(certificate)
    return [
      ("Source", findings.found.source),
      ("SHA-256", certificate.fingerprint),
      ("Role", "\(role.rawValue) (\(role.clause))" + (findings.guessedBy.map { ", guessed: \($0)" } ?? "")),
      ("Issuer", issuer),
      ("Valid", "\(validity.lowerBound) to \(validity.upperBound)"),
    ] + (isMock ? [("For tests", "live mode never trusts it")] : [])
  }

  private func finding(_ check: Check) -> String {
    let label = check.outcome == .failed ? style("FAILED ", .bold, .red) : style("warning", .yellow)
    let lines = [check.code.entry.summary] + (check.detail.map { [Printable.line($0)] } ?? [])
    return "  \(label)  \(check.code.rawValue)  " + style(check.clause, .faint) + "\n"
      + lines.map { "           " + Wrapping.wrap($0, indent: 11, width: width) }.joined(separator: "\n")
  }
}
