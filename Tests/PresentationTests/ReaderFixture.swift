import Base
import Cryptography
import PKIX
import Presentation

@testable import Mock

/// A reader with a key on any curve, and an authority above it.
struct ReaderFixture {
  static let now = Timestamp(secondsSince1970: 1_795_000_000)
  let identity: ReaderIdentity

  /// - Parameter hasIntermediate: whether the chain is of two certificates.
  init(curve: Curve = .p256, hasIntermediate: Bool = false) throws {
    let key = try PrivateKey(generatingOn: curve)
    let authority = try PrivateKey(generatingOn: .p256)
    let authorityName = CertificateName(country: "UT", state: nil, organization: nil, commonName: "reader authority")
    let leaf = Self.template(
      key.publicKey, named: CertificateName(country: "UT", state: nil, organization: "Shop", commonName: "reader"),
      under: authorityName)
    var chain = [try Certificate(der: leaf.signed(by: authority))]
    if hasIntermediate {
      let rootName = CertificateName(country: "UT", state: nil, organization: nil, commonName: "reader root")
      let intermediate = Self.template(authority.publicKey, named: authorityName, under: rootName)
      chain.append(try Certificate(der: intermediate.signed(by: PrivateKey(generatingOn: .p256))))
    }
    identity = try ReaderIdentity(key: key, certificates: chain)
  }

  private static func template(
    _ key: PublicKey, named name: CertificateName, under issuer: CertificateName
  ) -> CertificateTemplate {
    CertificateTemplate(
      issuer: issuer, notBefore: now - 86_400, notAfter: now + 86_400, subject: name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key), extensions: [.keyUsage(.digitalSignature)])
  }
}
