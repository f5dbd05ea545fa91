import CBOR
import Cryptography

/// Algorithm and curve identifiers of COSE (RFC 9053; ISO/IEC 18013-5, Table 22).
enum COSEAlgorithm {
  static let es256: Int64 = -7
  static let es384: Int64 = -35
  static let es512: Int64 = -36
  static let edDSA: Int64 = -8
  static let hmac256: Int64 = 5

  static func signature(for curve: Curve) -> Int64 {
    switch curve {
    case .p256, .brainpoolP256r1: es256
    case .p384, .brainpoolP320r1, .brainpoolP384r1: es384
    case .p521, .brainpoolP512r1: es512
    case .ed25519, .ed448, .x25519, .x448: edDSA
    }
  }

  /// The identifiers of RFC 9864, which name the curve too.
  static func fullySpecified(for curve: Curve) -> Int64 {
    switch curve {
    case .p256: -9
    case .p384: -51
    case .p521: -52
    case .brainpoolP256r1: -265
    case .brainpoolP320r1: -266
    case .brainpoolP384r1: -267
    case .brainpoolP512r1: -268
    case .ed25519, .x25519: -19
    case .ed448, .x448: -53
    }
  }

  static func hash(for curve: Curve) -> HashAlgorithm? { SignatureAlgorithm(curve: curve).hash }
}

/// COSE_Key of a public key (RFC 9052, 7).
enum COSEKey {
  static let privatePart = -4

  static func fields(of key: PublicKey) -> MapDraft {
    guard let (x, y) = key.coordinates else {
      return MapDraft([(1, 1), (-1, .integer(curve(key.curve))), (-2, .bytes(key.encoded))])
    }
    return MapDraft([
      (1, 2), (-1, .integer(curve(key.curve))), (-2, .bytes(Array(x))), (-3, .bytes(Array(y))),
    ])
  }

  private static func curve(_ curve: Curve) -> Int64 {
    switch curve {
    case .p256: 1
    case .p384: 2
    case .p521: 3
    case .x25519: 4
    case .x448: 5
    case .ed25519: 6
    case .ed448: 7
    case .brainpoolP256r1: 256
    case .brainpoolP320r1: 257
    case .brainpoolP384r1: 258
    case .brainpoolP512r1: 259
    }
  }
}
