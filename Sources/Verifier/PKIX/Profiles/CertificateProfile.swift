import Base

/// Checks a single certificate by the profile of its role, for `mdoc trust check`. It makes nothing trusted.
public enum CertificateProfile {
  /// Checks every rule of the role. A fault that makes the certificate useless for the role is a failure. A deviation
  /// is a warning.
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
      if let deviations = rule.deviations(subject) {
        checks.expect(deviations.isEmpty, rule.code, deviations.joined(separator: "; "))
      } else {
        checks.notRun(rule.code)
      }
    }
    return checks.checks
  }

  /// The issuer among other certificates: the certificate that signed this one, otherwise a certificate that matches by
  /// name or key identifier.
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
      for code in [Code.nameChaining, .certificateSignatureInvalid, .certificateJurisdictionMismatch] {
        checks.notRun(code, "the issuer's certificate is unknown")
      }
      return
    }
    let path = CertificationPath([certificate, issuer])
    checks.require(.nameChaining, without: path.linkFaults(\.nameFault))
    if certificate.isVerifiable(by: issuer) {
      checks.require(
        certificate.isSigned(by: issuer), .certificateSignatureInvalid,
        "\(certificate.label) is not signed with the key of \(issuer.label)")
    } else {
      checks.notRun(.certificateSignatureInvalid)
    }
    checks.require(.certificateJurisdictionMismatch, without: certificate.jurisdictionFaults(under: issuer))
  }

  private static func checkUse(of subject: ProfiledCertificate, _ checks: inout CheckList) {
    let extensions = subject.extensions
    let role = subject.role
    checks.require(
      extensions.isCA == role.isAuthority, .certificateIsCA,
      extensions.isCA ? "has the CA flag" : "has no CA flag")
    checks.require(
      role.permits(extensions.keyUsage), .certificateKeyUsage,
      extensions.keyUsage.map { "has \($0.names.joined(separator: ", "))" } ?? "no keyUsage")
    checks.require(
      role.permits(extendedKeyUsages: extensions.extendedKeyUsage), .certificateExtendedKeyUsage,
      extensions.extendedKeyUsage.map { "has \($0.joined(separator: ", "))" } ?? "no extKeyUsage")
    let unknown = subject.certificate.unknownCriticalExtensions
    checks.require(
      .certificateCriticalExtension,
      without: unknown.sorted().map(CertificateExtensions.OID.name).joined(separator: ", "))
  }
}

/// One rule of the profiles of ISO/IEC 18013-5, Annexes B and C. Trust does not depend on the rule. A deviation is a
/// warning, and rejects only in strict mode.
struct ProfileRule: Sendable {
  let code: Code
  /// The deviations as human-readable text; nil if the rule does not apply.
  let deviations: @Sendable (ProfiledCertificate) -> [String]?

  init(_ code: Code, _ deviations: @escaping @Sendable (ProfiledCertificate) -> [String]?) {
    self.code = code
    self.deviations = deviations
  }

  /// The deviations, each prefixed with the certificate's label.
  func labelledDeviations(_ subject: ProfiledCertificate) -> [String]? {
    deviations(subject).map { found in found.map { "\(subject.certificate.label): \($0)" } }
  }

  static let onPaths = all.filter { !notOnPaths.contains($0.code) }

  /// Rules that do not apply on paths. The anchor's settings limit a path's length, and a path has no link
  /// certificates.
  static let notOnPaths: Set<Code> = [.profilePathLength, .profileSubjectAltName]
}

extension Code {
  public static let profileCriticality = Code(
    "trust.profile.criticality", "An extension must be critical by the profile and is not, or the reverse",
    "\(iso), B.1.4", .issuer, passes: "The extensions are critical as the profile prescribes", warns: true)
  public static let profileLifetime = Code(
    "trust.profile.lifetime", "A certificate is valid for longer than the profile allows", "\(iso), B.1", .issuer,
    passes: "The certificates are valid for no longer than the profile allows", warns: true)
  public static let profileCountryMissing = Code(
    "trust.profile.country_missing", "A certificate's subject lacks `countryName`, which the profile requires",
    "\(iso), B.1", .issuer, passes: "The names have a country", warns: true)
  public static let profileKeyIdentifiers = Code(
    "trust.profile.key_identifiers", "A certificate lacks its subject or authority key identifier", "\(iso), B.1",
    .issuer, passes: "The key identifiers are present", warns: true)
  public static let profileSerialNumber = Code(
    "trust.profile.serial_number", "A certificate's serial number is negative, zero, too short or too long",
    "\(iso), B.1; RFC 5280, 4.1.2.2", .issuer, passes: "The serial numbers are as the profile prescribes", warns: true)
  public static let profileIssuerAltName = Code(
    "trust.profile.issuer_alt_name",
    "A certificate lacks the issuer alternative name, or has one without an e-mail address or URI", "\(iso), B.1",
    .issuer, passes: "The issuer's alternative name is present", warns: true)
  public static let profileRevocationSource = Code(
    "trust.profile.revocation_source",
    "A certificate has no usable CRL distribution point, or one that is not a URI", "\(iso), B.1.4", .issuer,
    passes: "The certificate has its revocation list's address", warns: true)
  public static let profileForbiddenExtension = Code(
    "trust.profile.forbidden_extension", "A certificate has an extension that the profile forbids", "\(iso), B.1",
    .issuer, passes: "The certificates have no forbidden extension", warns: true)
  public static let profileVersion = Code(
    "trust.profile.version", "A certificate is not of version 3", "\(iso), B.1", .issuer,
    passes: "The certificates are of version 3", warns: true)
  public static let profileName = Code(
    "trust.profile.name",
    "A certificate's name has a missing, duplicate or malformed attribute",
    "\(iso), B.1", .issuer, passes: "The names are as the profile prescribes", warns: true)
  public static let profilePublicKey = Code(
    "trust.profile.public_key",
    "A certificate's key is compressed, or on a curve that the profile does not allow for its role", "\(iso), B.1",
    .issuer, passes: "The public keys are as the profile prescribes", warns: true)
  public static let profileSignatureAlgorithm = Code(
    "trust.profile.signature_algorithm",
    "A certificate's signature algorithm does not match its issuer's key", "\(iso), B.1",
    .issuer, passes: "The signature algorithms are as the profile prescribes", warns: true)
  public static let profileKeyIdentifierValue = Code(
    "trust.profile.key_identifier_value", "A certificate's subject key identifier is not the SHA-1 of its key",
    "\(iso), B.1; RFC 5280, 4.2.1.2 (1)", .issuer, passes: "The key identifiers fit their keys", warns: true)
  public static let profilePathLength = Code(
    "trust.profile.path_length", "An authority's path length is not zero", "\(iso), B.1.2", .issuer,
    passes: "The path length is as the profile prescribes", warns: true)
  public static let profileKeyUsage = Code(
    "trust.profile.key_usage", "A certificate's key usages are not exactly the profile's", "\(iso), B.1", .issuer,
    passes: "The key usages are as the profile prescribes", warns: true)
  public static let profileExtendedKeyUsage = Code(
    "trust.profile.extended_key_usage", "A certificate has extended key usages beside those of its role", "\(iso), B.1",
    .issuer, passes: "The extended key usages are as the profile prescribes", warns: true)
  public static let profileSubjectAltName = Code(
    "trust.profile.subject_alt_name",
    "A link certificate changes the authority's name, but lacks the new name as subject alternative name",
    "\(iso), B.1.3",
    .issuer, passes: "The subject's alternative name is as the profile prescribes", warns: true)
}
