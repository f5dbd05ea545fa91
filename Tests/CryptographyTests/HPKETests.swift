import Primitives
import Testing

@testable import Cryptography

@Suite struct HPKETests {
  /// RFC 9180, A.3.1 lists its values for this suite; a round trip and a broken one are enough here, the published
  /// vectors run beside them.
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

  @Test(arguments: Curve.allCases.filter { $0.family == .weierstrass })
  func deterministicSignaturesVerify(curve: Curve) throws {
    let key = try PrivateKey(curve: curve, scalar: [UInt8](repeating: 0, count: curve.coordinateLength - 1) + [7])
    let hash: HashAlgorithm = curve.coordinateLength > 48 ? .sha512 : curve.coordinateLength > 32 ? .sha384 : .sha256
    let message = Array("message".utf8)
    let signature = try key.signDeterministically(message, hash: hash)
    #expect(try key.signDeterministically(message, hash: hash) == signature)
    #expect(key.publicKey.verifyECDSA(signature, of: message, hash: hash))
    #expect(!key.publicKey.verifyECDSA(signature, of: Array("massage".utf8), hash: hash))
  }

  /// RFC 6979, A.2.5: P-256, SHA-256, message "sample".
  @Test func rfc6979Example() throws {
    let scalar = try #require(Hex.decode("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"))
    let key = try PrivateKey(curve: .p256, scalar: scalar)
    let signature = try key.signDeterministically(Array("sample".utf8), hash: .sha256)
    #expect(
      Hex.encode(signature)
        == "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
        + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")
  }
}
