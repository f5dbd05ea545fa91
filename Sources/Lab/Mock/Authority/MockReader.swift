import Base
import Cryptography

/// A relying party of the mock: its key for reader authentication and signed requests, and who vouches for it.
package struct MockReader: Sendable {
  /// P-256.
  package let key: PrivateKey
  /// DER, the leaf first; the root is not among them (ISO/IEC 18013-5:2021, 9.1.4.4).
  package let certificates: [[UInt8]]
  /// DER of the reader authority's own certificate, for wallets that authenticate readers.
  package let root: [UInt8]
  /// The leaf's dNSName.
  package let dnsName: String
}

extension MockAuthority {
  /// A reader with a certificate as ISO/IEC 18013-5:2021, B.1.7 has it, valid from the start of a calendar month: it is
  /// the same for a name during a month of `now`.
  ///
  /// Its keys are on P-256 whatever curve the documents' issuer has: signed requests are ES256 (HAIP 1.0, 7).
  package func reader(dnsName: String, at now: Timestamp) throws -> MockReader {
    let root = CertificateIssuer(
      name: name("mdoc Mock Reader Authority"), key: try seed.key("reader authority", on: .p256))
    let validity = AnchorKind.good.validity(at: now)
    var rootTemplate = rootTemplate(root, from: validity.from, until: validity.until)
    rootTemplate[oid: CertificateExtension.crlDistributionPointsOID] = .crlDistributionPoint(uri: addresses.readerCRL)
    let key = try seed.key("reader/\(dnsName)", on: .p256)
    let start = (now - 60 * Seconds.day).date
    let from = Timestamp(date: FullDate(year: start.year, month: start.month, day: 1) ?? start)
    let leaf = CertificateTemplate(
      issuer: root.name, notBefore: from, notAfter: from + 390 * Seconds.day - 1,
      subject: CertificateName(
        country: country, state: stateOrProvince, organization: "mdoc Mock Relying Party", commonName: dnsName),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(root.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
        .keyUsage(.digitalSignature),
        .subjectAltName(dnsName: dnsName),
        .crlDistributionPoint(uri: addresses.readerCRL),
        .extendedKeyUsage([DocumentSigner.readerKeyUsage]),
        .mockMarker,
      ])
    return MockReader(
      key: key, certificates: [try leaf.signed(by: root.key)], root: try rootTemplate.signed(by: root.key),
      dnsName: dnsName)
  }
}
