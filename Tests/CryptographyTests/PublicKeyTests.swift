import Base
import Cryptography
import TestSupport
import Testing

@Suite struct PublicKeyTests {
  static let weierstrass = Curve.allCases.filter { $0.family == .weierstrass }
  static let raw = Curve.allCases.filter { $0.family != .weierstrass }

  /// The field's prime, big-endian.
  static let primes: [Curve: String] = [
    .p256: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
    .p384: """
    fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff
    """,
    .p521: "01ff" + String(repeating: "ff", count: 64),
    .brainpoolP256r1: "a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377",
    .brainpoolP320r1: "d35e472036bc4fb7e13c785ed201e065f98fcfa6f6f40def4f92b9ec7893ec28fcd412b1f1b32e27",
    .brainpoolP384r1: """
    8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b412b1da197fb71123acd3a729901d1a71874700133107ec53
    """,
    .brainpoolP512r1: """
    aadd9db8dbe9c48b3fd4e6ae33c9fc07cb308db3b3c9d20ed6639cca70330871
    7d4d9b009bc66842aecda12ae6a380e62881ff2f2d82c68528aa6056583a48f3
    """,
  ]

  @Test(arguments: weierstrass)
  func takesAPointInItsThreeForms(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    let (x, y) = try #require(key.coordinates)
    #expect(try PublicKey(curve: curve, encoded: key.encoded) == key)
    #expect(try PublicKey(curve: curve, x: x, y: y) == key)
    let isOdd = y.last.map { $0 % 2 == 1 } ?? false
    #expect(try PublicKey(curve: curve, x: x, yIsOdd: isOdd) == key)
    let mirrored = try PublicKey(curve: curve, x: x, yIsOdd: !isOdd)
    #expect(mirrored != key)
    #expect(mirrored.coordinates?.x == x)
  }

  @Test(arguments: weierstrass)
  func refusesEveryOtherEncodingOfAPoint(curve: Curve) throws {
    let point = try PrivateKey(generatingOn: curve).publicKey.encoded
    let length = curve.coordinateLength
    var encodings: [[UInt8]] = [
      [], [0x00], [0x04], [UInt8](repeating: 0, count: point.count), point + [0x00], Array(point.dropLast()),
      Array(point.dropFirst()), [0x00] + point,
      // Compressed, both signs, and as long as an uncompressed point.
      [0x02] + point[1...length], [0x03] + point[1...length], [0x02] + point.dropFirst(), [0x03] + point.dropFirst(),
      // The origin, which is not on the curve, and infinity, which is only a tag.
      [0x04] + [UInt8](repeating: 0, count: 2 * length),
    ]
    // Hybrid forms with either sign, and unknown tags.
    for tag: UInt8 in [0x00, 0x01, 0x05, 0x06, 0x07, 0x08, 0x40, 0x84, 0xff] {
      encodings.append([tag] + point.dropFirst())
    }
    for encoding in encodings {
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, encoded: encoding) }
    }
  }

  @Test(arguments: weierstrass)
  func refusesPointsOffTheCurve(curve: Curve) throws {
    let point = try PrivateKey(generatingOn: curve).publicKey.encoded
    for index in [1, curve.coordinateLength, 1 + curve.coordinateLength, point.count - 1] {
      var other = point
      other[index] ^= 1
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, encoded: other) }
    }
    let swapped = [0x04] + point.suffix(curve.coordinateLength) + point[1...curve.coordinateLength]
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, encoded: swapped) }
  }

  /// ISO/IEC 18013-5 prints such a device key in D.7.2: right in every length, and on no curve.
  @Test(arguments: weierstrass, weierstrass)
  func refusesAPointOfAnotherCurve(curve: Curve, other: Curve) throws {
    guard curve != other else { return }
    let point = try PrivateKey(generatingOn: other).publicKey.encoded
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, encoded: point) }
  }

  /// Points with a coordinate small enough to be encoded a second time, with the prime added.
  @Test(arguments: weierstrass)
  func refusesCoordinatesThatAreNotReduced(curve: Curve) throws {
    let prime = try #require(Self.primes[curve].flatMap { Hex.decode($0) })
    #expect(prime.count == curve.coordinateLength)
    var tried = 0
    for small: UInt8 in 0...255 {
      let x = [UInt8](repeating: 0, count: prime.count - 1) + [small]
      guard let key = try? PublicKey(curve: curve, x: x, yIsOdd: false), let y = key.coordinates?.y,
        let shifted = sum(prime, small)
      else { continue }
      tried += 1
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: shifted, y: y) }
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: shifted, yIsOdd: false) }
    }
    #expect(tried > 20)
    let ones = [UInt8](repeating: 0xff, count: prime.count)
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: ones, y: ones) }
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: prime, y: prime) }
  }

  @Test(arguments: weierstrass)
  func refusesCoordinatesShorterOrLongerThanTheField(curve: Curve) throws {
    let (x, y) = try #require(try PrivateKey(generatingOn: curve).publicKey.coordinates)
    for (badX, badY) in [([0] + Array(x), Array(y)), (Array(x), [0] + Array(y)), (Array(x.dropFirst()), Array(y))] {
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: badX, y: badY) }
    }
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: [0] + x, yIsOdd: false) }
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: [], yIsOdd: true) }
    let moved = Array(x) + [y[y.startIndex]]
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: moved, y: y.dropFirst()) }
  }

  @Test func refusesAnXThatNoPointHas() throws {
    let none = (0...255).filter { small in
      let x = [UInt8](repeating: 0, count: 31) + [UInt8(small)]
      return (try? PublicKey(curve: .p256, x: x, yIsOdd: false)) == nil
    }
    #expect((64...192).contains(none.count), "about half of all x have no y")
  }

  @Test(arguments: raw)
  func takesRawKeysOfTheRightLengthAlone(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve).publicKey
    #expect(key.encoded.count == curve.coordinateLength)
    #expect(key.coordinates == nil)
    #expect(try PublicKey(curve: curve, encoded: key.encoded) == key)
    for bad in [[], Array(key.encoded.dropLast()), key.encoded + [0], [0x04] + key.encoded + key.encoded] {
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, encoded: bad) }
    }
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: key.encoded, y: key.encoded) }
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, x: key.encoded, yIsOdd: true) }
  }

  @Test func tellsKeysOfDifferentCurvesApart() throws {
    let bytes = [UInt8](repeating: 9, count: 32)
    #expect(try PublicKey(curve: .x25519, encoded: bytes) != PublicKey(curve: .ed25519, encoded: bytes))
  }

  /// a + b; nil if the sum is longer than a.
  private func sum(_ a: [UInt8], _ b: UInt8) -> [UInt8]? {
    var output = a
    var carry = Int(b)
    for index in output.indices.reversed() where carry > 0 {
      carry += Int(output[index])
      output[index] = UInt8(truncatingIfNeeded: carry)
      carry >>= 8
    }
    return carry == 0 ? output : nil
  }
}
