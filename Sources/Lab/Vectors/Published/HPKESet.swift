import Base
import Cryptography

/// The test vectors of RFC 9180, of which this project has one suite in base mode.
struct HPKESet: PublishedSet {
  let name = "hpke"

  private static let file = "rfc9180-vectors-trimmed.json"
  private static let ours = "mode 0, KEM 0x0010, KDF 0x0001, AEAD 0x0001"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.file) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    (try folder.json(Self.file).array ?? []).enumerated().map { index, vector in
      let suite = Self.suite(of: vector)
      return PublishedCase(
        part: "", id: "\(index + 1)", description: "\(suite).", reference: "RFC 9180, 6.1",
        flag: VectorFlag("HPKE", .interoperability), expectation: .accepted,
        judge: { suite == Self.ours ? Self.finding(on: vector) : .skipped("another suite than that of \(Self.ours)") })
    }
  }

  private static func suite(of vector: JSON) -> String {
    func hex(_ name: String) -> String {
      let value = UInt16(truncatingIfNeeded: vector[name]?.integer ?? 0)
      return "0x" + Hex.encode([UInt8(value >> 8), UInt8(value & 0xff)])
    }
    return "mode \(vector["mode"]?.integer ?? -1), KEM \(hex("kem_id")), KDF \(hex("kdf_id")), AEAD \(hex("aead_id"))"
  }

  private static func finding(on vector: JSON) -> PublishedCase.Finding {
    let messages = vector["encryptions"]?.array ?? []
    guard let recipient = try? PrivateKey(curve: .p256, scalar: vector.hex("skRm")),
      let ephemeral = try? PrivateKey(curve: .p256, scalar: vector.hex("skEm")), let first = messages.first
    else { return .other("its keys are refused") }
    let (hpke, info) = (HPKE.p256SHA256AES128GCM, vector.hex("info"))
    func opened(_ message: JSON) -> [UInt8]? {
      try? hpke.open(
        message.hex("ct"), encapsulatedKey: vector.hex("enc"), recipient: recipient, info: info,
        additionalData: message.hex("aad"))
    }
    let sealed = try? hpke.seal(
      first.hex("pt"), to: recipient.publicKey, info: info, additionalData: first.hex("aad"), ephemeralKey: ephemeral)
    guard sealed?.encapsulatedKey == vector.hex("enc"), sealed?.ciphertext == first.hex("ct") else {
      return .other("sealed to other bytes")
    }
    guard let plaintext = opened(first) else { return .refused() }
    guard plaintext == first.hex("pt") else { return .other("opened to another plaintext") }
    // Later messages have other nonces: a single shot must not open them.
    return messages.dropFirst().allSatisfy { opened($0) == nil } ? .accepted : .other("opened a later message")
  }
}

extension JSON {
  /// A member's bytes, which it gives in hexadecimal; none where it has none.
  func hex(_ name: String) -> [UInt8] { self[name]?.string.flatMap { Hex.decode($0) } ?? [] }
}
