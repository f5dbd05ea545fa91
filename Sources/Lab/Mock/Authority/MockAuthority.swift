import Base
import Cryptography

/// The mock issuing authority. All its certification authorities and document signers are derived from one seed.
///
/// Its certificates have `MockCertificateMarker`, so live mode rejects them.
package struct MockAuthority: Sendable {
  /// The curve for the keys of the issuing authority and the document signer.
  package let issuerCurve: Curve
  package let country: String
  package let stateOrProvince: String
  /// The addresses of the authority's lists, as written in certificates and documents.
  package private(set) var addresses: MockAddresses
  /// Another authority's document signer, used instead of this authority's own. It has a key, a chain (leaf first) and
  /// the start of the leaf's validity.
  package var givenSigner: (key: PrivateKey, chain: [[UInt8]], notBefore: Timestamp)?
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

  /// The seed. Another mock wallet with this seed has the same authority.
  package var seedBytes: [UInt8] { seed.secret }

  /// Returns the same authority with different addresses for its lists.
  package func publishing(at addresses: MockAddresses) -> MockAuthority {
    var authority = self
    authority.addresses = addresses
    return authority
  }

  /// The anchors that a verifier in test mode trusts. They change once every ten years as `now` advances.
  package func anchors(at now: Timestamp) throws -> [MockAnchor] {
    try AnchorKind.allCases.map { kind in
      let issuer = try certificateIssuer(kind)
      return MockAnchor(
        name: kind.rawValue,
        certificate: try anchorTemplate(kind, at: now)
          .signed(by: issuer.key, damagingSignature: kind == .brokenSelfSignature),
        docTypes: kind.docTypes,
        extendedKeyUsages: [MockSigner.mDLKeyUsage],
        maxPathLength: kind == .pathLengthOne ? 1 : 0)
    }
  }

  /// The anchor of correct documents.
  package func anchor(at now: Timestamp) throws -> MockAnchor {
    guard let anchor = try anchors(at: now).first else { throw MockError.keyDerivationFailed("anchor") }
    return anchor
  }

  /// The certificate of the good issuing authority, DER.
  func goodRoot(at now: Timestamp) throws -> [UInt8] {
    try rootCertificate(of: certificateIssuer(.good), at: now)
  }

  func certificateIssuer(_ kind: AnchorKind) throws -> CertificateIssuer {
    try issuer(kind.commonName, key: "iaca/\(kind.rawValue)")
  }

  /// The intermediate authority between an anchor and a signer, for variants that need one.
  func intermediateIssuer() throws -> CertificateIssuer {
    try issuer("mdoc Mock Intermediate CA", key: "intermediate")
  }

  /// An issuer with this common name and the key derived from this label.
  func issuer(_ commonName: String, key label: String) throws -> CertificateIssuer {
    CertificateIssuer(name: name(commonName), key: try seed.key(label, on: issuerCurve))
  }

  func name(_ commonName: String) -> CertificateName {
    CertificateName(
      country: country, state: stateOrProvince, organization: "mdoc Mock Issuing Authority", commonName: commonName)
  }

  func anchorTemplate(_ kind: AnchorKind, at now: Timestamp) throws -> CertificateTemplate {
    let issuer = try certificateIssuer(kind)
    var template = rootTemplate(issuer, kind.validity(at: now))
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

  /// An IACA root certificate (ISO/IEC 18013-5, B.1.2).
  func rootTemplate(_ issuer: CertificateIssuer, _ validity: (from: Timestamp, until: Timestamp)) -> CertificateTemplate
  {
    CertificateTemplate(
      issuer: issuer.name, notBefore: validity.from, notAfter: validity.until, subject: issuer.name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: issuer.key.publicKey),
      extensions: [
        .basicConstraints(isCA: true, pathLength: 0), .keyUsage(.keyCertSign, .crlSign),
        .subjectKeyIdentifier(issuer.keyIdentifier), .issuerAltName(uri: addresses.authority),
        .crlDistributionPoint(uri: addresses.authority + "iaca.crl"), .mockMarker,
      ])
  }
}

