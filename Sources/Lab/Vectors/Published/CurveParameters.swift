import Base
import Cryptography

/// Published parameters of a curve, held against the curve that computes here.
enum CurveParameters {
  /// Names of SEC 2 and RFC 5639.
  static func curve(named name: String) -> Curve? {
    switch name {
    case "secp256r1": .p256
    case "secp384r1": .p384
    case "secp521r1": .p521
    case "edwards25519": .ed25519
    case "edwards448": .ed448
    case "curve25519": .x25519
    case "curve448": .x448
    default: Curve(rawValue: name).flatMap { $0.family == .weierstrass ? $0 : nil }
    }
  }

  /// The generator is a point of the curve, is 1 times itself and the negative of n−1 times itself, and n is no scalar.
  static func finding(on curve: Curve, _ parameters: JSON) -> PublishedCase.Finding {
    let x = padded(parameters.hex("gx"), curve)
    let y = padded(parameters.hex("gy"), curve)
    let order = padded(parameters.hex("n"), curve)
    guard let generator = try? PublicKey(curve: curve, x: x, y: y) else { return .other("its generator is refused") }
    // The order is odd, so that these change the last bit alone.
    guard (try? PublicKey(curve: curve, x: x, y: lastBitFlipped(y))) == nil else {
      return .other("a point beside its generator is taken")
    }
    let one = [UInt8](repeating: 0, count: curve.coordinateLength - 1) + [1]
    guard (try? PrivateKey(curve: curve, scalar: one))?.publicKey == generator else {
      return .other("its generator is another")
    }
    let opposite = (try? PrivateKey(curve: curve, scalar: lastBitFlipped(order)))?.publicKey
    guard opposite?.coordinates.map({ Array($0.x) }) == x, opposite != generator,
      (try? PrivateKey(curve: curve, scalar: order)) == nil
    else { return .other("its order is another") }
    return .accepted
  }

  /// As long as the field: published numbers have a leading zero or lack one.
  static func padded(_ number: [UInt8], _ curve: Curve) -> [UInt8] {
    let digits = Array(number.drop { $0 == 0 })
    return [UInt8](repeating: 0, count: max(0, curve.coordinateLength - digits.count)) + digits
  }

  private static func lastBitFlipped(_ bytes: [UInt8]) -> [UInt8] { bytes.dropLast() + bytes.suffix(1).map { $0 ^ 1 } }
}
