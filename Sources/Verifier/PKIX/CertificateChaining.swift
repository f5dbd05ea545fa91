import Base

// What every certification path is made of: the path of a document signer, and that of a list's signer.

extension Certificate {
  /// Whether each certificate is signed by the next one, and names it as its issuer.
  public static func isChain(_ certificates: [Certificate]) -> Bool {
    zip(certificates, certificates.dropFirst()).allSatisfy { $0.chainsByName(to: $1) && $0.isSigned(by: $1) }
  }

  /// Whether this one's issuer is the other by name, and by key identifier where both state one.
  func chainsByName(to issuer: Certificate) -> Bool {
    self.issuer.der == issuer.subject.der && chainsByKeyIdentifier(to: issuer)
  }

  func chainsByKeyIdentifier(to issuer: Certificate) -> Bool {
    guard let authority = extensions.authorityKeyIdentifier, let subject = issuer.extensions.subjectKeyIdentifier
    else { return true }
    return authority == subject
  }

  /// Whether the algorithms allow this one's signature to be checked with the other's key.
  func isVerifiable(by issuer: Certificate) -> Bool {
    hasSupportedSignatureAlgorithm && issuer.publicKey != nil
  }

  /// Whether country and state are the other's where both certificates name them (ISO/IEC 18013-5, 9.3.3); an absent one
  /// is a finding of the profile.
  func isInJurisdiction(of issuer: Certificate) -> Bool {
    func agree(_ left: String?, _ right: String?) -> Bool {
      guard let left, let right else { return true }
      return left.hasSameBytes(as: right)
    }
    return agree(subject.country, issuer.subject.country)
      && agree(subject.stateOrProvince, issuer.subject.stateOrProvince)
  }

  /// Whole days of validity, rounded up.
  var validityDays: Int64 {
    let seconds = validity.upperBound.secondsSince1970 - validity.lowerBound.secondsSince1970
    return (seconds + 86_399) / 86_400
  }

  /// The critical extensions that are not processed here.
  var unknownCriticalExtensions: Set<String> { extensions.critical.subtracting(CertificateExtensions.processed) }

  /// The constraints on what is below it that are not processed here. In an intermediate they refuse the path whether
  /// they are critical or not: nobody else would see that they are kept to.
  var unprocessedConstraints: Set<String> { extensions.oids.intersection(CertificateExtensions.constraints) }

  /// Whether an authority with this certificate may certify signers for one of the purposes. A certificate that names
  /// purposes restricts those below it to them.
  func mayCertify(forPurposes purposes: Set<String>) -> Bool {
    guard let own = extensions.extendedKeyUsage else { return true }
    return own.contains(CertificateExtensions.OID.anyExtendedKeyUsage) || !purposes.isDisjoint(with: own)
  }

  /// How findings name it: by its bytes, never by a person's or an authority's words.
  var label: String { "certificate \(Hex.encode(sha256.prefix(8)))" }
}
