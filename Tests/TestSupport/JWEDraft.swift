import Base
import Cryptography

/// A JWE for a verifier, ECDH-ES direct (RFC 7518, 4.6), with any part changed. It is written independently of the
/// reader, including key derivation.
public struct JWEDraft: Sendable {
  public var header: [JSON.Member]
  public var encryptedKey: [UInt8] = []
  public var changeParts: @Sendable (inout [String]) -> Void = { _ in }
  private let recipient: PublicKey
  private let ephemeral: PrivateKey

  public init(to recipient: PublicKey, keyID: String?, encryption: String = "A128GCM") throws {
    self.recipient = recipient
    ephemeral = try PrivateKey(generatingOn: recipient.curve)
    header = [JSON.Member("alg", "ECDH-ES"), JSON.Member("enc", .string(encryption))]
    if let keyID { header.append(JSON.Member("kid", .string(keyID))) }
    header.append(JSON.Member("epk", Self.webKey(ephemeral.publicKey)))
  }

  /// A parameter of the header, set, replaced or (nil) left out.
  public subscript(name: String) -> JSON? {
    get { header.first { $0.name == name }?.value }
    set {
      header.removeAll { $0.name == name }
      if let newValue { header.append(JSON.Member(name, newValue)) }
    }
  }

  public func encrypt(_ plaintext: [UInt8]) throws -> String {
    let protected = Base64.encodeURLSafe(JSON.object(header).serialized())
    let nonce = try Random.bytes(12)
    let sealed = try AESGCM.seal(plaintext, key: contentKey(), nonce: nonce, additionalData: Array(protected.utf8))
    var parts = [protected] + [encryptedKey, nonce, sealed.dropLast(16), sealed.suffix(16)].map(Base64.encodeURLSafe)
    changeParts(&parts)
    return parts.joined(separator: ".")
  }

  /// One round of Concat KDF: at most 256 bits are needed.
  private func contentKey() throws -> SecretBytes {
    let encryption = self["enc"]?.string ?? ""
    let length = encryption == "A128GCM" ? 16 : 32
    let parties = ["apu", "apv"].map { self[$0]?.string.flatMap(Base64.decodeURLSafe) ?? [] }
    let secret = try ephemeral.sharedSecret(with: recipient).exposed()
    var input: [UInt8] = [0, 0, 0, 1] + secret
    for field in [Array(encryption.utf8)] + parties {
      input += [0, 0, UInt8(field.count / 256), UInt8(field.count % 256)] + field
    }
    let bits = length * 8
    input += [0, 0, UInt8(bits / 256), UInt8(bits % 256)]
    return SecretBytes(copying: HashAlgorithm.sha256.hash(input).prefix(length).map { $0 })
  }

  public static func webKey(_ key: PublicKey) -> JSON {
    let x = key.coordinates.map { Array($0.x) } ?? key.encoded
    let members: KeyValuePairs<String, JSON?> = [
      "kty": key.coordinates == nil ? "OKP" : "EC", "crv": .string(key.curve.rawValue),
      "x": .string(Base64.encodeURLSafe(x)),
      "y": key.coordinates.map { .string(Base64.encodeURLSafe($0.y)) },
    ]
    return .members(members)
  }
}
