import Base
import Cryptography
import PKIX
import Sessions

/// Keys from files.
enum KeyFile {
  /// A private key: PEM (PKCS #8 or SEC 1, not encrypted), or the 32 bytes of a P-256 scalar in hexadecimal, as Apple
  /// publishes the key of its sample.
  static func privateKey(_ path: String) throws(Failure) -> PrivateKey {
    let bytes = try FileAccess.read(path, purpose: "key")
    if let key = try? PrivateKey(pem: bytes) { return key }
    if let scalar = Hex.decode(String(decoding: bytes, as: UTF8.self)), scalar.count == 32,
      let key = try? PrivateKey(curve: .p256, scalar: scalar)
    {
      return key
    }
    throw .unreadable("key \(path): is neither an unencrypted private key in PEM nor a P-256 scalar in hexadecimal")
  }

  /// Private keys that Apple's in-app answers can be encrypted to.
  static func encryptionKeys(_ paths: [String]) throws(Failure) -> [PrivateKey] {
    var keys: [PrivateKey] = []
    for path in paths {
      let key = try privateKey(path)
      guard key.curve == .p256 else {
        throw .unreadable("key \(path): is on \(key.curve.rawValue); Apple encrypts to P-256 keys")
      }
      keys.append(key)
    }
    return keys
  }

  /// A key of 32 bytes as `mdoc keys generate --type sealing` writes it.
  static func evidenceKey(_ path: String) throws(Failure) -> EvidenceKey {
    let content = SecretBytes(copying: try FileAccess.read(path, purpose: "key"))
    guard let secret = content.withUnsafeBytes({ SealingKey.secret(in: $0) }), let key = try? EvidenceKey(secret) else {
      throw .unreadable("key \(path): has neither 32 bytes nor their hexadecimal or base64 text")
    }
    return key
  }

  /// The public key of a certificate, of a public key, or of a private key's pair.
  static func publicKey(_ path: String) throws(Failure) -> PublicKey {
    let bytes = try FileAccess.read(path, purpose: "key")
    let text = String(decoding: bytes, as: UTF8.self)
    if let der = PEM.certificates(in: text)?.first {
      guard let key = (try? Certificate(der: der))?.publicKey else {
        throw .unreadable("key \(path): is a certificate without a key on one of mdoc's curves")
      }
      return key
    }
    if let key = p256PublicKey(pem: text) ?? (try? privateKey(path))?.publicKey { return key }
    throw .unreadable("key \(path): is no certificate, P-256 public key or unencrypted private key in PEM")
  }

  /// `SubjectPublicKeyInfo` of an uncompressed P-256 point, the only public keys that Apple's merchants have.
  private static func p256PublicKey(pem: String) -> PublicKey? {
    let lines = pem.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace || $0 == " " } }
    guard let start = lines.firstIndex(of: "-----BEGIN PUBLIC KEY-----"),
      let end = lines.firstIndex(of: "-----END PUBLIC KEY-----"), start < end,
      let der = Base64.decode(lines[(start + 1)..<end].joined()), der.starts(with: PublicKey.p256InfoPrefix)
    else { return nil }
    return try? PublicKey(curve: .p256, encoded: der.dropFirst(PublicKey.p256InfoPrefix.count))
  }
}
