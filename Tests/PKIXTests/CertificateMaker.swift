import Base
import Cryptography
import PKIX

@testable import Mock

/// A root and document signers with any properties, made by the mock issuer's builder.
struct CertificateMaker {
  static let docType = "org.iso.18013.5.1.mDL"

  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let root: CertificateIssuer
  let from: Timestamp
  let until: Timestamp

  init(named name: String = "root", curve: Curve = .p256, key: PrivateKey? = nil) throws {
    root = CertificateIssuer(
      name: CertificateName(country: "US", state: nil, organization: nil, commonName: name),
      key: try key ?? PrivateKey(generatingOn: curve))
    from = now - 100 * Seconds.day
    until = now + 300 * Seconds.day
  }

  func rootTemplate() -> CertificateTemplate {
    caTemplate(root, under: root, pathLength: 0)
  }

  func caTemplate(
    _ issuer: CertificateIssuer, under parent: CertificateIssuer, pathLength: UInt8?
  ) -> CertificateTemplate {
    CertificateTemplate(
      issuer: parent.name, notBefore: from, notAfter: until, subject: issuer.name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: issuer.key.publicKey),
      extensions: [
        .basicConstraints(isCA: true, pathLength: pathLength), .keyUsage(.keyCertSign, .crlSign),
        .subjectKeyIdentifier(issuer.keyIdentifier), .authorityKeyIdentifier(parent.keyIdentifier),
        .issuerAltName(uri: "https://ca.example/"),
      ])
  }

  func signerTemplate(
    _ key: PublicKey? = nil, under parent: CertificateIssuer? = nil
  ) throws -> CertificateTemplate {
    let parent = parent ?? root
    let key = try key ?? PrivateKey(generatingOn: .p256).publicKey
    return CertificateTemplate(
      issuer: parent.name, notBefore: from, notAfter: until,
      subject: CertificateName(country: "US", state: nil, organization: nil, commonName: "signer"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key),
      extensions: [
        .authorityKeyIdentifier(parent.keyIdentifier), .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.encoded)),
        .keyUsage(.digitalSignature), .issuerAltName(uri: "https://ca.example/"),
        .crlDistributionPoint(uri: "https://ca.example/crl"), .extendedKeyUsage([TrustAnchor.documentSignerUsage]),
      ])
  }

  func anchor(_ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> TrustAnchor {
    var template = rootTemplate()
    change(&template)
    return TrustAnchor(
      certificate: try Certificate(der: template.signed(by: root.key)), docTypes: [Self.docType])
  }

  func signer(_ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> [UInt8] {
    var template = try signerTemplate()
    change(&template)
    return try template.signed(by: root.key)
  }
}

extension PathEvaluation {
  var failures: [Code] { checks.filter { $0.outcome == .failed }.map(\.code) }
}

extension PathValidator {
  func failures(
    _ chain: [[UInt8]], docType: String = CertificateMaker.docType, at now: Timestamp, skew: Int64 = 0
  ) -> [Code] {
    let evaluation = evaluate(chain: chain.map { $0[...] }, docType: docType, at: now, skew: skew)
    precondition(evaluation.isTrusted == evaluation.failures.isEmpty, "trusted exactly where nothing failed")
    return evaluation.failures
  }
}
