import Base
import Cryptography
import PKIX

@testable import App
@testable import Mock

extension LiveFolder {
  /// The contract's relying party with one reader, whose members are replaced; `.null` is as good as none.
  static func partyWithReader(_ changes: [String: JSON] = [:], _ extra: [JSON.Member] = []) -> JSON {
    var reader: [JSON.Member] = [.init("key", "reader.pem"), .init("certificates", "reader-chain.pem")]
    for change in changes {
      reader.removeAll { $0.name == change.key }
      reader.append(.init(change.key, change.value))
    }
    return .object((party.object ?? []) + [.init("readers", [.object(reader)])] + extra)
  }

  /// A reader by its profile and without the mock's marker, its chain with and without the anchor; and chains that are
  /// none.
  func writeReader(
    until end: Timestamp = .systemNow() + 300 * 86_400, _ change: (inout CertificateTemplate) -> Void = { _ in }
  ) throws {
    let authority = try MockAuthority(seed: Array("live".utf8))
    let issuer = CertificateIssuer(
      name: authority.name("Reader Authority"), key: try PrivateKey(generatingOn: .p256))
    var root = authority.rootTemplate(issuer, from: end - 1_000 * 86_400, until: end + 1_000 * 86_400)
    root[oid: MockCertificateMarker.oid] = nil
    let key = try PrivateKey(generatingOn: .p256)
    var leaf = CertificateTemplate(
      issuer: issuer.name, notBefore: end - 390 * 86_400, notAfter: end,
      subject: CertificateName(country: "US", state: nil, organization: "Shop", commonName: "shop.example"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(issuer.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)), .keyUsage(.digitalSignature),
        .subjectAltName(dnsName: "shop.example"), .crlDistributionPoint(uri: "https://reader.example/crl"),
        .extendedKeyUsage([DocumentSigner.readerKeyUsage]),
      ])
    change(&leaf)
    let mock = try authority.reader(dnsName: "shop.example", at: .systemNow())
    let chain = PEM.encode(certificate: try leaf.signed(by: issuer.key))
    let anchor = PEM.encode(certificate: try root.signed(by: issuer.key))
    try write("reader.pem", key.pem())
    for (name, text) in [
      ("reader-chain.pem", chain), ("reader-with-root.pem", chain + anchor), ("root-first.pem", anchor + chain),
      ("twice.pem", chain + chain),
      ("mock-reader.pem", mock.certificates.map { PEM.encode(certificate: $0) }.joined()),
    ] {
      try write(name, Array(text.utf8))
    }
  }
}
