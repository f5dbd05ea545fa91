import Base
import Cryptography

/// The key that seals the evidence of one relying party, and opens it again where it is judged: AES-256-GCM with a
/// random 96-bit nonce.
///
///     "mdoc-evidence" ‖ version (1) ‖ key id (8) ‖ nonce (12) ‖ ciphertext ‖ tag (16)
///
/// A bundle holds personal data and the keys of the answered session, so it is sealed for as long as it lies anywhere,
/// and what leaves the server is what the store has. The key is not the store's: whoever has to judge a bundle gets this
/// key, which opens nothing else. A bundle that opens was made by somebody with the key and is unchanged; that the answer
/// is genuine its own signatures prove anew. The server never needs to open one.
package final class EvidenceKey: Sendable, Hashable {
  package static let length = 32
  static let version: UInt8 = 1
  private static let mark = Array("mdoc-evidence".utf8)
  private static let idLength = 8

  /// What a bundle names it by; it says nothing of the key.
  private let id: [UInt8]
  private let key: SecretBytes

  package init(_ key: consuming SecretBytes) throws(ConfigurationError) {
    guard key.count == Self.length else { throw ConfigurationError("an evidence key has not 32 bytes") }
    id = Self.id(of: key)
    self.key = key
  }

  private static func id(of key: borrowing SecretBytes) -> [UInt8] {
    Array(HMAC.authenticate(Array("mdoc evidence key".utf8), key: key, hash: .sha256).prefix(idLength))
  }

  /// Whether whoever opens bundles could open the store as well.
  package func isSame(as sealingKey: SealingKey) -> Bool { id == Self.id(of: sealingKey.key) }

  package static func == (left: EvidenceKey, right: EvidenceKey) -> Bool { left.id == right.id }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }

  func seal(_ plaintext: [UInt8]) throws(CryptoError) -> [UInt8] {
    let header = Self.mark + [Self.version] + id
    let nonce = try Random.bytes(AESGCM.nonceLength)
    return header + nonce + (try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: header))
  }

  /// The content of a bundle that one of the keys sealed.
  static func open(_ sealed: [UInt8], with keys: [EvidenceKey]) throws(EvidenceFault) -> [UInt8] {
    guard sealed.count <= Limits.evidenceBytes else {
      throw EvidenceFault(.evidenceTooLarge, "more than \(Limits.evidenceBytes) bytes")
    }
    guard sealed.starts(with: mark), sealed.count > mark.count else { throw EvidenceFault(.evidenceMalformed) }
    guard sealed[mark.count] == version else {
      throw EvidenceFault(.evidenceVersionUnsupported, "version \(sealed[mark.count]); this program reads \(version)")
    }
    let nonceStart = mark.count + 1 + idLength
    let start = nonceStart + AESGCM.nonceLength
    guard sealed.count >= start + AESGCM.tagLength else { throw EvidenceFault(.evidenceMalformed, "it is cut short") }
    guard let key = keys.first(where: { $0.id.elementsEqual(sealed[(mark.count + 1)..<nonceStart]) }) else {
      throw EvidenceFault(.evidenceKeyMismatch)
    }
    do {
      return try AESGCM.open(
        Array(sealed[start...]), key: key.key, nonce: Array(sealed[nonceStart..<start]),
        additionalData: Array(sealed[..<nonceStart]))
    } catch {
      throw EvidenceFault(.evidenceSealBroken)
    }
  }
}

/// Why a bundle cannot be judged, or what it comes to.
package struct EvidenceFault: Error, Sendable, Hashable {
  package let code: Code
  package let detail: String?

  init(_ code: Code, _ detail: String? = nil) {
    self.code = code
    self.detail = detail
  }
}
