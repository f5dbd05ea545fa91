import Base
import Cryptography
import Sessions

/// Reads keys: sealing keys, the merchants' private keys and the readers' private keys.
extension ConfiguredSecrets {
  /// The fewest different values among the bytes of a key. 32 random bytes have fewer than this about once in 2⁸⁰.
  private static let leastDistinctBytes = 12

  /// Reads `sealing_keys`. The first key seals, all open. The schema requires at least one.
  func sealingKeys(_ root: Schema.Object) throws(Schema.Fault) -> [SealingKey] {
    var ids: Set<String> = []
    var keys: [SealingKey] = []
    for entry in try root.objects("sealing_keys") {
      let id = entry.attempt(try entry.text("id"))
      if let id, !ids.insert(id).inserted {
        file.reading.note(entry.fault("id", "\"\(id)\" is there twice"))
      }
      let key = entry.attempt(try keySecret(of: "file", in: entry))
      guard let id, let key, let sealing = entry.attempt(try sealingKey(id, key, entry)) else { continue }
      keys.append(sealing)
    }
    return keys
  }

  /// Reads the 32 bytes of a sealing or evidence key.
  func keySecret(of member: String, in entry: Schema.Object) throws(Schema.Fault) -> SharedSecret {
    let secret = try secret(entry.required(member), at: "\(entry.pointer)/\(member)")
    // 32 characters in a variable are text that somebody made up, not random bytes.
    guard !secret.isVariable || secret.bytes.count != SealingKey.length,
      let bytes = secret.bytes.withUnsafeBytes({ SealingKey.secret(in: $0) })
    else {
      throw entry.fault(
        member, "\(secret.name) has neither 32 bytes nor their hex or base64 text; mdoc keys generate makes one")
    }
    guard bytes.withUnsafeBytes({ Set($0).count }) >= Self.leastDistinctBytes else {
      throw entry.fault(member, "\(secret.name) holds a placeholder, not 32 random bytes")
    }
    return SharedSecret(bytes)
  }

  private func sealingKey(
    _ id: String, _ key: SharedSecret, _ entry: Schema.Object
  ) throws(Schema.Fault) -> SealingKey {
    do throws(ConfigurationError) {
      return try SealingKey(id: id, key: key.bytes.withUnsafeBytes { SecretBytes(copying: $0) })
    } catch {
      throw entry.fault("id", error.message)
    }
  }

  /// Reads a PEM private key on P-256, the curve of Apple's encryption certificates.
  func encryptionKey(_ json: JSON, at pointer: String) throws(Schema.Fault) -> PrivateKey {
    let source = try key(
      json, at: pointer, in: ConfigurationSchema.merchantVariable, ConfigurationSchema.merchantFile)
    return try key(source, at: pointer, "P-256 private key") { $0.curve == .p256 }
  }

  /// Reads a PEM private key on a curve that can sign.
  func signingKey(_ json: JSON, at pointer: String) throws(Schema.Fault) -> PrivateKey {
    try key(key(json, at: pointer), at: pointer, "private key for signatures") {
      $0.curve.family != .montgomery
    }
  }

  private func key(
    _ source: Key, at pointer: String, _ what: String, _ isGood: (PrivateKey) -> Bool
  ) throws(Schema.Fault) -> PrivateKey {
    let name = source.secret.name
    let key: PrivateKey
    do throws(CryptoError) {
      key = try source.secret.bytes.withUnsafeBytes { pem throws(CryptoError) in
        guard let passphrase = source.passphrase else { return try PrivateKey(pem: pem) }
        return try PrivateKey(pem: pem, passphrase: passphrase.withoutLineEnd())
      }
    } catch {
      switch error {
      case .passphraseRequired:
        throw Schema.Fault(pointer, "\(name) is encrypted; give {\"file\": \"…\", \"passphrase\": {\"env\": \"NAME\"}}")
      case .passphraseWrong:
        throw Schema.Fault(pointer + "/passphrase", "does not decrypt \(name): the wrong passphrase, or a damaged key")
      case .passphraseTooCostly:
        throw Schema.Fault(
          pointer,
          "\(name) asks for more than \(Limits.passphraseRounds) rounds before a passphrase can be tried; encrypt it "
            + "with fewer: openssl pkcs8 -topk8 -iter 600000")
      default: throw Schema.Fault(pointer, "\(name) is no \(what) in PEM")
      }
    }
    guard isGood(key) else { throw Schema.Fault(pointer, "\(name) is no \(what) in PEM") }
    return key
  }
}
