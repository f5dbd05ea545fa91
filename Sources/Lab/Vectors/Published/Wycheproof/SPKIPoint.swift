import Cryptography

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
