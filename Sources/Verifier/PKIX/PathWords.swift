import Base
import COpenSSL

// The words of a refusal: which certificate of a path, by its role and name, and what is wrong with it.

extension CertificationPath {
  /// The certificate's role and name: `the signer, certificate 5cb162849ed7abbd ("DS 1"),`.
  func name(_ index: Int) -> String {
    let role =
      index == 0 ? "the signer" : index == certificates.count - 1 ? "the anchor" : "intermediate \(index)"
    return "\(role), \(certificates[index].label),"
  }

  /// What is wrong with each certificate, by its index; nil for nothing.
  func faults(_ words: (Int, Certificate) -> String?) -> String {
    certificates.enumerated().compactMap { index, certificate in
      words(index, certificate).map { "\(name(index)) \($0)" }
    }
    .joined(separator: "; ")
  }

  /// The links that break a rule. `words` says what is wrong between the certificate and its issuer.
  func linkFaults(_ words: (Link) -> String?) -> String {
    faults { index, _ in
      index < links.count ? words(links[index]).map { "\($0) \(name(index + 1).dropLast())" } : nil
    }
  }

  /// Which certificates have which keys or signatures that are not supported.
  var algorithmFaults: String {
    faults { index, certificate in
      if certificate.publicKey == nil { return certificate.keyFault }
      return index == links.count || certificate.hasSupportedSignatureAlgorithm ? nil : certificate.signatureFault
    }
  }
}

extension CertificationPath.Link {
  /// How the certificate fails to name its issuer.
  var nameFault: String? {
    if isNamed { return nil }
    return certificate.issuer.der == issuer.subject.der
      ? "has another authority key identifier than the subject key identifier of" : "names another issuer than"
  }
}

extension TrustAnchor {
  func docTypeFault(_ docType: String) -> String {
    "\(certificate.label) is trusted for \(shownList(docTypes ?? [])), and this is \(shown(docType))"
  }
}

extension Certificate {
  /// The certificate's name in findings: the beginning of its SHA-256, and its common name, cut and fit to be shown,
  /// since anyone may have chosen it.
  package var label: String {
    "certificate \(Hex.encode(sha256.prefix(8)))" + (subject.commonName.map { " (\"\(shown($0))\")" } ?? "")
  }

  /// When it is valid, if it is not valid now.
  func periodFault(at now: Timestamp, skew: Int64 = 0) -> String? {
    if now > validity.upperBound + skew { return "has expired at \(validity.upperBound)" }
    return now < validity.lowerBound - skew ? "is not valid before \(validity.lowerBound)" : nil
  }

  /// How country and state differ from the other certificate's, as in `isInJurisdiction`.
  func jurisdictionFault(under issuer: Certificate) -> String {
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

  /// The algorithm of its key, which is none of the standard's or has no valid value, by name and number.
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
