import Base
import Cryptography

/// A reader key with a certificate from the relying party's own authority, for wallets that can trust that authority.
///
/// The certificate follows the profile of readers (ISO/IEC 18013-5, B.1.7). It lacks the mock's marker, because its
/// keys are random.
package struct SelfMadeReader: Sendable {
  private static let authorityDays: Int64 = 3 * 365
  private static let days: Int64 = 397

  /// P-256.
  package let key: PrivateKey
  /// DER.
  package let certificate: [UInt8]
  /// DER of the authority's certificate. The authority's private key signs the reader's certificate and the revocation
  /// list. Then the key is deleted.
  package let authority: [UInt8]
  /// DER of the authority's empty revocation list. It expires with the reader's certificate, because nobody can sign
  /// another list. To revoke the reader, remove its authority from the wallets.
  package let revocationList: [UInt8]

  /// - Parameters:
  ///   - name: the relying party's name.
  ///   - host: the host of the address for wallets' responses.
  ///   - listAddress: the address of the revocation list, for both certificates.
  package init(name: String, host: String, revocationList listAddress: String, at now: Timestamp) throws {
    let issuer = CertificateIssuer(
      name: CertificateName(country: nil, state: nil, organization: name, commonName: "\(name) reader authority"),
      key: try PrivateKey(generatingOn: .p256))
    // Wallets' clocks may be behind.
    let from = now - Seconds.hour
    authority = try CertificateTemplate(
      issuer: issuer.name, notBefore: from, notAfter: from + Self.authorityDays * Seconds.day, subject: issuer.name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: issuer.key.publicKey),
      extensions: [
        .basicConstraints(isCA: true, pathLength: 0), .keyUsage(.keyCertSign, .crlSign),
        .subjectKeyIdentifier(issuer.keyIdentifier), .crlDistributionPoint(uri: listAddress),
      ]
    ).signed(by: issuer.key)
    key = try PrivateKey(generatingOn: .p256)
    certificate = try CertificateTemplate(
      issuer: issuer.name, notBefore: from, notAfter: from + Self.days * Seconds.day,
      subject: CertificateName(country: nil, state: nil, organization: name, commonName: host),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(issuer.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
        .crlDistributionPoint(uri: listAddress),
      ] + Self.profile(host: host)
    ).signed(by: issuer.key)
    var list = RevocationListTemplate(issuer: issuer, at: from)
    (list.thisUpdate, list.nextUpdate) = (from, from + Self.days * Seconds.day)
    revocationList = try list.der()
  }

  /// The reader profile's extensions that the holder can request. The authority adds the other extensions.
  package static func profile(host: String) -> [CertificateExtension] {
    [.keyUsage(.digitalSignature), .extendedKeyUsage([MockSigner.readerKeyUsage]), .subjectAltName(dnsName: host)]
  }
}

/// A certificate signing request (PKCS #10, RFC 2986).
package enum CertificateRequest {
  private static let extensionRequest = "1.2.840.113549.1.9.14"

  /// DER.
  ///
  /// - Parameter extensions: the requested extensions of the certificate.
  package static func of(
    _ key: PrivateKey, commonName: String, extensions: [CertificateExtension] = []
  ) throws -> [UInt8] {
    let attributes =
      extensions.isEmpty
      ? []
      : DER.sequence(DER.objectIdentifier(extensionRequest), DER.set(DER.sequence(of: extensions.map(\.der))))
    let information = DER.sequence(
      DER.integer([0]), CertificateName(country: nil, state: nil, organization: nil, commonName: commonName).der,
      SubjectPublicKeyInfo.der(of: key.publicKey), DER.explicit(0, attributes))
    let algorithm = CertificateAlgorithm(curve: key.curve)
    let signature = try algorithm.sign(information, with: key)
    return DER.sequence(information, algorithm.der, DER.bitString(signature))
  }
}
