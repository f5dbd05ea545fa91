import Base
import TestSupport
import Testing

@testable import Cryptography

@Suite struct SymmetricTests {
  private let nonce = [UInt8](repeating: 1, count: 12)

  @Test(arguments: [16, 32])
  func opensWhatItSealedOfEveryLength(keyLength: Int) throws {
    let key = try SecretBytes.random(count: keyLength)
    var generator = SeededGenerator(seed: 9)
    for length in [0, 1, 15, 16, 17, 1000, 40_000] {
      let plaintext = generator.bytes(length)
      let sealed = try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: [7])
      #expect(sealed.count == length + AESGCM.tagLength)
      #expect(try AESGCM.open(sealed, key: key, nonce: nonce, additionalData: [7]) == plaintext)
    }
  }

  @Test func refusesEveryChange() throws {
    let key = try SecretBytes.random(count: 16)
    let sealed = try AESGCM.seal(Array("plaintext".utf8), key: key, nonce: nonce, additionalData: [7])
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 0x80
      #expect(throws: CryptoError.decryptionFailed) {
        try AESGCM.open(changed, key: key, nonce: nonce, additionalData: [7])
      }
      #expect(throws: CryptoError.decryptionFailed) {
        try AESGCM.open(sealed[..<index], key: key, nonce: nonce, additionalData: [7])
      }
    }
    #expect(throws: CryptoError.decryptionFailed) {
      try AESGCM.open(sealed, key: key, nonce: nonce, additionalData: [])
    }
    let otherNonce = [UInt8](repeating: 2, count: 12)
    #expect(throws: CryptoError.decryptionFailed) {
      try AESGCM.open(sealed, key: key, nonce: otherNonce, additionalData: [7])
    }
  }

  @Test(arguments: [0, 1, 15, 17, 24, 31, 33, 64])
  func refusesKeysOfOtherLengths(length: Int) {
    let key = SecretBytes(copying: [UInt8](repeating: 0, count: length))
    #expect(throws: CryptoError.invalidLength) { try AESGCM.seal([1], key: key, nonce: nonce, additionalData: []) }
    #expect(throws: CryptoError.invalidLength) {
      try AESGCM.open([UInt8](repeating: 0, count: 20), key: key, nonce: nonce, additionalData: [])
    }
  }

  @Test(arguments: [0, 8, 11, 13, 16])
  func refusesNoncesOfOtherLengths(length: Int) throws {
    let key = try SecretBytes.random(count: 16)
    let nonce = [UInt8](repeating: 0, count: length)
    #expect(throws: CryptoError.invalidLength) { try AESGCM.seal([1], key: key, nonce: nonce, additionalData: []) }
  }

  @Test func derivesLengthsWithinItsBounds() throws {
    let secret = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
    for length in [1, 12, 16, 32, 33, 255 * 32] {
      #expect(try HKDF.deriveKey(from: secret, salt: [], info: [], length: length).count == length)
    }
    for length in [-1, 0, 255 * 32 + 1] {
      #expect(throws: CryptoError.invalidLength) {
        _ = try HKDF.deriveKey(from: secret, salt: [], info: [], length: length).count
      }
    }
    let longest = [UInt8](repeating: 3, count: HKDF.longestInfo)
    #expect(try HKDF.deriveKey(from: secret, salt: longest + longest, info: longest, length: 16).count == 16)
    #expect(throws: CryptoError.invalidLength) {
      _ = try HKDF.deriveKey(from: secret, salt: [], info: longest + [0], length: 16).count
    }
  }

  /// RFC 5869 allows a secret of any length.
  @Test func extractsFromAnEmptySecret() throws {
    let empty = SecretBytes(copying: [UInt8]())
    let extracted = try HKDF.extract(empty, salt: [1, 2, 3]).exposed()
    #expect(extracted == HMAC.authenticate([UInt8](), key: SecretBytes(copying: [1, 2, 3]), hash: .sha256))
  }

  @Test func authenticatesWithAnEmptyKeyAndAnEmptyMessage() {
    let tag = HMAC.authenticate([UInt8](), key: SecretBytes(copying: [UInt8]()), hash: .sha256)
    #expect(Hex.encode(tag) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  /// FIPS 180-4: "abc", and nothing.
  @Test(arguments: [
    (HashAlgorithm.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    (
      .sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    ),
    (
      .sha384, "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
      "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b"
    ),
    (
      .sha512,
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
      "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
        + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
    ),
  ])
  func hashesAsTheStandardSays(hash: HashAlgorithm, abc: String, empty: String) {
    #expect(Hex.encode(hash.hash(Array("abc".utf8))) == abc)
    #expect(Hex.encode(hash.hash([UInt8]())) == empty)
    #expect(hash.hash([UInt8]()).count == hash.digestLength)
    let digest = hash.hash(Array("abc".utf8))
    #expect(hash.matches(digest, digestOf: Array("abc".utf8)))
    #expect(!hash.matches(digest.dropLast(), digestOf: Array("abc".utf8)))
    #expect(!hash.matches(digest + [0], digestOf: Array("abc".utf8)))
    #expect(!hash.matches([UInt8](), digestOf: Array("abc".utf8)))
    #expect(!hash.matches(digest, digestOf: Array("abd".utf8)))
  }
}

@Suite struct AgreementTests {
  @Test(arguments: Curve.allCases.filter { $0.family != .edwards })
  func agreesFromBothSides(curve: Curve) throws {
    let alice = try PrivateKey(generatingOn: curve)
    let bob = try PrivateKey(generatingOn: curve)
    let secret = try alice.sharedSecret(with: bob.publicKey).exposed()
    #expect(secret == (try bob.sharedSecret(with: alice.publicKey).exposed()))
    #expect(secret.count == curve.coordinateLength)
  }

  @Test func refusesKeysOfDifferentCurvesAndOfSignatureCurves() throws {
    let curves: [Curve] = [.p256, .brainpoolP256r1, .x25519, .ed25519]
    for mine in curves {
      for theirs in curves where mine != theirs || mine == .ed25519 {
        let key = try PrivateKey(generatingOn: mine)
        let peer = try PrivateKey(generatingOn: theirs).publicKey
        #expect(throws: CryptoError.keyAgreementFailed) { _ = try key.sharedSecret(with: peer).count }
      }
    }
  }

  /// Points of small order (RFC 7748, 6.1): any scalar takes them to zero.
  @Test(arguments: [
    (Curve.x25519, String(repeating: "00", count: 32)), (.x25519, "01" + String(repeating: "00", count: 31)),
    (.x25519, "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    (.x25519, "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
    (.x25519, "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    (.x448, String(repeating: "00", count: 56)), (.x448, "01" + String(repeating: "00", count: 55)),
  ])
  func refusesAnAllZeroSecret(curve: Curve, point: String) throws {
    let peer = try PublicKey(curve: curve, encoded: try #require(Hex.decode(point)))
    let key = try PrivateKey(generatingOn: curve)
    #expect(throws: CryptoError.keyAgreementFailed) { _ = try key.sharedSecret(with: peer).count }
  }
}

@Suite struct SecretBytesTests {
  @Test func holdsACopyOfWhatItWasGiven() throws {
    let secret = SecretBytes(copying: [1, 2, 3])
    #expect(secret.count == 3)
    #expect(secret.exposed() == [1, 2, 3])
    #expect(secret.withUnsafeBytes { Array($0) } == [1, 2, 3])
    #expect(SecretBytes(copying: [UInt8]()).exposed() == [])
    #expect(try SecretBytes(count: 4) { _ in }.exposed() == [0, 0, 0, 0])
  }

  @Test func passesOnTheErrorOfTheOneWhoFillsIt() {
    #expect(throws: CryptoError.keyAgreementFailed) {
      _ = try SecretBytes(count: 4) { _ throws(CryptoError) in throw .keyAgreementFailed }.count
    }
  }

  @Test func isRandomEveryTime() throws {
    #expect(try SecretBytes.random(count: 32).exposed() != SecretBytes.random(count: 32).exposed())
    #expect(try Random.bytes(32) != Random.bytes(32))
    #expect(try Random.bytes(0) == [])
  }

  @Test func comparesAllBytesAndTheLength() {
    #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
    #expect(constantTimeEqual([UInt8](), [UInt8]()))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
    #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    #expect(!constantTimeEqual([UInt8](), [1]))
  }
}
