import Base
import Cryptography

@testable import Mock

/// A certificate of a reader, signed by its own key.
enum ReaderCertificate {
  static func make(for key: PrivateKey, until: Timestamp) throws -> [UInt8] {
    let name = CertificateName(country: "UT", state: nil, organization: "Shop", commonName: "reader")
    return try CertificateTemplate(
      issuer: name, notBefore: until - 86_400, notAfter: until, subject: name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey), extensions: [.keyUsage(.digitalSignature)]
    ).signed(by: key)
  }
}
