import Cryptography

// The rules of the profiles (ISO/IEC 18013-5, B.1), beginning with the rules on all fields except extensions.

extension ProfileRule {
  /// All rules, in the order in which they are reported.
  static let all: [ProfileRule] = [
    criticality, lifetime, country, keyIdentifiers, serialNumber, issuerAltName, revocationSource, forbiddenExtensions,
    version, name, publicKey, signatureAlgorithm, keyIdentifierValue, pathLength, keyUsage, extendedKeyUsage,
    subjectAltName,
  ]

  private static let version = ProfileRule(.profileVersion) { subject in
    subject.facts.isVersion3 ? [] : ["older than version 3"]
  }

  private static let lifetime = ProfileRule(.profileLifetime) { subject in
    let days = subject.certificate.validityDays
    // A responder's certificate need not be revocable if it states that its status need not be checked.
    let isUnchecked =
      subject.role == .ocspResponder && subject.extensions.oids.contains(CertificateExtensions.OID.ocspNoCheck)
    let longest = isUnchecked ? 90 : subject.role.longestValidityDays
    var found = days <= longest ? [] : ["valid for \(days) days; at most \(longest) are allowed"]
    if subject.role == .iacaLink, let issuer = subject.issuer,
      subject.certificate.validity.upperBound > issuer.validity.upperBound
    {
      found.append("valid for longer than the old root")
    }
    return found
  }

  private static let country = ProfileRule(.profileCountryMissing) { subject in
    guard subject.role.profile.attributes.contains(.countryName) else { return nil }
    return subject.certificate.subject.country == nil ? ["no countryName"] : []
  }

  /// The number is positive, with at most twenty octets (RFC 5280, 4.1.2.2). At least 63 random bits need eight octets.
  private static let serialNumber = ProfileRule(.profileSerialNumber) { subject in
    let number = subject.certificate.serialNumber
    if number == [0] { return ["zero"] }
    var found = subject.certificate.hasNegativeSerialNumber ? ["negative"] : []
    if number.count < 8 { found.append("\(number.count) octets; at least 8 are required") }
    if number.count > 20 { found.append("\(number.count) octets; at most 20 are allowed") }
    return found
  }

  private static let name = ProfileRule(.profileName) { subject in
    let attributes = subject.facts.subject
    let required = subject.role.profile.attributes
    var found: [String] = []
    for kind in [NameAttribute.Kind.commonName, .organizationName]
    where required.contains(kind) && !attributes.contains(where: { $0.kind == kind }) {
      found.append("no \(kind.rawValue)")
    }
    for kind in NameAttribute.Kind.allCases where attributes.count(where: { $0.kind == kind }) > 1 {
      found.append("duplicate \(kind.rawValue)")
    }
    if attributes.contains(where: { $0.kind == .countryName && !$0.isCountryCode }) {
      found.append("countryName is not two upper-case letters as PrintableString")
    }
    if subject.role == .iaca, !subject.certificate.isSelfIssued { found.append("issuer and subject are not identical") }
    // A state's signer must have the same state in its name as its authority (ISO/IEC 18013-5, B.1.4).
    if subject.role == .documentSigner, let issuer = subject.issuer, issuer.subject.stateOrProvince != nil,
      subject.certificate.subject.stateOrProvince == nil
    {
      found.append("no stateOrProvinceName, although the issuer has one")
    }
    return found
  }

  private static let publicKey = ProfileRule(.profilePublicKey) { subject in
    guard let key = subject.certificate.publicKey else { return nil }
    switch key.curve.family {
    case .weierstrass: return subject.facts.keyBits.first == 0x04 ? [] : ["compressed"]
    case .edwards: return subject.role.profile.allowsEdwardsKeys ? [] : ["on \(key.curve.rawValue)"]
    case .montgomery: return ["on \(key.curve.rawValue), which does not sign"]
    }
  }

  /// Nil if the issuer's key is unknown, or the algorithm unsupported.
  private static let signatureAlgorithm = ProfileRule(.profileSignatureAlgorithm) { subject in
    guard let curve = subject.issuer?.publicKey?.curve, let algorithm = subject.facts.signatureAlgorithm else {
      return nil
    }
    guard case .ecdsa(let hash) = algorithm else { return ["EdDSA"] }
    guard let expected = curve.certificateHash else { return [] }
    return hash == expected ? [] : ["SHA-\("\(hash)".dropFirst(3)) with a key on \(curve.rawValue)"]
  }

