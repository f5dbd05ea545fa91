import Base
import CBOR
import Cryptography

/// What a wallet puts into the transcript of `org-iso-mdoc` and encrypts to (ISO/IEC TS 18013-7, Annex C).
struct AnnexCDraft: Sendable {
  /// The base64url text of EncryptionInfo, as it was sent.
  var encryptionInfo: String
  var origin: String
  var recipientKey: PublicKey
  /// The HPKE `info`, where it is not the transcript that the device signs over.
  var otherInfo: [UInt8]?
  /// Takes the DeviceResponse before it is encrypted.
  var wrap: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  init(encryptionInfo text: String, origin: String) throws {
    // ["dcapi", {"nonce": …, "recipientPublicKey": COSE_Key}]
    guard let bytes = Base64.decodeURLSafe(text), let item = try? CBORItem(parsing: bytes),
      let elements = item.elements.map(Array.init), elements.count == 2, elements[0].isText("dcapi"),
      let key = elements[1][key: "recipientPublicKey"], key[label: -1]?.integer == 1, let x = key[label: -2]?.bytes,
      let y = key[label: -3]?.bytes, let recipient = try? PublicKey(curve: .p256, x: x, y: y)
    else { throw MockError.unreadableRequest("encryptionInfo is no EncryptionInfo with a P-256 key") }
    encryptionInfo = text
    self.origin = origin
    recipientKey = recipient
  }

  var transcript: [UInt8] {
    MockSessionTranscript.digitalCredentialsAPI(encryptionInfo: encryptionInfo, origin: origin)
  }

  func seal(_ plaintext: [UInt8], ephemeralKey: PrivateKey, seed: MockSeed) throws -> EncryptedResponseDraft {
    let sealed = try HPKE.p256SHA256AES128GCM.seal(
      plaintext, to: recipientKey, info: otherInfo ?? transcript, ephemeralKey: ephemeralKey)
    return EncryptedResponseDraft(
      seed: seed,
      fields: MapDraft([("enc", .bytes(sealed.encapsulatedKey)), ("cipherText", .bytes(sealed.ciphertext))]))
  }
}

/// `["dcapi", {"enc": …, "cipherText": …}]`, to be made.
struct EncryptedResponseDraft: Sendable {
  /// The answer's own seed.
  let seed: MockSeed
  var name: CBORValue = "dcapi"
  var fields: MapDraft
  /// What follows the two elements.
  var further: [CBORValue] = []

  var value: CBORValue { .array([name, fields.value] + further) }
}
