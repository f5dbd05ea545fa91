import Base
import Cryptography

/// ECDH with points and with keys in SubjectPublicKeyInfo, X25519 and X448, and the curves' parameters.
enum WycheproofAgreement {
  static let kinds = [
    WycheproofSet.Kind(
      schema: "ecdh_ecpoint_test_schema_v1.json", reference: "NIST SP 800-56A, 5.7.1.2", bugClass: .disclosure,
      judge: { group, _ in ecdh(group) { test, _ in test.hex("public") } }),
    WycheproofSet.Kind(
      schema: "ecdh_test_schema_v1.json", reference: "NIST SP 800-56A, 5.7.1.2", bugClass: .disclosure,
      judge: { group, _ in ecdh(group) { test, curve in SPKIPoint.point(in: test.hex("public"), on: curve) } }),
    WycheproofSet.Kind(
      schema: "xdh_comp_schema_v1.json", reference: "RFC 7748, 6", bugClass: .disclosure,
      judge: { group, _ in
        let curve = curve(of: group)
        return { test in
          guard let curve else { return .skipped("a curve that mdoc does not use") }
          return montgomery(curve, test)
        }
      }),
    WycheproofSet.Kind(
      schema: "ec_curve_test_schema.json", reference: "SEC 2; RFC 5639, 3", bugClass: .forgery,
      judge: { _, _ in
        { test in
          let name = test["name"]?.string ?? ""
          guard let curve = CurveParameters.curve(named: name) else {
            return .skipped("a curve that mdoc does not use")
          }
          return CurveParameters.finding(on: curve, test)
        }
      }),
  ]

  private static func curve(of group: JSON) -> Curve? { group["curve"]?.string.flatMap(CurveParameters.curve(named:)) }

  private static func ecdh(
    _ group: JSON, point: @escaping (_ test: JSON, Curve) -> [UInt8]?
  ) -> (JSON) -> PublishedCase.Finding {
    let curve = curve(of: group)
    return { test in
      guard let curve else { return .skipped("a curve that mdoc does not use") }
      guard let point = point(test, curve) else {
        // A right key must be read; of the others PKIX has readers of its own.
        return test["result"]?.string == "valid"
          ? .refused() : .skipped("its key is not a named curve's point in DER")
      }
      return .init(output: agree(curve, scalar: scalar(of: test), point: point), right: test.hex("shared"), of: test)
    }
  }

  /// The secret, or nil where the point is refused. Compressed points go the way of COSE keys, by x and a sign bit.
  private static func agree(_ curve: Curve, scalar: [UInt8], point: [UInt8]) -> [UInt8]? {
    let peer =
      point.first == 2 || point.first == 3
      ? try? PublicKey(curve: curve, x: point.dropFirst(), yIsOdd: point.first == 3)
      : try? PublicKey(curve: curve, encoded: point)
    guard let peer,
      let key = try? PrivateKey(curve: curve, scalar: CurveParameters.padded(scalar, curve)),
      let secret = try? key.sharedSecret(with: peer)
    else { return nil }
    return secret.exposed()
  }

  /// All that agrees on something but zero is to be taken, though the tests would let some of it be refused.
  private static func montgomery(_ curve: Curve, _ test: JSON) -> PublishedCase.Finding {
    guard let key = try? PrivateKey(curve: curve, scalar: test.hex("private")) else {
      return .other("its private key is refused")
    }
    let right = test.hex("shared")
    let output = (try? PublicKey(curve: curve, encoded: test.hex("public"))).flatMap { peer -> [UInt8]? in
      guard let secret = try? key.sharedSecret(with: peer) else { return nil }
      return secret.exposed()
    }
    guard (output == nil) == right.allSatisfy({ $0 == 0 }) else {
      return .other(output == nil ? "refused though the secret is not zero" : "agreed on zero")
    }
    return .init(output: output, right: right, of: test)
  }

  /// Some scalars have an odd number of digits.
  private static func scalar(of test: JSON) -> [UInt8] {
    let digits = test["private"]?.string ?? ""
    return Hex.decode(digits.count % 2 == 0 ? digits : "0" + digits) ?? []
  }
}

/// The point of a SubjectPublicKeyInfo in exactly the DER of a named curve and a point. Anything else (other curves,
/// explicit parameters, BER) is left to PKIX, which reads keys within certificates.
enum SPKIPoint {
  static func point(in spki: [UInt8], on curve: Curve) -> [UInt8]? {
    guard let identifier = identifier(of: curve) else { return nil }
    let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    let algorithm = sequence(ecPublicKey + [0x06, UInt8(identifier.count)] + identifier)
    // The lengths of the two forms of a point do not overlap, so each is tried at the end of the bytes.
    for length in [1 + curve.coordinateLength, 1 + 2 * curve.coordinateLength] where length <= spki.count {
      let point = Array(spki.suffix(length))
      guard [2, 3, 4].contains(point[0]) else { continue }
      if sequence(algorithm + [0x03] + self.length(length + 1) + [0x00] + point) == spki { return point }
    }
    return nil
  }

  private static func sequence(_ content: [UInt8]) -> [UInt8] { [0x30] + length(content.count) + content }

  private static func length(_ length: Int) -> [UInt8] { length < 128 ? [UInt8(length)] : [0x81, UInt8(length)] }

  /// RFC 5480, 2.1.1.1 and RFC 5639, 4.1.
  private static func identifier(of curve: Curve) -> [UInt8]? {
    let brainpool: [UInt8] = [0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01]
    switch curve {
    case .p256: return [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    case .p384: return [0x2b, 0x81, 0x04, 0x00, 0x22]
    case .p521: return [0x2b, 0x81, 0x04, 0x00, 0x23]
    case .brainpoolP256r1: return brainpool + [0x07]
    case .brainpoolP320r1: return brainpool + [0x09]
    case .brainpoolP384r1: return brainpool + [0x0b]
    case .brainpoolP512r1: return brainpool + [0x0d]
    default: return nil
    }
  }
}
