/// The points of small order on the Edwards curves (RFC 8032), in every encoding that they have.
///
/// As public keys they are the holder of nothing: for them OpenSSL takes signatures that anyone can make, over any
/// message.
enum SmallOrder {
  static func contains(_ encoded: [UInt8], on curve: Curve) -> Bool {
    guard let last = encoded.last else { return false }
    // The highest bit is the sign of x.
    let y: [UInt8] = encoded.dropLast() + [last & 0x7f]
    switch curve {
    case .ed25519: return ed25519.contains(y)
    case .ed448: return ed448.contains(y)
    default: return false
    }
  }

  /// y of the points of order 1, 2, 4 and 8: 1, −1, 0 and two more; then 0 and 1 with the prime added.
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

  /// y of the points of order 1, 2 and 4: 1, −1 and 0; then 0 and 1 with the prime added.
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
