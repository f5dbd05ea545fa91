import TestSupport
import Testing

@testable import Cryptography

/// RFC 9180, appendix A and its machine-readable companion.
@Suite(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
struct HPKEVectorTests {
  struct Vector: Decodable {
    struct Encryption: Decodable { let aad, ct, nonce, pt: HexBytes }
    enum CodingKeys: String, CodingKey {
      case mode, info, skRm, skEm, pkRm, enc, key, encryptions
      case kem = "kem_id"
      case kdf = "kdf_id"
      case aead = "aead_id"
      case sharedSecret = "shared_secret"
      case baseNonce = "base_nonce"
    }
    let mode, kem, kdf, aead: Int
    let info, skRm, skEm, pkRm, enc, sharedSecret, key, baseNonce: HexBytes?
    let encryptions: [Encryption]

    /// DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, base mode.
    var isOurs: Bool { mode == 0 && kem == 0x0010 && kdf == 1 && aead == 1 }
  }

  @Test func agreesAtEveryStepOfTheOneSuite() throws {
    let vectors: [Vector] = try PublishedVectors.json("hpke/rfc9180-vectors-trimmed.json")
    for vector in vectors where vector.isOurs { try check(vector) }
    let ours = vectors.count(where: \.isOurs)
    print("rfc9180-vectors-trimmed.json: \(ours) passed, \(vectors.count - ours) unsupported")
    #expect(ours == 1)
  }

  private func check(_ vector: Vector) throws {
    let info = try #require(vector.info).bytes
    let enc = try #require(vector.enc).bytes
    let recipient = try PrivateKey(curve: .p256, scalar: try #require(vector.skRm).bytes)
    let ephemeral = try PrivateKey(curve: .p256, scalar: try #require(vector.skEm).bytes)
    #expect(recipient.publicKey.encoded == vector.pkRm?.bytes)
    #expect(ephemeral.publicKey.encoded == enc)

    let suite = HPKE.p256SHA256AES128GCM
    let received = try suite.sharedSecret(of: PublicKey(curve: .p256, encoded: enc), recipient: recipient)
    #expect(received.exposed() == vector.sharedSecret?.bytes)
    #expect(
      try suite.encapsulate(to: recipient.publicKey, ephemeral: ephemeral).exposed() == vector.sharedSecret?.bytes)
    let schedule = try suite.keySchedule(received, info: info)
    #expect(schedule.key.exposed() == vector.key?.bytes)
    #expect(schedule.baseNonce == vector.baseNonce?.bytes)

    let first = try #require(vector.encryptions.first)
    #expect(first.nonce.bytes == schedule.baseNonce)
    let sealed = try suite.seal(
      first.pt.bytes, to: recipient.publicKey, info: info, additionalData: first.aad.bytes, ephemeralKey: ephemeral)
    #expect(sealed.encapsulatedKey == enc)
    #expect(sealed.ciphertext == first.ct.bytes)
    let opened = try suite.open(
      first.ct.bytes, encapsulatedKey: enc, recipient: recipient, info: info, additionalData: first.aad.bytes)
    #expect(opened == first.pt.bytes)
    // The second message has sequence number 1 and another nonce: a single shot does not open it.
    let second = vector.encryptions[1]
    #expect(throws: CryptoError.decryptionFailed) {
      try suite.open(
        second.ct.bytes, encapsulatedKey: enc, recipient: recipient, info: info, additionalData: second.aad.bytes)
    }
  }
}
