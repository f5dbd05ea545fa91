// The rules on extensions (ISO/IEC 18013-5, B.1).

private typealias OID = CertificateExtensions.OID

extension ProfileRule {
  @Sendable static func criticality(_ subject: ProfiledCertificate) -> [String]? {
    let present = subject.extensions.oids
    let critical = subject.extensions.critical
    let neverCritical = [
      OID.subjectKeyIdentifier, OID.authorityKeyIdentifier, OID.issuerAltName, OID.crlDistributionPoints,
    ]
    return subject.role.criticalExtensions.filter { present.contains($0) && !critical.contains($0) }
      .map { "\(OID.name($0)) is not critical" }
      + neverCritical.filter(critical.contains).map { "\(OID.name($0)) is critical" }
  }

  @Sendable static func keyIdentifiers(_ subject: ProfiledCertificate) -> [String]? {
    var missing: [String] = []
    if subject.extensions.subjectKeyIdentifier == nil { missing.append("no subjectKeyIdentifier") }
    // A root is its own authority.
    if subject.role != .iaca, subject.extensions.authorityKeyIdentifier == nil {
      missing.append("no authorityKeyIdentifier")
    }
    return missing
  }

  @Sendable static func issuerAltName(_ subject: ProfiledCertificate) -> [String]? {
    guard subject.extensions.oids.contains(OID.issuerAltName) else {
      return subject.role.requiresIssuerAltName ? ["no issuerAltName"] : nil
    }
    guard let names = subject.facts.issuerAltName else { return ["issuerAltName is malformed"] }
    let isContact = names.contains { name in
      switch name {
      case .uri(let uri): !uri.isEmpty
      case .rfc822Name: true
      default: false
      }
    }
    return isContact ? [] : ["issuerAltName has neither rfc822Name nor URI"]
  }

  @Sendable static func revocationSource(_ subject: ProfiledCertificate) -> [String]? {
    guard let points = subject.extensions.crlDistributionPoints else {
      // A responder's certificate may say instead that nobody need check it (RFC 6960, 4.2.2.2.1).
      let isExcused = subject.role == .ocspResponder && subject.extensions.oids.contains(OID.ocspNoCheck)
      return subject.role.requiresRevocationSource && !isExcused ? ["no cRLDistributionPoints"] : nil
    }
    return points.isUsable && points.flaws.isEmpty ? [] : ["cRLDistributionPoints: \(points.detail)"]
  }

  @Sendable static func forbiddenExtensions(_ subject: ProfiledCertificate) -> [String]? {
    subject.extensions.oids.intersection(CertificateExtensions.forbidden).sorted().map(OID.name)
  }

  @Sendable static func pathLength(_ subject: ProfiledCertificate) -> [String]? {
    guard subject.role.isAuthority, subject.extensions.isCA else { return nil }
    switch subject.extensions.pathLength {
    case 0: return []
    case nil: return ["no path length"]
    case let length?: return ["path length \(length)"]
    }
  }

  /// Usages that do not serve the role at all are no matter of form.
  @Sendable static func keyUsage(_ subject: ProfiledCertificate) -> [String]? {
    guard let usage = subject.extensions.keyUsage, subject.role.permits(usage) else { return nil }
    let missing = subject.role.keyUsage.subtracting(usage)
    let surplus = usage.subtracting(subject.role.keyUsage)
    return missing.names.map { "lacks \($0)" } + surplus.names.map { "has \($0)" }
  }

  @Sendable static func extendedKeyUsage(_ subject: ProfiledCertificate) -> [String]? {
    guard let purposes = subject.extensions.extendedKeyUsage else { return nil }
    let expected = subject.role.extendedKeyUsages.union(subject.acceptedUsages)
    return purposes.filter { !expected.contains($0) }.map { "has \($0)" }
  }

  /// RFC 5280 gives a new name of the same authority its place in the certificate that links the old one to it.
  @Sendable static func subjectAltName(_ subject: ProfiledCertificate) -> [String]? {
    guard subject.role == .iacaLink, !subject.certificate.isSelfIssued else { return nil }
    return subject.facts.subjectAltName?.contains(.directoryName) == true ? [] : ["no directoryName"]
  }
}

extension CertificateExtensions.KeyUsage {
  /// The names of RFC 5280, 4.2.1.3, with the bits that OpenSSL gives them.
  var names: [String] {
    let all: [(UInt32, String)] = [
      (0x80, "digitalSignature"), (0x40, "nonRepudiation"), (0x20, "keyEncipherment"), (0x10, "dataEncipherment"),
      (0x08, "keyAgreement"), (0x04, "keyCertSign"), (0x02, "cRLSign"), (0x01, "encipherOnly"),
      (0x8000, "decipherOnly"),
    ]
    return all.filter { rawValue & $0.0 != 0 }.map(\.1)
  }
}

extension CertificateExtensions.OID {
  static let ocspNoCheck = "1.3.6.1.5.5.7.48.1.5"

  /// The standard's word for an extension, or the identifier of one that has none here.
  static func name(_ oid: String) -> String {
    switch oid {
    case subjectKeyIdentifier: "subjectKeyIdentifier"
    case keyUsage: "keyUsage"
    case subjectAltName: "subjectAltName"
    case issuerAltName: "issuerAltName"
    case basicConstraints: "basicConstraints"
    case nameConstraints: "nameConstraints"
    case crlDistributionPoints: "cRLDistributionPoints"
    case certificatePolicies: "certificatePolicies"
    case policyMappings: "policyMappings"
    case authorityKeyIdentifier: "authorityKeyIdentifier"
    case policyConstraints: "policyConstraints"
    case extendedKeyUsage: "extKeyUsage"
    case freshestCRL: "freshestCRL"
    case inhibitAnyPolicy: "inhibitAnyPolicy"
    default: oid
    }
  }
}