/// The name and key of an authority that signs certificates.
struct CertificateIssuer: Sendable {
  var name: CertificateName
  var key: PrivateKey

  /// The name of the intermediate authority's revocation list.
  static let intermediateList = "intermediate"

  /// SHA-1 of the public key's bits (RFC 5280, 4.2.1.2 (1)).
  var keyIdentifier: [UInt8] { HashAlgorithm.sha1.hash(key.publicKey.encoded) }
}

/// Addresses in certificates and documents. By default they do not resolve (`.invalid`).
package struct MockAddresses: Sendable, Hashable {
  private static let nowhere = "https://iaca.mdoc-mock.invalid/"

  /// The base address of all lists, with a trailing slash.
  package let base: String

  package init(base: String? = nil) { self.base = base ?? Self.nowhere }

  /// The address in the anchors. It does not depend on the publisher, so the same seed gives the same anchors.
  package var authority: String { Self.nowhere }
  /// The address of the good authority's revocation list.
  package var crl: String { crl(of: AnchorKind.good.rawValue) }
  func crl(of authority: String) -> String { base + authority + ".crl" }
  /// The address of the reader authority's revocation list.
  var readerCRL: String { authority + "reader.crl" }
  package var statusList: String { base + "status" }
  package var identifierList: String { base + "identifiers" }
}

/// The source of all pseudorandom bytes. It applies HKDF to the seed, with a label for each purpose.
struct MockSeed: Sendable {
  fileprivate let secret: [UInt8]

  init(_ secret: [UInt8]) { self.secret = secret }

  func bytes(_ label: String, count: Int) throws -> [UInt8] {
    let key = try HKDF.deriveKey(
      from: SecretBytes(copying: secret), salt: Array("mdoc mock issuance 1".utf8), info: Array(label.utf8),
      length: count)
    return key.exposed()
  }

  /// A seed for one response. `context`, such as the session transcript, makes the seed unique.
  func child(_ label: String, context: [UInt8]) throws -> MockSeed {
    MockSeed(try bytes("\(label)/\(hexText(HashAlgorithm.sha256.hash(context)))", count: 32))
  }

  func key(_ label: String, on curve: Curve) throws -> PrivateKey {
    // A candidate must be below the group's order. In the worst case (brainpoolP384r1), nearly half of them are
    // rejected.
    for attempt in 0..<64 {
      var scalar = try bytes("key/\(curve.rawValue)/\(label)/\(attempt)", count: curve.coordinateLength)
      // The order of P-521 has 521 bits, but a scalar has 66 bytes.
      if curve == .p521 { scalar[0] &= 0x01 }
      if let key = try? PrivateKey(curve: curve, scalar: scalar) { return key }
    }
    throw MockError.keyDerivationFailed(label)
  }

  private func hexText(_ bytes: [UInt8]) -> String {
    bytes.map { String($0, radix: 16) }.joined(separator: ".")
  }
}

/// The reason why a response cannot be made. A deliberately wrong response is not an error.
package enum MockError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The wallet has no document of a requested type.
  case noRequestedDocument([String])
  /// A web protocol's request is malformed, for the given reason.
  case unreadableRequest(String)
  /// The document data cannot be read at `path`.
  case invalidData(path: String, reason: String)
  /// The document cannot be proven, for the given reason.
  case cannotProve(String)
  /// The curve cannot sign certificates or documents.
  case curveCannotSign(String)
  /// The variant has nothing to change in this request or document data.
  case nothingToChange(String)
  case keyDerivationFailed(String)

  package var description: String {
    switch self {
    case .noRequestedDocument(let types): "The mock wallet has no document of type \(types.joined(separator: ", "))"
    case .unreadableRequest(let reason): "The mock wallet cannot read the request: \(reason)"
    case .invalidData(let path, let reason): "Mock document data: \(path): \(reason)"
    case .cannotProve(let reason): "no proof can be made: \(reason)"
    case .curveCannotSign(let curve): "\(curve) keys cannot sign"
    case .nothingToChange(let reason): "The variant does not apply: \(reason)"
    case .keyDerivationFailed(let label): "No key could be derived for \(label)"
    }
  }
}
