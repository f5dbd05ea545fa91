import Base
import Cryptography
import FoundationEssentials

/// Encrypts challenge material, waiting and retained results, and stored replies at rest. Uses AES-256-GCM with a
/// random 96-bit nonce. The session id and the field's name are additional data, so that a sealed field cannot be
/// opened as another field. The first key seals new data. Every configured key can open data.
///
///     version (2) ‖ length of key id ‖ key id ‖ nonce (12) ‖ ciphertext ‖ tag (16)
///
/// Random nonces are safe for 2³² seals under one key (NIST SP 800-38D, 8.3). Each session therefore has its own key,
/// derived from the configured key. So does each stored reply without a session. Data of version 1 is sealed directly
/// under the configured key, and can still be opened.
package struct Sealer: Sendable {
  /// The bytes cannot be opened: the format, the key or the field does not match.
  package struct OpenError: Error, Sendable {}

  private static let version: UInt8 = 2
  private static let firstVersion: UInt8 = 1
  private let sealing: SealingKey
  private let all: [SealingKey]

  package init(_ keys: [SealingKey]) throws(ConfigurationError) {
    guard let first = keys.first else { throw ConfigurationError("there is no sealing key") }
    guard Set(keys.map(\.id)).count == keys.count else { throw ConfigurationError("duplicate id of sealing keys") }
    sealing = first
    all = keys
  }

  func seal(_ plaintext: borrowing SecretBytes, _ field: Field) throws(CryptoError) -> [UInt8] {
    try plaintext.withUnsafeBytes { bytes throws(CryptoError) in try seal(bytes, field) }
  }

  func seal(_ plaintext: some ContiguousBytes, _ field: Field) throws(CryptoError) -> [UInt8] {
    let nonce = try Random.bytes(AESGCM.nonceLength)
    let header = [Self.version, UInt8(sealing.id.utf8.count)] + Array(sealing.id.utf8)
    let key = try Self.key(of: field, under: sealing)
    return header + nonce + (try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: field.bytes))
  }

  func open(_ sealed: [UInt8], _ field: Field) throws(OpenError) -> SecretBytes {
    guard sealed.count > 2, [Self.firstVersion, Self.version].contains(sealed[0]) else { throw OpenError() }
    let nonceStart = 2 + Int(sealed[1])
    let start = nonceStart + AESGCM.nonceLength
    guard sealed.count >= start + AESGCM.tagLength,
      let key = all.first(where: { $0.id.utf8.elementsEqual(sealed[2..<nonceStart]) })
    else { throw OpenError() }
    let content = Array(sealed[start...])
    let nonce = Array(sealed[nonceStart..<start])
    do {
      guard sealed[0] != Self.firstVersion else {
        return try AESGCM.openSecret(content, key: key.key, nonce: nonce, additionalData: field.bytes)
      }
      return try AESGCM.openSecret(
        content, key: Self.key(of: field, under: key), nonce: nonce, additionalData: field.bytes)
    } catch { throw OpenError() }
  }

  /// Derives the key of the field's owner from the configured key with HKDF (RFC 5869).
  private static func key(of field: Field, under key: SealingKey) throws(CryptoError) -> SecretBytes {
    try HKDF.expand(key.pseudorandomKey, info: field.owner, length: SealingKey.length)
  }

  enum Field {
    case challenge(SessionID, protocolName: String)
    case result(SessionID)
    case retainedResult(SessionID)
    case reply(IdempotencyClaim, SessionID?)
    case replyResult(IdempotencyClaim, SessionID?)

    var bytes: [UInt8] {
      switch self {
      case .challenge(let id, let name): Self.join(id, "challenge", Array(name.utf8))
      case .result(let id): Self.join(id, "result", [])
      case .retainedResult(let id): Self.join(id, "retained_result", [])
      case .reply(let claim, let id): Self.join(id, "reply", claim.scope)
      case .replyResult(let claim, let id): Self.join(id, "reply_result", claim.scope)
      }
    }

    /// The field's owner: the session or, for a reply without a session, the request.
    var owner: [UInt8] {
      switch self {
      case .challenge(let id, _), .result(let id), .retainedResult(let id), .reply(_, let id?),
        .replyResult(_, let id?):
        Array("session".utf8) + [0] + Array(id.text.utf8)
      case .reply(let claim, nil), .replyResult(let claim, nil): Array("request".utf8) + [0] + claim.scope
      }
    }

    /// Ids and field names contain no zero byte.
    private static func join(_ id: SessionID?, _ name: String, _ rest: [UInt8]) -> [UInt8] {
      Array((id?.text ?? "").utf8) + [0] + Array(name.utf8) + [0] + rest
    }
  }
}

/// An AES-256 key for data at rest, with its id.
package final class SealingKey: Sendable {
  package static let length = 32
  package let id: String
  let key: SecretBytes
  /// HKDF-Extract of the key. The keys of sessions and replies are expanded from it.
  let pseudorandomKey: SecretBytes
  private static let salt = Array("mdoc sealing".utf8)

  package init(id: String, key: consuming SecretBytes) throws(ConfigurationError) {
    guard (1...64).contains(id.utf8.count) else { throw ConfigurationError("a sealing key's id has 1 to 64 bytes") }
    guard key.count == Self.length else { throw ConfigurationError("sealing key \"\(id)\" must have 32 bytes") }
    guard let extracted = try? HKDF.extract(key, salt: Self.salt) else {
      throw ConfigurationError("sealing key \"\(id)\" cannot be used: OpenSSL failed")
    }
    self.id = id
    self.key = key
    pseudorandomKey = extracted
  }

  /// Reads a key's file: 32 raw bytes, or text. White space at the end is ignored.
  package static func secret(in content: UnsafeRawBufferPointer) -> SecretBytes? {
    if content.count == length { return SecretBytes(copying: content) }
    let text = content.withoutTrailingSpace
    let decoded =
      if text.count == 2 * length {
        SecretBytes.decoding(hex: text)
      } else if let bytes = SecretBytes.decoding(base64: text) {
        bytes
      } else {
        SecretBytes.decoding(base64URLSafe: text)
      }
    guard let bytes = decoded, bytes.count == length else { return nil }
    return bytes
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes without the white space that editors and shells leave at the end.
  var withoutTrailingSpace: UnsafeRawBufferPointer {
    let end = lastIndex { ![0x20, 0x0a, 0x0d, 0x09].contains($0) }.map { $0 + 1 } ?? 0
    return UnsafeRawBufferPointer(rebasing: self[..<end])
  }
}

/// The plaintext of a result, with the hash of the response code if reading requires one.
enum KeptResult {
  private static let hashMember = "response_code_sha256"

  static func encode(_ result: JSON, for code: ResponseCodeHash?) -> JSON {
    guard let code else { return result }
    return [hashMember: .string(Hex.encode(code.bytes)), "result": result]
  }

  /// The result, if the presented code is the submitting browser's code.
  /// - Throws: `session.response_code_mismatch` if the code differs or is missing, or if a code is presented for a
  ///   result without one.
  static func decode(_ form: JSON, presenting code: String?) throws(ServiceError) -> JSON {
    guard let expected = form[hashMember]?.string.flatMap(Hex.decode), let result = form["result"] else {
      guard code == nil else { throw ServiceError(.responseCodeMismatch) }
      return form
    }
    guard let code, constantTimeEqual(ResponseCodeHash(of: code).bytes, expected) else {
      throw ServiceError(.responseCodeMismatch)
    }
    return result
  }
}
