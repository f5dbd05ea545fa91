import Base
import Cryptography
import FoundationEssentials

/// Seals what must not be readable at rest: challenge material, waiting and retained results, kept replies.
///
/// AES-256-GCM with a random 96-bit nonce; the session id and the field's name are additional data, so that a sealed
/// field opens in its own place only (HTTP API, Sealing). The first key seals, all open.
///
///     version (2) ‖ length of key id ‖ key id ‖ nonce (12) ‖ ciphertext ‖ tag (16)
///
/// Random nonces are safe for 2³² seals under one key (NIST SP 800-38D, 8.3). Each session has a key of its own, derived
/// from the configured one, that seals a handful of fields; so has each kept reply that belongs to no session. What
/// version 1 sealed, under the configured key itself, still opens.
package struct Sealer: Sendable {
  /// The bytes are not sealed in this format, by a configured key, for this place.
  package struct OpenError: Error, Sendable {}

  private static let version: UInt8 = 2
  private static let firstVersion: UInt8 = 1
  private static let salt = Array("mdoc sealing".utf8)
  private let sealing: SealingKey
  private let all: [SealingKey]

  package init(_ keys: [SealingKey]) throws(ConfigurationError) {
    guard let first = keys.first else { throw ConfigurationError("there is no sealing key") }
    guard Set(keys.map(\.id)).count == keys.count else {
      throw ConfigurationError("sealing keys have different ids")
    }
    sealing = first
    all = keys
  }

  func seal(_ plaintext: borrowing SecretBytes, _ place: Place) throws(CryptoError) -> [UInt8] {
    try plaintext.withUnsafeBytes { bytes throws(CryptoError) in try seal(bytes, place) }
  }

  func seal(_ plaintext: some ContiguousBytes, _ place: Place) throws(CryptoError) -> [UInt8] {
    let nonce = try Random.bytes(AESGCM.nonceLength)
    let header = [Self.version, UInt8(sealing.id.utf8.count)] + Array(sealing.id.utf8)
    let key = try Self.key(of: place, under: sealing)
    return header + nonce + (try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: place.bytes))
  }

  func open(_ sealed: [UInt8], _ place: Place) throws(OpenError) -> SecretBytes {
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
        return try AESGCM.openSecret(content, key: key.key, nonce: nonce, additionalData: place.bytes)
      }
      return try AESGCM.openSecret(
        content, key: Self.key(of: place, under: key), nonce: nonce, additionalData: place.bytes)
    } catch {
      throw OpenError()
    }
  }

  /// HKDF (RFC 5869) over the configured key, for what the place belongs to.
  private static func key(of place: Place, under key: SealingKey) throws(CryptoError) -> SecretBytes {
    try HKDF.deriveKey(from: key.key, salt: salt, info: place.owner, length: SealingKey.length)
  }

  /// The one place where a sealed value belongs.
  enum Place {
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

    /// What has a key of its own: the session, or the request whose reply belongs to none.
    var owner: [UInt8] {
      switch self {
      case .challenge(let id, _), .result(let id), .retainedResult(let id), .reply(_, let id?),
        .replyResult(_, let id?):
        Array("session".utf8) + [0] + Array(id.text.utf8)
      case .reply(let claim, nil), .replyResult(let claim, nil): Array("request".utf8) + [0] + claim.scope
      }
    }

    /// Ids and field names hold no zero byte, which parts them.
    private static func join(_ id: SessionID?, _ field: String, _ rest: [UInt8]) -> [UInt8] {
      Array((id?.text ?? "").utf8) + [0] + Array(field.utf8) + [0] + rest
    }
  }
}

/// An AES-256 key for data at rest, with the id that sealed data name it by.
package final class SealingKey: Sendable {
  package static let length = 32
  package let id: String
  let key: SecretBytes

  package init(id: String, key: consuming SecretBytes) throws(ConfigurationError) {
    guard (1...64).contains(id.utf8.count) else {
      throw ConfigurationError("a sealing key's id has 1 to 64 bytes")
    }
    guard key.count == Self.length else {
      throw ConfigurationError("sealing key \"\(id)\" has not 32 bytes")
    }
    self.id = id
    self.key = key
  }

  /// What a key's file holds: 32 raw bytes, or text, in which white space at the end does not count.
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
  /// What editors and shells leave at the end of a text does not count.
  var withoutTrailingSpace: UnsafeRawBufferPointer {
    let end = lastIndex { ![0x20, 0x0a, 0x0d, 0x09].contains($0) }.map { $0 + 1 } ?? 0
    return UnsafeRawBufferPointer(rebasing: self[..<end])
  }
}

/// How a result is written before it is sealed: by itself; or, where only the browser that answered may have it read,
/// with its response code's hash.
enum KeptResult {
  private static let hashMember = "response_code_sha256"

  static func encode(_ result: JSON, for code: ResponseCodeHash?) -> JSON {
    guard let code else { return result }
    return [hashMember: .string(Hex.encode(code.bytes)), "result": result]
  }

  /// The result, if the presented code is that of the browser that answered.
  ///
  /// - Throws: `session.response_code_mismatch` if it is another, if one is missing, or if one is presented though there
  ///   is none.
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
