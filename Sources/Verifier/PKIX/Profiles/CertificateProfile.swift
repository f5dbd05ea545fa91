import Base

/// Checks a single certificate by the profile of its role: `mdoc trust check` shows the result.
///
/// No anchor is asked, so nothing here makes a certificate trusted.
public enum CertificateProfile {
  /// Every rule of the role, once. A fault that makes the certificate useless for the role fails; a mere deviation
  /// warns.
  ///
  /// - Parameter issuer: the issuer's certificate, if it is known; a root is its own issuer.
  public static func check(
    _ certificate: Certificate, as role: CertificateRole, issuer: Certificate? = nil, at now: Timestamp
  ) -> [Check] {
    let subject = ProfiledCertificate(certificate, as: role, issuer: issuer)
    var checks = CheckList(expecting: 32)
    checkIssuer(of: subject, &checks)
    checks.require(
      certificate.hasSupportedSignatureAlgorithm && certificate.publicKey != nil, .certificateAlgorithmUnsupported,
      certificate.publicKey == nil ? certificate.keyFault : certificate.signatureFault)
    checks.require(certificate.validity.contains(now), .certificateExpired, certificate.periodFault(at: now))
    checkUse(of: subject, &checks)
    for rule in ProfileRule.all {
      guard let deviations = rule.deviations(subject) else {
        checks.notRun(rule.code)
        continue
      }
      checks.expect(deviations.isEmpty, rule.code, deviations.joined(separator: "; "))
    }
    return checks.checks
  }

  /// The issuer of this certificate among several others: the one that signed it or, failing that, one that fits by
  /// name or by key identifier, so that the check can say what is wrong. Nil for a root, too, which needs no other
  /// certificate.
  public static func issuer(of certificate: Certificate, among others: [Certificate]) -> Certificate? {
    let candidates = others.filter { $0.der != certificate.der }
    let named = candidates.filter { certificate.issuer.der == $0.subject.der }
    if let signer = named.first(where: { certificate.isSigned(by: $0) }) { return signer }
    if certificate.isSelfSigned { return nil }
    let identifier = certificate.extensions.authorityKeyIdentifier
    return named.first ?? candidates.first { identifier != nil && identifier == $0.extensions.subjectKeyIdentifier }
  }

  private static func checkIssuer(of subject: ProfiledCertificate, _ checks: inout CheckList) {
    let certificate = subject.certificate
    guard let issuer = subject.issuer else {
      let detail = "the issuer's certificate is not here"
      checks.notRun(.nameChaining, detail)
      checks.notRun(.certificateSignatureInvalid, detail)
      checks.notRun(.certificateJurisdictionMismatch, detail)
      return
    }
    let path = CertificationPath([certificate, issuer])
    checks.require(certificate.chainsByName(to: issuer), .nameChaining, path.linkFaults(\.nameFault))
    if certificate.isVerifiable(by: issuer) {
      checks.require(
        certificate.isSigned(by: issuer), .certificateSignatureInvalid,
        "\(certificate.label) is not signed with the key of \(issuer.label)")
    } else {
      checks.notRun(.certificateSignatureInvalid)
    }
    checks.require(
      certificate.isInJurisdiction(of: issuer), .certificateJurisdictionMismatch,
      certificate.jurisdictionFault(under: issuer))
  }

  private static func checkUse(of subject: ProfiledCertificate, _ checks: inout CheckList) {
    let extensions = subject.extensions
    let role = subject.role
    checks.require(
      extensions.isCA == role.isAuthority, .certificateIsCA,
      extensions.isCA ? "has the CA flag" : "is without the CA flag")
    checks.require(
      role.permits(extensions.keyUsage), .certificateKeyUsage,
      extensions.keyUsage.map { "has \($0.names.joined(separator: ", "))" } ?? "no keyUsage")
    checks.require(
      role.permits(extendedKeyUsages: extensions.extendedKeyUsage), .certificateExtendedKeyUsage,
      extensions.extendedKeyUsage.map { "has \($0.joined(separator: ", "))" } ?? "no extKeyUsage")
    let unknown = subject.certificate.unknownCriticalExtensions
    checks.require(
      unknown.isEmpty, .certificateCriticalExtension,
      unknown.sorted().map(CertificateExtensions.OID.name).joined(separator: ", "))
  }
}

/// One rule of the profiles of ISO/IEC 18013-5, Annexes B and C, that is not about security: a deviation warns, and
/// rejects in strict mode.
///
/// Rules that trust depends on are checked where trust is given (`PathValidator`, `SignerPath`) and, for a single
/// certificate, in `CertificateProfile`.
struct ProfileRule: Sendable {
  let code: Code
  /// The deviations as text for people; nil if the rule does not apply.
  let deviations: @Sendable (ProfiledCertificate) -> [String]?

  init(_ code: Code, _ deviations: @escaping @Sendable (ProfiledCertificate) -> [String]?) {
    self.code = code
    self.deviations = deviations
  }

  /// The deviations, each with the label of the certificate before it.
  func labelledDeviations(_ subject: ProfiledCertificate) -> [String]? {
    deviations(subject).map { found in found.map { "\(subject.certificate.label): \($0)" } }
  }

  /// All rules, in the order in which they are reported.
  static let all: [ProfileRule] = [
    ProfileRule(.profileCriticality, criticality),
    ProfileRule(.profileLifetime, lifetime),
    ProfileRule(.profileCountryMissing, country),
    ProfileRule(.profileKeyIdentifiers, keyIdentifiers),
    ProfileRule(.profileSerialNumber, serialNumber),
    ProfileRule(.profileIssuerAltName, issuerAltName),
    ProfileRule(.profileRevocationSource, revocationSource),
    ProfileRule(.profileForbiddenExtension, forbiddenExtensions),
    ProfileRule(.profileVersion) { $0.facts.isVersion3 ? [] : ["of an older version than 3"] },
    ProfileRule(.profileName, name),
    ProfileRule(.profilePublicKey, publicKey),
    ProfileRule(.profileSignatureAlgorithm, signatureAlgorithm),
    ProfileRule(.profileKeyIdentifierValue, keyIdentifierValue),
    ProfileRule(.profilePathLength, pathLength),
    ProfileRule(.profileKeyUsage, keyUsage),
    ProfileRule(.profileExtendedKeyUsage, extendedKeyUsage),
    ProfileRule(.profileSubjectAltName, subjectAltName),
  ]
  /// The rules for a document signer and its anchor on a path.
  static let onPaths = all.filter { !notOnPaths.contains($0.code) }

  /// Rules that do not apply on paths. The anchor's settings decide on the length of a path, whatever its certificate
  /// says. A path that leads to the new root has no link certificate on it.
  static let notOnPaths: Set<Code> = [.profilePathLength, .profileSubjectAltName]
}
