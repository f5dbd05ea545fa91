import Base
import Cryptography
import Testing

@Suite struct PrivateKeyTests {
  /// The order of the group, big-endian, as long as the field.
  static let orders: [(Curve, String)] = [
    (.p256, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
    (
      .p384,
      "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973"
    ),
    (
      .p521,
      "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa"
        + "51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409"
    ),
    (.brainpoolP256r1, "a9fb57dba1eea9bc3e660a909d838d718c397aa3b561a6f7901e0e82974856a7"),
  ]

  @Test(arguments: orders)
  func takesScalarsFromOneToTheOrderExclusive(curve: Curve, order: String) throws {
    let order = try #require(Hex.decode(order))
    let one = [UInt8](repeating: 0, count: curve.coordinateLength - 1) + [1]
    var largest = order
    largest[largest.count - 1] -= 1
    #expect(try PrivateKey(curve: curve, scalar: one).scalar().exposed() == one)
    #expect(try PrivateKey(curve: curve, scalar: largest).scalar().exposed() == largest)
    // n − 1 is −1: its point is the generator mirrored.
    let generator = try PrivateKey(curve: curve, scalar: one).publicKey
    let mirrored = try PrivateKey(curve: curve, scalar: largest).publicKey
    #expect(generator.coordinates?.x == mirrored.coordinates?.x)
    #expect(generator != mirrored)
    var above = order
    above[above.count - 1] += 1
    let zero = [UInt8](repeating: 0, count: order.count)
    let ones = [UInt8](repeating: 0xff, count: order.count)
    for scalar in [zero, order, above, ones, [], [1], Array(one.dropFirst()), [0] + one] {
      #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(curve: curve, scalar: scalar) }
    }
  }

  @Test(arguments: Curve.allCases)
  func returnsTheScalarItWasMadeFrom(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve)
    let scalar = try key.scalar().exposed()
    #expect(scalar.count == curve.coordinateLength)
    #expect(try PrivateKey(curve: curve, scalar: scalar).publicKey == key.publicKey)
    #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(curve: curve, scalar: scalar.dropLast()) }
    #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(curve: curve, scalar: scalar + [0]) }
  }

  // MARK: PEM

  @Test(arguments: Curve.allCases)
  func readsThePEMThatItWrote(curve: Curve) throws {
    let key = try PrivateKey(generatingOn: curve)
    let pem = try key.pem()
    let text = String(decoding: pem, as: UTF8.self)
    #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(text.hasSuffix("-----END PRIVATE KEY-----\n"))
    let read = try PrivateKey(pem: pem)
    #expect(read.curve == curve)
    #expect(read.publicKey == key.publicKey)
    #expect(try read.scalar().exposed() == key.scalar().exposed())
  }

  @Test func readsSEC1() throws {
    let key = try PrivateKey(generatingOn: .p256)
    let read = try PrivateKey(pem: sec1(scalar: try key.scalar().exposed(), point: key.publicKey.encoded))
    #expect(read.publicKey == key.publicKey)
  }

  @Test func refusesAPublicHalfThatBelongsToAnotherScalar() throws {
    let scalar = try PrivateKey(generatingOn: .p256).scalar().exposed()
    let other = try PrivateKey(generatingOn: .p256).publicKey.encoded
    let pem = sec1(scalar: scalar, point: other)
    #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(pem: pem) }
  }

  @Test func refusesAScalarOutOfRange() throws {
    let point = try PrivateKey(generatingOn: .p256).publicKey.encoded
    let order = try #require(Hex.decode(Self.orders[0].1))
    for scalar in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xff, count: 32)] {
      #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(pem: sec1(scalar: scalar, point: point)) }
    }
  }

  /// Neither prompts for a passphrase: the test would wait for it.
  @Test(.timeLimit(.minutes(10)), arguments: [PEMFixtures.encryptedPKCS8, PEMFixtures.encryptedSEC1])
  func refusesEncryptedPEMWithoutAsking(pem: String) {
    #expect(throws: CryptoError.passphraseRequired) { try PrivateKey(pem: Array(pem.utf8)) }
  }

  @Test(arguments: [PEMFixtures.secp256k1, PEMFixtures.explicitParameters])
  func refusesCurvesThatAreNotOurs(pem: String) {
    #expect(throws: CryptoError.unsupportedKey) { try PrivateKey(pem: Array(pem.utf8)) }
  }

  @Test func refusesWhatIsNoPrivateKey() throws {
    let pem = String(decoding: try PrivateKey(generatingOn: .p256).pem(), as: UTF8.self)
    let broken = [
      "", "\n", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", String(pem.dropLast(40)),
      pem.replacing("PRIVATE", with: "PUBLIC"), pem.replacing("M", with: "N"), "\0\0\0",
    ]
    for text in broken {
      #expect(throws: CryptoError.invalidPrivateKey) { try PrivateKey(pem: Array(text.utf8)) }
    }
  }

  /// `ECPrivateKey` (RFC 5915) on P-256, with any public key.
  private func sec1(scalar: [UInt8], point: [UInt8]) -> [UInt8] {
    let identifier: [UInt8] = [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    let der =
      [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20] + scalar + identifier + [0xa1, 0x44, 0x03, 0x42, 0x00] + point
    return Array("-----BEGIN EC PRIVATE KEY-----\n\(Base64.encode(der))\n-----END EC PRIVATE KEY-----\n".utf8)
  }
}
