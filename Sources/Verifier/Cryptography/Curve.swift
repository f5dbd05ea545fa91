import COpenSSL

/// The curves of ISO/IEC 18013-5, Table 22 (cipher suite 1), with their sizes.
public enum Curve: String, Sendable, Hashable, CaseIterable {
  case p256 = "P-256"
  case p384 = "P-384"
  case p521 = "P-521"
  case brainpoolP256r1, brainpoolP320r1, brainpoolP384r1, brainpoolP512r1
  case ed25519 = "Ed25519"
  case ed448 = "Ed448"
  case x25519 = "X25519"
  case x448 = "X448"

  public enum Family: Sendable { case weierstrass, edwards, montgomery }

  public var family: Family {
    switch self {
    case .ed25519, .ed448: .edwards
    case .x25519, .x448: .montgomery
    default: .weierstrass
    }
  }

  /// The length in bytes of a coordinate, of a raw key (Edwards and Montgomery curves) and of a shared secret.
  public var coordinateLength: Int {
    switch self {
    case .p256, .brainpoolP256r1, .ed25519, .x25519: 32
    case .brainpoolP320r1: 40
    case .p384, .brainpoolP384r1: 48
    case .brainpoolP512r1: 64
    case .p521: 66
    case .ed448: 57
    case .x448: 56
    }
  }

  /// The length in bytes of a raw signature (r‖s, or as in RFC 8032); nil for curves that do not sign.
  public var signatureLength: Int? { family == .montgomery ? nil : 2 * coordinateLength }

  var nid: Int32 {
    switch self {
    case .p256: NID_X9_62_prime256v1
    case .p384: NID_secp384r1
    case .p521: NID_secp521r1
    case .brainpoolP256r1: NID_brainpoolP256r1
    case .brainpoolP320r1: NID_brainpoolP320r1
    case .brainpoolP384r1: NID_brainpoolP384r1
    case .brainpoolP512r1: NID_brainpoolP512r1
    case .ed25519: NID_ED25519
    case .ed448: NID_ED448
    case .x25519: NID_X25519
    case .x448: NID_X448
    }
  }

  /// OpenSSL's name of the group.
  var groupName: String { String(cString: OBJ_nid2sn(nid)) }

  /// The curve with this numeric identifier (NID) in OpenSSL.
  package init?(nid: Int32) {
    guard let curve = Curve.allCases.first(where: { $0.nid == nid }) else { return nil }
    self = curve
  }
}

extension Curve {
  /// The curve's object identifier in DER: `ECParameters` of a named curve (RFC 5480, 2.1.1).
  package var parameters: [UInt8] {
    let object = OBJ_nid2obj(nid)
    var encoded = [UInt8](repeating: 0, count: Int(i2d_ASN1_OBJECT(object, nil)))
    encoded.withUnsafeMutableBufferPointer { buffer in
      var end = buffer.baseAddress
      i2d_ASN1_OBJECT(object, &end)
    }
    return encoded
  }
}

/// The points of small order on the Edwards curves (RFC 8032), in all their encodings.
///
/// These points must not be public keys. With such a key, anyone can make a signature over any message, and OpenSSL
/// accepts it.
enum SmallOrder {
  static func contains(_ encoded: [UInt8], on curve: Curve) -> Bool {
    guard let last = encoded.last else { return false }
    // The highest bit is the sign of x.
    let y: [UInt8] = encoded.dropLast() + [last & 0x7f]
    return curve == .ed25519 && ed25519.contains(y) || curve == .ed448 && ed448.contains(y)
  }

  /// The y-coordinates of the points of order 1, 2, 4 and 8: 1, −1, 0 and two more. Then 0 and 1 with the prime added.
  private static let ed25519: [[UInt8]] = [
    [0x01] + zeros(31),
    [0xec] + ones(30) + [0x7f],
    zeros(32),
    [
      0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
      0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
      0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
      0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
    [0xed] + ones(30) + [0x7f],
    [0xee] + ones(30) + [0x7f],
  ]

  /// The y-coordinates of the points of order 1, 2 and 4: 1, −1 and 0. Then 0 and 1 with the prime added.
  private static let ed448: [[UInt8]] = [
    [0x01] + zeros(56),
    [0xfe] + ones(27) + [0xfe] + ones(27) + [0x00],
    zeros(57),
    ones(28) + [0xfe] + ones(27) + [0x00],
    zeros(28) + ones(28) + [0x00],
  ]

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x00, count: count) }
  private static func ones(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xff, count: count) }
}
