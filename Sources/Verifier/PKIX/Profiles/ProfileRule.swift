import Base

/// One rule of the profiles of ISO/IEC 18013-5, Annexes B and C, that is not about security: a deviation warns, and
/// rejects in strict mode.
///
/// What must hold for trust is checked where trust is given (`PathValidator`, `SignerPath`) and, for a certificate by
/// itself, in `CertificateProfile`.
struct ProfileRule: Sendable {
  let code: Code
  /// What deviates, in words for people; nil: the rule has nothing to look at.
  let deviations: @Sendable (ProfiledCertificate) -> [String]?

  init(_ code: Code, _ deviations: @escaping @Sendable (ProfiledCertificate) -> [String]?) {
    self.code = code
    self.deviations = deviations
  }

  /// With the certificate before each.
  func labelledDeviations(_ subject: ProfiledCertificate) -> [String]? {
    deviations(subject).map { found in found.map { "\(subject.certificate.label): \($0)" } }
  }

  /// In the order in which they are reported.
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
  /// Those that are asked of a document signer and its anchor on a path.
  static let onPaths = all.filter { !notOnPaths.contains($0.code) }

  /// The length of a path is the anchor's settings' word, whatever its certificate says; and no link certificate is on
  /// one that leads to the new root.
  static let notOnPaths: Set<Code> = [.profilePathLength, .profileSubjectAltName]
}
