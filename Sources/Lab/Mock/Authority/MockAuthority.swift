import Base
import Cryptography

/// The mock issuing authority: certification authorities and document signers, all from one seed.
///
/// Its certificates carry `MockCertificateMarker`, which live mode refuses.
package struct MockAuthority: Sendable {
  /// The curve of the issuing authority's key and, unless a variant says otherwise, of the document signer's.
  package let issuerCurve: Curve
  package let country: String
  package let stateOrProvince: String
  /// Where its certificates and documents say that its lists are.
  package private(set) var addresses: MockAddresses
  let seed: MockSeed

  /// - Throws: `MockError.curveCannotSign` for X25519 and X448.
  package init(
    seed: [UInt8], issuerCurve: Curve = .p256, country: String = "US", stateOrProvince: String = "US-UT",
    addresses: MockAddresses = MockAddresses()
  ) throws {
    guard issuerCurve.family != .montgomery else { throw MockError.curveCannotSign(issuerCurve.rawValue) }
    self.seed = MockSeed(seed)
    self.issuerCurve = issuerCurve
    self.country = country
    self.stateOrProvince = stateOrProvince
    self.addresses = addresses
  }

  /// The same authority with its lists elsewhere.
  package func publishing(at addresses: MockAddresses) -> MockAuthority {
    var authority = self
    authority.addresses = addresses
    return authority
  }

  /// The anchors that a verifier in test mode trusts. They change once in ten years of `now`.
  package func anchors(at now: Timestamp) throws -> [MockAnchor] {
    try AnchorKind.allCases.map { kind in
      let issuer = try certificateIssuer(kind)
      return MockAnchor(
        name: kind.rawValue,
        certificate: try anchorTemplate(kind, at: now)
          .signed(by: issuer.key, damagingSignature: kind == .brokenSelfSignature),
        docTypes: kind.docTypes,
        extendedKeyUsages: [DocumentSigner.mDLKeyUsage],
        maxPathLength: kind == .pathLengthOne ? 1 : 0)
    }
  }

  /// The anchor that everything right is issued under.
  package func anchor(at now: Timestamp) throws -> MockAnchor {
    guard let anchor = try anchors(at: now).first else { throw MockError.keyDerivationFailed("anchor") }
    return anchor
  }

  /// The certificate of the good issuing authority, DER.
  func goodRoot(at now: Timestamp) throws -> [UInt8] {
    try anchorTemplate(.good, at: now).signed(by: certificateIssuer(.good).key)
  }

  func certificateIssuer(_ kind: AnchorKind) throws -> CertificateIssuer {
    CertificateIssuer(
      name: name(kind.commonName), key: try seed.key("iaca/\(kind.rawValue)", on: issuerCurve))
  }

  /// What stands between an anchor and a signer where a variant has it so.
  func intermediateIssuer() throws -> CertificateIssuer {
    CertificateIssuer(
      name: name("mdoc Mock Intermediate CA"), key: try seed.key("intermediate", on: issuerCurve))
  }

  func name(_ commonName: String) -> CertificateName {
    CertificateName(
      country: country, state: stateOrProvince, organization: "mdoc Mock Issuing Authority", commonName: commonName)
  }

  func anchorTemplate(_ kind: AnchorKind, at now: Timestamp) throws -> CertificateTemplate {
    let issuer = try certificateIssuer(kind)
    let validity = kind.validity(at: now)
    var template = rootTemplate(issuer, from: validity.from, until: validity.until)
    switch kind {
    case .notCA: template[oid: CertificateExtension.basicConstraintsOID] = nil
    case .pathLengthOne:
      template[oid: CertificateExtension.basicConstraintsOID] = .basicConstraints(isCA: true, pathLength: 1)
    case .nameConstrained:
      var permitted = issuer.name
      permitted.set(CertificateName.commonName, to: nil)
      template.extensions.append(.nameConstraints(permitting: permitted))
    default: break
    }
    return template
  }

  /// An IACA root certificate by ISO/IEC 18013-5, B.1.2.
  func rootTemplate(_ issuer: CertificateIssuer, from: Timestamp, until: Timestamp) -> CertificateTemplate {
    CertificateTemplate(
      issuer: issuer.name, notBefore: from, notAfter: until, subject: issuer.name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: issuer.key.publicKey),
      extensions: [
        .basicConstraints(isCA: true, pathLength: 0),
        .keyUsage(.keyCertSign, .crlSign),
        .subjectKeyIdentifier(issuer.keyIdentifier),
        .issuerAltName(uri: addresses.authority),
        .crlDistributionPoint(uri: addresses.home + "iaca.crl"),
        .mockMarker,
      ])
  }
}

/// What a certificate needs of the one that signs it.
struct CertificateIssuer: Sendable {
  var name: CertificateName
  var key: PrivateKey

  /// What the revocation list of the intermediate authority is called.
  static let intermediateList = "intermediate"

  /// SHA-1 of the public key's bits (RFC 5280, 4.2.1.2 (1)).
  var keyIdentifier: [UInt8] { HashAlgorithm.sha1.hash(key.publicKey.encoded) }
}

/// Addresses in certificates and documents. By themselves they resolve nowhere (`.invalid`); a publisher on this machine
/// gives its own.
package struct MockAddresses: Sendable, Hashable {
  private static let nowhere = "https://iaca.mdoc-mock.invalid/"

  /// Where the lists are, with a slash at its end.
  package let base: String

  package init(base: String? = nil) { self.base = base ?? Self.nowhere }

  /// What stands in the anchors themselves, wherever the lists are: with the same seed come the same anchors. Nobody
  /// asks for the list that an anchor names.
  var home: String { Self.nowhere }

  package var authority: String { home }
  /// The revocation list of the good authority, and of any other.
  package var crl: String { crl(of: AnchorKind.good.rawValue) }
  func crl(of authority: String) -> String { base + authority + ".crl" }
  /// The revocation list of the reader authority.
  var readerCRL: String { home + "reader.crl" }
  package var statusList: String { base + "status" }
  package var identifierList: String { base + "identifiers" }
}
