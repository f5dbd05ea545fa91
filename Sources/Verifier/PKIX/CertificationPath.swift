import Base
import COpenSSL

/// The certificates from a signer to an anchor, with the facts that RFC 5280, 6.1 requires of each certificate.
/// `PathValidator` checks them for document signers, and `SignerPath` for signers of lists. Each has its own codes and
/// exceptions.
struct CertificationPath {
  /// The signer first, the anchor last. A single certificate if the signer is itself the anchor.
  let certificates: [Certificate]
  let links: [Link]

  /// - Parameter anchorHasSigned: whether the search for the anchor found that the anchor's key verifies. The signature
  ///   is not checked again.
  init(_ certificates: [Certificate], anchorHasSigned: Bool = false) {
    self.certificates = certificates
    links = zip(certificates, certificates.dropFirst()).enumerated().map { index, pair in
      Link(
        certificate: pair.0, issuer: pair.1,
        knownSignature: index == certificates.count - 2 ? anchorHasSigned : nil)
    }
  }

  /// The certificates between signer and anchor, from the signer upwards.
  var intermediates: ArraySlice<Certificate> { certificates.dropFirst().dropLast() }

  /// All certificates above the signer, the anchor last.
  var authorities: [Authority] {
    certificates.dropFirst().enumerated().map { below, certificate in
      Authority(certificate: certificate, intermediatesBelow: below, isAnchor: below == certificates.count - 2)
    }
  }

  struct Link {
    let certificate: Certificate
    let issuer: Certificate
    fileprivate let knownSignature: Bool?

    var isNamed: Bool { certificate.chainsByName(to: issuer) }

    /// True if the issuer's key has signed the certificate. An unsupported algorithm is a separate finding.
    var isSigned: Bool {
      (knownSignature ?? certificate.isSigned(by: issuer)) || !certificate.isVerifiable(by: issuer)
    }
  }

  struct Authority {
    let certificate: Certificate
    let intermediatesBelow: Int
    let isAnchor: Bool

    var isCA: Bool { certificate.extensions.isCA }

    /// Only an anchor may lack the extension keyUsage. The configuration then decides on its uses.
    var hasCertifyingKey: Bool { certificate.extensions.keyUsage.map { $0.contains(.keyCertSign) } ?? isAnchor }

    var allowsLength: Bool { certificate.extensions.pathLength.map { intermediatesBelow <= $0 } ?? true }
  }

  /// Finds the lowest-ranked anchor whose key signed the path's last certificate. If no such anchor exists, returns an
  /// anchor with a matching name and key identifier, so that the checks can state the fault.
  static func anchor<Candidate>(
    of last: Certificate, among candidates: [Candidate], certificate: (Candidate) -> Certificate,
    rank: (Candidate) -> Int = { _ in 0 }
  ) -> (anchor: Candidate, hasSigned: Bool)? {
    // An anchor in the chain is not linked to another anchor.
    let named =
      candidates
      .filter { last.chainsByName(to: certificate($0)) && certificate($0).der != last.der }
      .sorted { rank($0) < rank($1) }
    if let signing = named.first(where: { last.isSigned(by: certificate($0)) }) { return (signing, true) }
    return named.first.map { ($0, false) }
  }
}

// The text of a refusal: the certificate's role and name, and its fault.

extension CheckList {
  /// Records a check: failed with the faults, or passed if there are no faults.
  mutating func require(_ code: Code, without faults: String) { require(faults.isEmpty, code, faults) }
}

extension CertificationPath {
  /// The certificate's role and name: `the signer, certificate 5cb162849ed7abbd ("DS 1"),`.
  func name(_ index: Int) -> String {
    let role =
      index == 0 ? "the signer" : index == certificates.count - 1 ? "the anchor" : "intermediate \(index)"
    return "\(role), \(certificates[index].label),"
  }

  /// The faults of all certificates as text, each with the certificate's name. `words` returns nil for a certificate
  /// without a fault.
  func faults(_ words: (Int, Certificate) -> String?) -> String {
    certificates.enumerated().compactMap { index, certificate in
      words(index, certificate).map { "\(name(index)) \($0)" }
    }
    .joined(separator: "; ")
  }

