import Cryptography

/// Seals what must not be readable at rest: challenge material, waiting and retained results, kept replies.
///
/// AES-256-GCM with a random 96-bit nonce; the session id and the field's name are additional data, so that a sealed
/// field opens in its own place only (HTTP API, Sealing). The first key seals, all open.
///
///     version (1) ‖ length of key id ‖ key id ‖ nonce (12) ‖ ciphertext ‖ tag (16)
public struct Sealer: Sendable {
  /// The bytes are not sealed in this format, by a configured key, for this place.
  public struct OpenError: Error, Sendable {}

  private static let version: UInt8 = 1
  private let sealing: SealingKey
  private let all: [SealingKey]

  public init(_ keys: [SealingKey]) throws(ConfigurationError) {
    guard let first = keys.first else { throw ConfigurationError("there is no sealing key") }
    guard Set(keys.map(\.id)).count == keys.count else {
      throw ConfigurationError("sealing keys have different ids")
    }
    sealing = first
    all = keys
  }

  func seal(_ plaintext: borrowing SecretBytes, _ place: Place) throws(CryptoError) -> [UInt8] {
    try seal(plaintext.exposed(), place)
  }

  func seal(_ plaintext: [UInt8], _ place: Place) throws(CryptoError) -> [UInt8] {
    let nonce = try Random.bytes(AESGCM.nonceLength)
    let header = [Self.version, UInt8(sealing.id.utf8.count)] + Array(sealing.id.utf8)
    let sealed = try AESGCM.seal(plaintext, key: sealing.key, nonce: nonce, additionalData: place.bytes)
    return header + nonce + sealed
  }

  func open(_ sealed: [UInt8], _ place: Place) throws(OpenError) -> [UInt8] {
    guard sealed.count > 2, sealed[0] == Self.version else { throw OpenError() }
    let nonceStart = 2 + Int(sealed[1])
    let start = nonceStart + AESGCM.nonceLength
    guard sealed.count >= start + AESGCM.tagLength,
      let key = all.first(where: { $0.id.utf8.elementsEqual(sealed[2..<nonceStart]) })
    else { throw OpenError() }
    do {
      return try AESGCM.open(
        Array(sealed[start...]), key: key.key, nonce: Array(sealed[nonceStart..<start]), additionalData: place.bytes)
    } catch {
      throw OpenError()
    }
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

    /// Ids and field names hold no zero byte, which parts them.
    private static func join(_ id: SessionID?, _ field: String, _ rest: [UInt8]) -> [UInt8] {
      Array((id?.text ?? "").utf8) + [0] + Array(field.utf8) + [0] + rest
    }
  }
}
