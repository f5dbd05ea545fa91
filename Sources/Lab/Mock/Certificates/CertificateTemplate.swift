import Base
import Cryptography

/// Every field of a certificate to be made (RFC 5280, 4.1), right or wrong; `signed(by:)` makes the DER.
struct CertificateTemplate: Sendable {
  var issuer: CertificateName
  var notBefore: Timestamp
  var notAfter: Timestamp
  var subject: CertificateName
  /// DER of SubjectPublicKeyInfo.
  var publicKeyInfo: [UInt8]
  var extensions: [CertificateExtension]
  /// The content octets of the serial number; nil makes them from the rest of the certificate.
  var serialNumber: [UInt8]?
  /// Nil: the algorithm that goes with the signing key.
  var signatureAlgorithm: SignatureAlgorithm?
  /// The number that stands for the version: 2 is version 3.
  var version: UInt8 = 2

  subscript(oid oid: String) -> CertificateExtension? {
    get { extensions.first { $0.oid == oid } }
    set {
      guard let index = extensions.firstIndex(where: { $0.oid == oid }) else {
        if let newValue { extensions.append(newValue) }
        return
      }
      if let newValue { extensions[index] = newValue } else { extensions.remove(at: index) }
    }
  }

  func signed(by key: PrivateKey, damagingSignature: Bool = false) throws -> [UInt8] {
    let algorithm = signatureAlgorithm ?? SignatureAlgorithm(curve: key.curve)
    let tbs = tbsCertificate(serialNumber: serialNumber(signedBy: key), algorithm: algorithm)
    // Damage goes into what is signed, so that the signature's DER stays right.
    let signature = try algorithm.sign(damagingSignature ? tbs + [0] : tbs, with: key)
    return DER.sequence(tbs, algorithm.der, DER.bitString(signature))
  }

  /// The content octets of the number that the certificate has, signed by this key.
  func serialNumber(signedBy key: PrivateKey) -> [UInt8] {
    serialNumber ?? derivedSerialNumber(signatureAlgorithm ?? SignatureAlgorithm(curve: key.curve))
  }

  /// 20 octets, positive: a hash of everything else, so that two certificates of one issuer never share a number, and
  /// none can be predicted without its content (ISO/IEC 18013-5, B.1: at least 63 random bits).
  private func derivedSerialNumber(_ algorithm: SignatureAlgorithm) -> [UInt8] {
    var number = Array(HashAlgorithm.sha256.hash(tbsCertificate(serialNumber: [], algorithm: algorithm)).prefix(20))
    number[0] = number[0] & 0x7f | 0x40
    return number
  }

  private func tbsCertificate(serialNumber: [UInt8], algorithm: SignatureAlgorithm) -> [UInt8] {
    DER.sequence(
      DER.explicit(0, DER.integer([version])),
      DER.integer(serialNumber),
      algorithm.der,
      issuer.der,
      DER.sequence(DER.time(notBefore), DER.time(notAfter)),
      subject.der,
      publicKeyInfo,
      DER.explicit(3, DER.sequence(of: extensions.map(\.der))))
  }
}