  /// The links that break a rule. `words` connects a certificate and its issuer in the text.
  func linkFaults(_ words: (Link) -> String?) -> String {
    faults { index, _ in
      index < links.count ? words(links[index]).map { "\($0) \(name(index + 1).dropLast())" } : nil
    }
  }

  var algorithmFaults: String {
    faults { index, certificate in
      if certificate.publicKey == nil { return certificate.keyFault }
      return index == links.count || certificate.hasSupportedSignatureAlgorithm ? nil : certificate.signatureFault
    }
  }
}

extension CertificationPath.Link {
  /// The reason why the certificate does not match its issuer.
  var nameFault: String? {
    if isNamed { return nil }
    return certificate.issuer.der == issuer.subject.der
      ? "has an authority key identifier that differs from the subject key identifier of"
      : "names an issuer that is not"
  }
}

extension TrustAnchor {
  func docTypeFault(_ docType: String) -> String {
    "\(certificate.label) is trusted for \(shownList(docTypes ?? [])), not for \(shown(docType))"
  }
}

extension Certificate {
  /// The certificate's name in findings: the beginning of its SHA-256, and its common name in a form that is safe to
  /// display.
  package var label: String {
    "certificate \(Hex.encode(sha256.prefix(8)))" + (subject.commonName.map { " (\"\(shown($0))\")" } ?? "")
  }

  func periodFault(at now: Timestamp, skew: Int64 = 0) -> String? {
    if now > validity.upperBound + skew { return "has expired at \(validity.upperBound)" }
    return now < validity.lowerBound - skew ? "is not valid before \(validity.lowerBound)" : nil
  }

  /// The differences in country and state, if both certificates have them (ISO/IEC 18013-5, 9.3.3).
  func jurisdictionFaults(under issuer: Certificate) -> String {
    let (own, other) = (subject, issuer.subject)
    let pairs = [
      ("countryName", own.country, other.country), ("stateOrProvinceName", own.stateOrProvince, other.stateOrProvince),
    ]
    let differing = pairs.compactMap { name, own, other -> String? in
      guard let own, let other, !own.hasSameBytes(as: other) else { return nil }
      return "\(name) is \"\(shown(own))\" in \(label) and \"\(shown(other))\" in \(issuer.label)"
    }
    return differing.joined(separator: "; ")
  }

  /// The algorithm of its signature by name and number. Parses the certificate again, as below.
  var signatureFault: String {
    let x509 = parsedCertificate(der)
    defer { X509_free(x509) }
    return "is signed with \(x509.map { algorithm(X509_get0_tbs_sigalg($0)).name } ?? "an unknown algorithm")"
  }

  /// The algorithm of its unsupported or invalid key by name and number.
  var keyFault: String {
    let x509 = parsedCertificate(der)
    defer { X509_free(x509) }
    var identifier: UnsafeMutablePointer<X509_ALGOR>?
    guard let x509, X509_PUBKEY_get0_param(nil, nil, nil, &identifier, X509_get_X509_PUBKEY(x509)) == 1 else {
      return "has no readable key"
    }
    let (name, curve) = algorithm(identifier.map { UnsafePointer($0) })
    return "has a key of \(name)" + (curve.map { " with \($0)" } ?? "")
  }
}

/// An algorithm, and its parameters if it has any: `ecdsa-with-SHA1 (1.2.840.10045.4.1)`.
private func algorithm(_ identifier: UnsafePointer<X509_ALGOR>?) -> (name: String, parameters: String?) {
  var object: OpaquePointer?
  var type: Int32 = 0
  var parameters: UnsafeRawPointer?
  X509_ALGOR_get0(&object, &type, &parameters, identifier)
  switch type {
  case V_ASN1_OBJECT: return (name(object), "the curve \(name(parameters.map { OpaquePointer($0) }))")
  case V_ASN1_UNDEF, V_ASN1_NULL: return (name(object), nil)
  default: return (name(object), "explicit parameters")
  }
}

private func name(_ object: OpaquePointer?) -> String {
  let number = dottedIdentifier(object) ?? "unreadable"
  let nid = OBJ_obj2nid(object)
  return nid == NID_undef ? number : "\(String(cString: OBJ_nid2ln(nid))) (\(number))"
}
