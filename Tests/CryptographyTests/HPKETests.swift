import Cryptography
import Testing

@Suite struct HPKETests {
  @Test func opensWhatItSealed() throws {
    let recipient = try PrivateKey(generatingOn: .p256)
    let info: [UInt8] = [1, 2, 3]
    let sealed = try HPKE.p256SHA256AES128GCM.seal(Array("secret".utf8), to: recipient.publicKey, info: info)
    let opened = try HPKE.p256SHA256AES128GCM.open(
      sealed.ciphertext, encapsulatedKey: sealed.encapsulatedKey, recipient: recipient, info: info)
    #expect(opened == Array("secret".utf8))
    #expect(throws: CryptoError.decryptionFailed) {
      try HPKE.p256SHA256AES128GCM.open(
        sealed.ciphertext, encapsulatedKey: sealed.encapsulatedKey, recipient: recipient, info: [1, 2, 4])
    }
  }
}
