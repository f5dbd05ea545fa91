import Cryptography
import Primitives
import VerificationService

/// Reads key files: sealing keys, the merchants' private keys and the readers'.
struct SecretFiles {
  let file: ConfigurationFile

  /// Of 32 random bytes, fewer than twelve different ones come about once in 2⁸⁰.
  private static let leastDistinctBytes = 12

  /// Live mode needs one: the first seals, all open.
  func sealingKeys(_ root: ConfigurationReader, _ warnings: inout [String]) throws(StartError) -> [SealingKey] {
    var keys: [SealingKey] = []
    for entry in try root.objects("sealing_keys", isRequired: true, known: ["id", "file"]) {
      let name = try entry.string("file")
      let id = try entry.string("id")
      guard !keys.contains(where: { $0.id == id }) else { throw entry.fault("id", "\"\(id)\" is there twice") }
      guard let bytes = Self.keyBytes(try file.read(name, at: entry.pointer + "/file")) else {
        throw entry.fault("file", "\(file.resolve(name)) has neither 32 bytes nor their hex or base64 text")
      }
      guard Set(bytes).count >= Self.leastDistinctBytes else {
        throw entry.fault("file", "\(file.resolve(name)) holds a placeholder, not 32 random bytes")
      }
      warn(name, &warnings)
      do throws(ConfigurationError) {
        keys.append(try SealingKey(id: id, key: SecretBytes(copying: bytes)))
      } catch {
        throw entry.fault("id", error.message)
      }
    }
    return keys
  }

  /// An unencrypted PEM private key on P-256, as Apple's encryption certificates have.
  func encryptionKey(
    _ name: String, of entry: ConfigurationReader, member: String, _ warnings: inout [String]
  ) throws(StartError) -> PrivateKey {
    let pem = try file.read(name, at: "\(entry.pointer)/\(member)")
    guard let key = try? PrivateKey(pem: pem), key.curve == .p256 else {
      throw entry.fault(member, "\(file.resolve(name)) is no unencrypted P-256 private key in PEM")
    }
    warn(name, &warnings)
    return key
  }

  /// An unencrypted PEM private key on a curve that signs.
  func signingKey(
    _ name: String, of entry: ConfigurationReader, member: String, _ warnings: inout [String]
  ) throws(StartError) -> PrivateKey {
    let pem = try file.read(name, at: "\(entry.pointer)/\(member)")
    guard let key = try? PrivateKey(pem: pem), key.curve.family != .montgomery else {
      throw entry.fault(member, "\(file.resolve(name)) is no unencrypted private key for signatures in PEM")
    }
    warn(name, &warnings)
    return key
  }

  private func warn(_ name: String, _ warnings: inout [String]) {
    guard file.isReadableByOthers(name) else { return }
    warnings.append("\(file.resolve(name)): every user of this machine can read this key")
  }

  /// 32 raw bytes; or text, in which white space at the end does not count.
  static func keyBytes(_ content: [UInt8]) -> [UInt8]? {
    if content.count == SealingKey.length { return content }
    let isSpace: (UInt8) -> Bool = { [0x20, 0x0a, 0x0d, 0x09].contains($0) }
    let end = content.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? 0
    guard let text = String(validating: content[..<end], as: UTF8.self) else { return nil }
    let bytes = text.utf8.count == 2 * SealingKey.length ? Hex.decode(text) : Base64.decodeEither(text)
    return bytes?.count == SealingKey.length ? bytes : nil
  }
}