  private static let keyIdentifierValue = ProfileRule(.profileKeyIdentifierValue) { subject in
    guard let identifier = subject.extensions.subjectKeyIdentifier else { return nil }
    return identifier == HashAlgorithm.sha1.hash(subject.facts.keyBits) ? [] : ["not the SHA-1 of the key"]
  }
}

extension NameAttribute {
  /// ISO 3166-1 alpha-2.
  fileprivate var isCountryCode: Bool {
    isPrintableString && value.count == 2 && value.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }
}

extension Curve {
  /// The curve's hash; nil for curves that do not sign with a hash.
  fileprivate var certificateHash: HashAlgorithm? {
    switch self {
    case .p256, .brainpoolP256r1: .sha256
    case .p384, .brainpoolP320r1, .brainpoolP384r1: .sha384
    case .p521, .brainpoolP512r1: .sha512
    case .ed25519, .ed448, .x25519, .x448: nil
    }
  }
}

private typealias OID = CertificateExtensions.OID

extension ProfileRule {
  private static let criticality = ProfileRule(.profileCriticality) { subject in
    let present = subject.extensions.oids
    let critical = subject.extensions.critical
    let neverCritical = [
      OID.subjectKeyIdentifier, OID.authorityKeyIdentifier, OID.issuerAltName, OID.crlDistributionPoints,
    ]
    return subject.role.criticalExtensions.filter { present.contains($0) && !critical.contains($0) }
      .map { "\(OID.name($0)) is not critical" }
      + neverCritical.filter(critical.contains).map { "\(OID.name($0)) is critical" }
  }

  private static let keyIdentifiers = ProfileRule(.profileKeyIdentifiers) { subject in
    var missing: [String] = []
    if subject.extensions.subjectKeyIdentifier == nil { missing.append("no subjectKeyIdentifier") }
    // A root is its own authority.
    if subject.role != .iaca, subject.extensions.authorityKeyIdentifier == nil {
      missing.append("no authorityKeyIdentifier")
    }
    return missing
  }

  private static let issuerAltName = ProfileRule(.profileIssuerAltName) { subject in
    guard subject.extensions.oids.contains(OID.issuerAltName) else {
      return subject.role.profile.requiresIssuerAltName ? ["no issuerAltName"] : nil
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

  private static let revocationSource = ProfileRule(.profileRevocationSource) { subject in
    guard let points = subject.extensions.crlDistributionPoints else {
      // A responder's certificate may instead state that its status need not be checked (RFC 6960, 4.2.2.2.1).
      let isExcused = subject.role == .ocspResponder && subject.extensions.oids.contains(OID.ocspNoCheck)
      return subject.role.profile.requiresRevocationSource && !isExcused ? ["no cRLDistributionPoints"] : nil
    }
    return points.isUsable && points.flaws.isEmpty ? [] : ["cRLDistributionPoints: \(points.detail)"]
  }

  private static let forbiddenExtensions = ProfileRule(.profileForbiddenExtension) { subject in
    subject.extensions.oids.intersection(CertificateExtensions.forbidden).sorted().map(OID.name)
  }

  private static let pathLength = ProfileRule(.profilePathLength) { subject in
    guard subject.role.isAuthority, subject.extensions.isCA else { return nil }
    switch subject.extensions.pathLength {
    case 0: return []
    case nil: return ["no path length"]
    case let length?: return ["path length \(length)"]
    }
  }

  /// Nil for usages that do not serve the role at all. Other checks refuse such usages.
  private static let keyUsage = ProfileRule(.profileKeyUsage) { subject in
    guard let usage = subject.extensions.keyUsage, subject.role.permits(usage) else { return nil }
    let missing = subject.role.keyUsage.subtracting(usage)
    let surplus = usage.subtracting(subject.role.keyUsage)
    return missing.names.map { "lacks \($0)" } + surplus.names.map { "has \($0)" }
  }

  private static let extendedKeyUsage = ProfileRule(.profileExtendedKeyUsage) { subject in
    guard let purposes = subject.extensions.extendedKeyUsage else { return nil }
    let expected = subject.role.extendedKeyUsages.union(subject.acceptedUsages)
    return purposes.filter { !expected.contains($0) }.map { "has \($0)" }
  }

  /// RFC 5280 places an authority's new name in the certificate that links it to the old name.
  private static let subjectAltName = ProfileRule(.profileSubjectAltName) { subject in
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

  /// The standard's name of an extension, otherwise its identifier.
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
