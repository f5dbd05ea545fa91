import Base
import Cryptography
import Testing

/// Private keys with excessive costs: their parameters are checked before any computation. OpenSSL took from a second
/// to many minutes for each of these keys.
@Suite(.timeLimit(.minutes(10))) struct CostlyKeyTests {
  /// Bytes of each number: 320 000 bits.
  private static let size = 40_000
  private static let number = integer([0x00] + [UInt8](repeating: 0xc7, count: size))
  private static let zero = integer([0])

  @Test(
    "RSA, DSA and DH keys of any size are refused unread",
    arguments: [
      ("RSA PRIVATE KEY", rsa),
      ("PRIVATE KEY", info(object(rsaEncryption), rsa)),
      ("PRIVATE KEY", info(object([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a]), rsa)),
      ("DSA PRIVATE KEY", sequence(zero, number, number, number, number, number)),
      (
        "PRIVATE KEY",
        info(object([0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01]) + sequence(number, number, number), number)
      ),
      (
        "PRIVATE KEY",
        info(object([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x03, 0x01]) + sequence(number, number), number)
      ),
      ("PRIVATE KEY", info(object([0x2a, 0x86, 0x48, 0xce, 0x3e, 0x02, 0x01]) + sequence(number, number), number)),
    ])
  func otherKinds(_ label: String, _ der: [UInt8]) {
    #expect(throws: CryptoError.unsupportedKey) { try PrivateKey(pem: Self.pem(label, der)) }
    let passphrase = SecretBytes(copying: Array("any".utf8))
    #expect(throws: CryptoError.unsupportedKey) { try PrivateKey(pem: Self.pem(label, der), passphrase: passphrase) }
  }

  @Test("a curve by its parameters is refused, as huge as its field may be") func explicitParameters() {
    let field = Self.sequence(Self.object([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x01, 0x01]), Self.number)
    let coefficient = Self.element(0x04, [UInt8](repeating: 0xc7, count: Self.size))
    let parameters = Self.sequence(
      Self.integer([1]), field, Self.sequence(coefficient, coefficient), coefficient, Self.number, Self.integer([1]))
    let key = Self.sequence(Self.integer([1]), Self.element(0x04, [1]))
    let sec1 = Self.sequence(Self.integer([1]), Self.element(0x04, [1]), Self.element(0xa0, parameters))
    let inside = Self.info(Self.object(Self.ecPublicKey) + parameters, key)
    #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(pem: Self.pem("EC PRIVATE KEY", sec1)) }
    #expect(throws: CryptoError.unsupportedKey) { try PrivateKey(pem: Self.pem("PRIVATE KEY", inside)) }
  }

  @Test("scalars and points longer than the field are no keys") func hugeCoordinates() throws {
    let long = [UInt8](repeating: 0xc7, count: Self.size)
    let scalar = Self.sequence(Self.integer([1]), Self.element(0x04, long), Self.element(0xa0, Self.object(Self.p256)))
    let point = Self.sequence(
      Self.integer([1]), Self.element(0x04, [UInt8](repeating: 0x17, count: 32)),
      Self.element(0xa0, Self.object(Self.p256)), Self.element(0xa1, Self.element(0x03, [0x00, 0x04] + long)))
    let raw = Self.info(Self.object([0x2b, 0x65, 0x71]), Self.element(0x04, long))
    for (label, der) in [("EC PRIVATE KEY", scalar), ("EC PRIVATE KEY", point), ("PRIVATE KEY", raw)] {
      #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(pem: Self.pem(label, der)) }
    }
    for curve in Curve.allCases {
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, encoded: [0x04] + long) }
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: long, y: long) }
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: long, yIsOdd: true) }
      #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(curve: curve, scalar: long) }
    }
  }

  @Test(
    "an encrypted key's rounds are bounded before a passphrase is tried",
    arguments: [
      // PBKDF2 with 2³¹ − 1 rounds, and one more than is allowed.
      pbes2(pbkdf2, salt + integer([0x7f, 0xff, 0xff, 0xff])), pbes2(pbkdf2, salt + integer([0x4c, 0x4b, 0x41])),
      pbes2(pbkdf2, salt + integer([0x7f] + [UInt8](repeating: 0xff, count: size))),
      // scrypt with N = 16384, r = 8 and 2²⁰ in parallel; with a product that overflows.
      pbes2(scrypt, salt + integer([0x40, 0x00]) + integer([0x08]) + integer([0x10, 0x00, 0x00])),
      pbes2(scrypt, salt + huge + huge + huge),
      // PKCS #12's own, with three keys of DES.
      sequence(
        object([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01, 0x03]),
        sequence(salt, integer([0x7f, 0xff, 0xff, 0xff]))),
    ])
  func rounds(_ algorithm: [UInt8]) {
    // The same with a length in more octets than it needs, which OpenSSL reads (BER).
    let content = algorithm + Self.element(0x04, [UInt8](repeating: 7, count: 64))
    let long: [UInt8] = [0x30, 0x84, 0, 0, UInt8(content.count >> 8), UInt8(content.count & 0xff)]
    let ber = Self.pem("ENCRYPTED PRIVATE KEY", long + content)
    #expect(throws: CryptoError.passphraseTooCostly) {
      try PrivateKey(pem: ber, passphrase: SecretBytes(copying: Array("any".utf8)))
    }
    let pem = Self.pem(
      "ENCRYPTED PRIVATE KEY", Self.sequence(algorithm, Self.element(0x04, [UInt8](repeating: 7, count: 64))))
    let passphrase = SecretBytes(copying: Array("any".utf8))
    #expect(throws: CryptoError.passphraseTooCostly) { try PrivateKey(pem: pem, passphrase: passphrase) }
    #expect(throws: CryptoError.passphraseTooCostly) { try PrivateKey(pem: pem) }
  }

  @Test("a scalar without its leading zeros, and one with a zero more, are the same key") func zeros() throws {
    let scalar = [UInt8](repeating: 0x17, count: 31)
    let expected = try PrivateKey(curve: .p256, scalar: [0] + scalar).publicKey
    for written in [scalar, [0] + scalar, [0, 0] + scalar] {
      let key = Self.sequence(
        Self.integer([1]), Self.element(0x04, written), Self.element(0xa0, Self.object(Self.p256)))
      #expect(try PrivateKey(pem: Self.pem("EC PRIVATE KEY", key)).publicKey == expected)
    }
  }

  @Test("the curve inside a key is the one outside") func twoCurves() throws {
    let key = Self.sequence(
      Self.integer([1]), Self.element(0x04, [UInt8](repeating: 0x17, count: 32)),
      Self.element(0xa0, Self.object(Self.p256)))
    let p384: [UInt8] = [0x2b, 0x81, 0x04, 0x00, 0x22]
    for (curve, isGood) in [(Self.p256, true), (p384, false)] {
      let pem = Self.pem("PRIVATE KEY", Self.info(Self.object(Self.ecPublicKey) + Self.object(curve), key))
      #expect(((try? PrivateKey(pem: pem)) != nil) == isGood)
    }
  }

  // MARK: DER (X.690)

  private static let rsaEncryption: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
  private static let ecPublicKey: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
  private static let p256: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
  private static let pbkdf2: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c]
  private static let scrypt: [UInt8] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b]
  private static let salt = element(0x04, [UInt8](repeating: 1, count: 8))
  private static let huge = integer([UInt8](repeating: 0x7f, count: 7))
  private static let rsa = sequence(zero, number, integer([1, 0, 1]), number, number, number, number, number, number)

  private static func pbes2(_ function: [UInt8], _ numbers: [UInt8]) -> [UInt8] {
    let aes256 = object([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a])
    return sequence(
      object([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d]),
      sequence(
        sequence(object(function), sequence(numbers)),
        sequence(aes256, element(0x04, [UInt8](repeating: 2, count: 16)))))
  }

  private static func info(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
    sequence(zero, sequence(algorithm), element(0x04, key))
  }

  private static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
  private static func integer(_ content: [UInt8]) -> [UInt8] { element(0x02, content) }
  private static func object(_ content: [UInt8]) -> [UInt8] { element(0x06, content) }

  private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length =
      count < 0x80 ? [UInt8(count)] : [0x83, UInt8(count >> 16), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
    return [tag] + length + content
  }

  private static func pem(_ label: String, _ der: [UInt8]) -> [UInt8] {
    let base64 = Array(Base64.encode(der))
    let lines = stride(from: 0, to: base64.count, by: 64).map { String(base64[$0..<min($0 + 64, base64.count)]) }
    return Array(
      (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n").utf8)
  }
}
