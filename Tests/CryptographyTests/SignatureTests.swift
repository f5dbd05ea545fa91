import Cryptography
import TestSupport
import Testing

@Suite struct SignatureTests {
  static let weierstrass = Curve.allCases.filter { $0.family == .weierstrass }
  static let edwards = Curve.allCases.filter { $0.family == .edwards }
  static let message = Array("message".utf8)

  @Test(arguments: weierstrass, [HashAlgorithm.sha256, .sha384, .sha512])
  func verifiesItsOwnECDSAAndNothingElse(curve: Curve, hash: HashAlgorithm) throws {
    let key = try PrivateKey(generatingOn: curve)
    let signature = try key.signECDSA(Self.message, hash: hash)
    #expect(signature.count == curve.signatureLength)
    #expect(key.publicKey.verifyECDSA(signature, of: Self.message, hash: hash))
    #expect(!key.publicKey.verifyECDSA(signature, of: Self.message + [0], hash: hash))
    let otherHash: HashAlgorithm = hash == .sha256 ? .sha384 : .sha256
    #expect(!key.publicKey.verifyECDSA(signature, of: Self.message, hash: otherHash))
    #expect(try !PrivateKey(generatingOn: curve).publicKey.verifyECDSA(signature, of: Self.message, hash: hash))
    #expect(!key.publicKey.verifyEdDSA(signature, of: Self.message))
    for index in [0, signature.count / 2 - 1, signature.count / 2, signature.count - 1] {
      var changed = signature
      changed[index] ^= 1
      #expect(!key.publicKey.verifyECDSA(changed, of: Self.message, hash: hash))
    }
  }

  @Test(arguments: weierstrass)
  func refusesSignaturesOfAnotherWidth(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve)
    let signature = try key.signECDSA(Self.message, hash: .sha256)
    let half = curve.coordinateLength
    let r = Array(signature[..<half])
    let s = Array(signature[half...])
    let wrong: [[UInt8]] = [
      [], [0], r, signature + [0], [0] + signature, Array(signature.dropLast()), [0] + r + [0] + s,
      r + [UInt8](repeating: 0, count: half), [UInt8](repeating: 0, count: half) + s,
      [UInt8](repeating: 0, count: 2 * half), [UInt8](repeating: 0xff, count: 2 * half), s + r,
    ]
    for other in wrong { #expect(!key.publicKey.verifyECDSA(other, of: Self.message, hash: .sha256)) }
  }

  @Test(arguments: edwards)
  func verifiesItsOwnEdDSAAndNothingElse(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve)
    let signature = try key.signEdDSA(Self.message)
    #expect(signature.count == curve.signatureLength)
    #expect(try key.signDeterministically(Self.message, hash: .sha256) == signature)
    #expect(key.publicKey.verifyEdDSA(signature, of: Self.message))
    #expect(!key.publicKey.verifyEdDSA(signature, of: Self.message + [0]))
    #expect(!key.publicKey.verifyEdDSA(signature.dropLast(), of: Self.message))
    #expect(!key.publicKey.verifyEdDSA(signature + [0], of: Self.message))
    #expect(!key.publicKey.verifyECDSA(signature, of: Self.message, hash: .sha256))
    #expect(throws: CryptoError.unsupportedKey) { try key.signECDSA(Self.message, hash: .sha256) }
  }

  @Test(arguments: [Curve.x25519, .x448])
  func doesNotSignWithAgreementKeys(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve)
    #expect(curve.signatureLength == nil)
    #expect(throws: CryptoError.unsupportedKey) { try key.signECDSA(Self.message, hash: .sha256) }
    #expect(throws: CryptoError.unsupportedKey) { try key.signEdDSA(Self.message) }
    #expect(throws: CryptoError.unsupportedKey) { try key.signDeterministically(Self.message, hash: .sha256) }
    #expect(!key.publicKey.verifyEdDSA([UInt8](repeating: 0, count: 64), of: Self.message))
  }

  @Test(arguments: weierstrass)
  func signsDeterministicallyOnEveryCurve(curve: Curve) throws {
    let key = try PrivateKey(curve: curve, scalar: [UInt8](repeating: 0, count: curve.coordinateLength - 1) + [7])
    for hash in [HashAlgorithm.sha256, .sha384, .sha512] {
      let signature = try key.signDeterministically(Self.message, hash: hash)
      #expect(try key.signDeterministically(Self.message, hash: hash) == signature)
      #expect(key.publicKey.verifyECDSA(signature, of: Self.message, hash: hash))
      #expect(!key.publicKey.verifyECDSA(signature, of: Array("massage".utf8), hash: hash))
    }
  }

  @Test func verifiesTheEmptyMessage() throws {
    let key = try PrivateKey(generatingOn: .p256)
    #expect(key.publicKey.verifyECDSA(try key.signECDSA([UInt8](), hash: .sha256), of: [UInt8](), hash: .sha256))
    let edwards = try PrivateKey(generatingOn: .ed25519)
    #expect(edwards.publicKey.verifyEdDSA(try edwards.signEdDSA([UInt8]()), of: [UInt8]()))
  }

  /// Keys, templates and fetched algorithms are shared between threads.
  @Test func worksOnManyThreadsWithTheSameKeys() async throws {
    let key = try PrivateKey(generatingOn: .p256)
    let peer = try PrivateKey(generatingOn: .p256)
    let expected = try key.sharedSecret(with: peer.publicKey).exposed()
    let signature = try key.signECDSA(Self.message, hash: .sha256)
    let isRight = try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<32 {
        let curve = Self.weierstrass[index % Self.weierstrass.count]
        group.addTask {
          let other = try PrivateKey(generatingOn: curve)
          let imported = try PublicKey(curve: .p256, encoded: peer.publicKey.encoded)
          let derived = try HKDF.deriveKey(from: try key.sharedSecret(with: imported), salt: [1], info: [2], length: 16)
          let sealed = try AESGCM.seal(
            Self.message, key: derived, nonce: [UInt8](repeating: 0, count: 12), additionalData: [])
          return try key.sharedSecret(with: imported).exposed() == expected
            && key.publicKey.verifyECDSA(signature, of: Self.message, hash: .sha256)
            && PublicKey(curve: curve, encoded: other.publicKey.encoded) == other.publicKey
            && sealed.count == Self.message.count + 16
        }
      }
      return try await group.allSatisfy { $0 }
    }
    #expect(isRight)
  }
}
