import Base
import CBOR
import Compression
import Cryptography

/// The signer of a status list to be: a key and a certificate as ISO/IEC 18013-5, second edition, B.9 has it.
struct ListSigner: Sendable {
  var key: PrivateKey
  var certificate: CertificateTemplate
  /// The key that signs the certificate.
  var issuerKey: PrivateKey
  /// Certificates that follow the signer's in x5chain, DER.
  var further: [[UInt8]] = []

  /// Its validity begins with a calendar month, so that the certificate is the same for all lists of a month.
  init(authority: MockAuthority, under issuer: CertificateIssuer, at now: Timestamp) throws {
    key = try authority.seed.key("status list signer", on: authority.issuerCurve)
    issuerKey = issuer.key
    let start = (now - 60 * Seconds.day).date
    let from = Timestamp(date: FullDate(year: start.year, month: start.month, day: 1) ?? start)
    certificate = CertificateTemplate(
      issuer: issuer.name, notBefore: from, notAfter: from + 1_000 * Seconds.day - 1,
      subject: authority.name("mdoc Mock Status List Signer"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(issuer.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)),
        .keyUsage(.digitalSignature),
        .mockMarker,
      ])
  }

  /// Leaf first, DER.
  func chain() throws -> [[UInt8]] { [try certificate.signed(by: issuerKey)] + further }

  /// One certificate as a byte string, several as an array (RFC 9360).
  func x5chain() throws -> CBORValue {
    let chain = try chain()
    return chain.count == 1 ? .bytes(chain[0]) : .array(chain.map { .bytes($0) })
  }
}

/// Entries of `bits` bits, the first in the lowest bits, as a zlib stream (Token Status List, 4.1).
func packedStatuses(_ entries: [UInt8], bits: Int) throws -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: (entries.count * bits + 7) / 8)
  for (index, entry) in entries.enumerated() {
    bytes[index * bits / 8] |= entry << UInt8(index * bits % 8)
  }
  return try Deflation.deflate(bytes)
}
