import Longfellow

/// The curve y² = x³ − 3x + b (SEC 2, 2.4.2).
enum CurveP256 {
  /// The group's order, big-endian.
  static let order: [UInt8] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa,
    0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
  ]
  static let generator = ProjectivePoint(
    x: FieldP256(bigEndian: [
      0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77, 0x03, 0x7d,
      0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96,
    ]),
    y: FieldP256(bigEndian: [
      0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33,
      0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
    ]), z: .one)

  private static func square(ofYAt x: FieldP256) -> FieldP256 { x * x * x - x - x - x + .curveB }

  /// One of the two y-coordinates for this x. Since p ≡ 3 mod 4, a square root is the power of (p + 1)/4.
  static func y(ofX x: FieldP256) -> FieldP256? {
    let square = square(ofYAt: x)
    // (p + 1)/4 = 2^254 − 2^222 + 2^190 + 2^94.
    var root = FieldP256.one
    for bit in (0..<254).reversed() {
      root = root * root
      if bit >= 222 || bit == 190 || bit == 94 { root = root * square }
    }
    return root * root == square ? root : nil
  }

  /// The point of these coordinates; nil if a coordinate is not below p, or the point is not on the curve.
  static func point(x: [UInt8], y: [UInt8]) -> ProjectivePoint? {
    guard let x = FieldP256(Array(x.reversed())), let y = FieldP256(Array(y.reversed())), y * y == square(ofYAt: x)
    else { return nil }
    return ProjectivePoint(x: x, y: y, z: .one)
  }
}

/// A point as the circuit computes it, with the complete formulas of Renes, Costello and Batina (ePrint 2015/1060,
/// algorithms 1, 3).
struct ProjectivePoint {
  let x, y, z: FieldP256

  static var infinity: Self { Self(x: .zero, y: .one, z: .zero) }

  /// The same point with z = 1; nil at infinity.
  var affine: Self? {
    guard z != .zero else { return nil }
    let inverse = z.inverse
    return Self(x: x * inverse, y: y * inverse, z: .one)
  }

  private static let a = FieldP256.zero - .point(3)
  private static let b3 = FieldP256.curveB + .curveB + .curveB

  static func + (p: Self, q: Self) -> Self {
    var (t0, t1, t2) = (p.x * q.x, p.y * q.y, p.z * q.z)
    let t3 = (p.x + p.y) * (q.x + q.y) - t0 - t1
    var t4 = (p.x + p.z) * (q.x + q.z) - t0 - t2
    let t5 = (p.y + p.z) * (q.y + q.z) - t1 - t2
    let sum = a * t4 + b3 * t2
    let (x, z) = (t1 - sum, t1 + sum)
    t1 = t0 + t0 + t0 + a * t2
    t2 = a * (t0 - a * t2)
    t4 = b3 * t4 + t2
    t0 = x * z
    return Self(x: t3 * x - t5 * t4, y: t0 + t1 * t4, z: t5 * z + t3 * t1)
  }

  var doubled: Self {
    let (t0, t1, square) = (x * x, y * y, z * z)
    let xy = x * y + x * y
    let xz = x * z + x * z
    let sum = Self.a * xz + Self.b3 * square
    let t2 = Self.a * square
    let t3 = Self.a * (t0 - t2) + Self.b3 * xz
    let yz = y * z + y * z
    return Self(
      x: xy * (t1 - sum) - yz * t3, y: (t1 - sum) * (t1 + sum) + (t0 + t0 + t0 + t2) * t3,
      z: (yz + yz + yz + yz) * t1)
  }
}
