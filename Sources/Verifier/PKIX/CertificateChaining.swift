import Base
import COpenSSL
import Cryptography

// Facts about one certificate, or about two adjacent certificates of a path.

extension Certificate {
  /// True if the next certificate's key signed each certificate, and its subject's name is each certificate's issuer.
  public static func isChain(_ certificates: [Certificate]) -> Bool {
    zip(certificates, certificates.dropFirst()).allSatisfy { $0.chainsByName(to: $1) && $0.isSigned(by: $1) }
  }

  /// True if the other certificate is this certificate's issuer by name. If both state a key identifier, these must
  /// match too.
  func chainsByName(to issuer: Certificate) -> Bool {
    self.issuer.der == issuer.subject.der && chainsByKeyIdentifier(to: issuer)
  }

  func chainsByKeyIdentifier(to issuer: Certificate) -> Bool {
    guard let authority = extensions.authorityKeyIdentifier, let subject = issuer.extensions.subjectKeyIdentifier
    else { return true }
    return authority == subject
  }

  /// True if its authority key identifier is the other certificate's subject key identifier. False if it has no such
  /// identifier.
  func namesKey(of issuer: Certificate) -> Bool {
    guard let identifier = extensions.authorityKeyIdentifier else { return false }
    return identifier == issuer.extensions.subjectKeyIdentifier
  }

  func isVerifiable(by issuer: Certificate) -> Bool {
    hasSupportedSignatureAlgorithm && issuer.publicKey != nil
  }

  var validityDays: Int64 {
    let seconds = validity.upperBound.secondsSince1970 - validity.lowerBound.secondsSince1970
    return (seconds + 86_399) / 86_400
  }

  var unknownCriticalExtensions: Set<String> { extensions.critical.subtracting(CertificateExtensions.processed) }

  /// Unprocessed constraints on the certificates below it. A path with such an intermediate is rejected.
  var unprocessedConstraints: Set<String> { extensions.oids.intersection(CertificateExtensions.constraints) }

  /// True if the certificate may certify signers for at least one of the purposes. Its own purposes restrict the
  /// certificates below it.
  func mayCertify(forPurposes purposes: Set<String>) -> Bool {
    guard let own = extensions.extendedKeyUsage else { return true }
    return own.contains(CertificateExtensions.OID.anyExtendedKeyUsage) || !purposes.isDisjoint(with: own)
  }
}

/// The signature of a certificate or revocation list, and the range of the bytes that it covers.
struct CertificateSignature: Sendable {
  /// ECDSA with SHA-256, SHA-384 or SHA-512, and EdDSA (ISO/IEC 18013-5, B.1). No RSA, no SHA-1.
  enum Algorithm: Sendable {
    case ecdsa(HashAlgorithm)
    case ed25519, ed448

    init?(nid: Int32) {
      switch nid {
      case NID_ecdsa_with_SHA256: self = .ecdsa(.sha256)
      case NID_ecdsa_with_SHA384: self = .ecdsa(.sha384)
      case NID_ecdsa_with_SHA512: self = .ecdsa(.sha512)
      case NID_ED25519: self = .ed25519
      case NID_ED448: self = .ed448
      default: return nil
      }
    }
  }

  private let algorithm: Algorithm
  private let value: [UInt8]
  private let toBeSigned: Range<Int>

  /// Nil if the algorithm is unsupported, if two algorithms are stated (RFC 5280, 4.1.1.2), or if the signature is not
  /// whole bytes.
  init?(_ x509: OpaquePointer, der: [UInt8]) {
    var bits: UnsafePointer<ASN1_BIT_STRING>?
    var identifier: UnsafePointer<X509_ALGOR>?
    X509_get0_signature(&bits, &identifier, x509)
    guard let identifier, X509_ALGOR_cmp(identifier, X509_get0_tbs_sigalg(x509)) == 0 else { return nil }
    self.init(bits, nid: X509_get_signature_nid(x509), der: der)
  }

  /// The signature of a revocation list of version 2 (RFC 5280, 5.1.1.2).
  init?(crl: OpaquePointer, der: [UInt8]) {
    var bits: UnsafePointer<ASN1_BIT_STRING>?
    X509_CRL_get0_signature(crl, &bits, nil)
    self.init(bits, nid: X509_CRL_get_signature_nid(crl), der: der)
    guard namesItsAlgorithm(der, after: toBeSigned) else { return nil }
  }

  private init?(_ bits: UnsafePointer<ASN1_BIT_STRING>?, nid: Int32, der: [UInt8]) {
    guard let bits, let algorithm = Algorithm(nid: nid), let value = wholeBytes(bits),
      let toBeSigned = signedRange(of: der)
    else { return nil }
    self.algorithm = algorithm
    self.value = value
    self.toBeSigned = toBeSigned
  }

  /// True if the signature verifies over the object's own bytes. The key's curve must fit the algorithm.
  func isValid(in der: [UInt8], key: PublicKey) -> Bool {
    switch algorithm {
    case .ecdsa(let hash):
      der.withUnsafeBytes { der in
        value.withUnsafeBufferPointer {
          key.verifyECDSA(der: $0, of: UnsafeRawBufferPointer(rebasing: der[toBeSigned]), hash: hash)
        }
      }
    case .ed25519: key.curve == .ed25519 && key.verifyEdDSA(value, of: der[toBeSigned])
    case .ed448: key.curve == .ed448 && key.verifyEdDSA(value, of: der[toBeSigned])
    }
  }
}

func wholeBytes(_ bits: UnsafePointer<ASN1_BIT_STRING>) -> [UInt8]? {
  // The lowest three flags count the unused bits.
  bits.pointee.flags & 0x07 == 0 ? octets(bits) : nil
}

/// The range of TBSCertificate or TBSCertList: the first element inside the object, including its head, of definite
/// length.
private func signedRange(of der: [UInt8]) -> Range<Int>? {
  der.withUnsafeBufferPointer { buffer in
    guard let start = buffer.baseAddress, let certificate = content(from: start, count: buffer.count),
      let signed = content(from: certificate.start, count: certificate.count)
    else { return nil }
    let begin = certificate.start - start
    return begin..<(signed.start - start + signed.count)
  }
}

/// True if TBSCertList of version 2 has the same algorithm as the field after it. OpenSSL gives no access to the
/// algorithm inside TBSCertList.
private func namesItsAlgorithm(_ der: [UInt8], after signed: Range<Int>) -> Bool {
  der.withUnsafeBufferPointer { buffer in
    guard let start = buffer.baseAddress,
      let list = content(from: start + signed.lowerBound, count: signed.count),
      let following = content(from: start + signed.upperBound, count: buffer.count - signed.upperBound)
    else { return false }
    let version: [UInt8] = [0x02, 0x01, 0x01]
    let algorithm = UnsafeBufferPointer(
      start: start + signed.upperBound, count: following.start - start - signed.upperBound + following.count)
    return UnsafeBufferPointer(start: list.start, count: list.count).starts(with: version + algorithm)
  }
}

private func content(from start: UnsafePointer<UInt8>, count: Int) -> (start: UnsafePointer<UInt8>, count: Int)? {
  var position: UnsafePointer<UInt8>? = start
  var length = 0
  var tag: Int32 = 0
  var tagClass: Int32 = 0
  // The result is a set of flags: 0x80 for an error, 0x20 for a constructed element, 0x01 for an indefinite length.
  let form = ASN1_get_object(&position, &length, &tag, &tagClass, count)
  guard form == 0x20, tag == V_ASN1_SEQUENCE, tagClass == V_ASN1_UNIVERSAL, let position else { return nil }
  return (position, length)
}
