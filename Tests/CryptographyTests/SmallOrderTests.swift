import Base
import COpenSSL
import Testing

@testable import Cryptography

/// Public keys of small order on the Edwards curves: anyone can sign for them.
@Suite struct SmallOrderTests {
  /// y of every such point, little-endian; each with either sign of x.
  static let points: [(Curve, String)] = [
    (.ed25519, "01" + zeros(31)), (.ed25519, "ec" + ones(30) + "7f"), (.ed25519, zeros(32)),
    (.ed25519, "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    (.ed25519, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    (.ed25519, "ed" + ones(30) + "7f"), (.ed25519, "ee" + ones(30) + "7f"),
    (.ed448, "01" + zeros(56)), (.ed448, "fe" + ones(27) + "fe" + ones(27) + "00"), (.ed448, zeros(57)),
    (.ed448, ones(28) + "fe" + ones(27) + "00"), (.ed448, zeros(28) + ones(28) + "00"),
  ]

  @Test(arguments: points)
  func refusesKeysOfSmallOrder(curve: Curve, point: String) throws {
    var encoded = try #require(Hex.decode(point))
    #expect(encoded.count == curve.coordinateLength)
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, encoded: encoded) }
    encoded[encoded.count - 1] |= 0x80
    #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: curve, encoded: encoded) }
    encoded[2] ^= 0x10
    #expect(throws: Never.self) { try PublicKey(curve: curve, encoded: encoded) }
  }

  /// Why: R = B, S = 1 satisfies S·B = R + k·A for A = 0 and any message. OpenSSL accepts it.
  @Test func knowsThatOpenSSLTakesForgeriesForThem() throws {
    let identity = try #require(Hex.decode(Self.points[0].1))
    let forged = [0x58] + [UInt8](repeating: 0x66, count: 31) + identity
    let pkey = try #require(EVP_PKEY_new_raw_public_key(NID_ED25519, nil, identity, identity.count))
    let unchecked = PublicKey(curve: .ed25519, encoded: identity, adopting: pkey)
    #expect(unchecked.verifyEdDSA(forged, of: Array("any message".utf8)))
  }

  private static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }
  private static func ones(_ count: Int) -> String { String(repeating: "ff", count: count) }
}
