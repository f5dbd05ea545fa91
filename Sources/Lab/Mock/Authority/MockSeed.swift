import Cryptography

/// The one source of everything that looks random here: HKDF of the seed, one label a purpose, so that the same seed
/// and the same inputs give the same bytes.
struct MockSeed: Sendable {
  private let secret: [UInt8]

  init(_ secret: [UInt8]) { self.secret = secret }

  func bytes(_ label: String, count: Int) throws -> [UInt8] {
    let key = try HKDF.deriveKey(
      from: SecretBytes(copying: secret), salt: Array("mdoc mock issuance 1".utf8), info: Array(label.utf8),
      length: count)
    return key.exposed()
  }

  /// A seed for one answer: `context` is what makes the answer its own, such as the session transcript.
  func child(_ label: String, context: [UInt8]) throws -> MockSeed {
    MockSeed(try bytes("\(label)/\(hexText(HashAlgorithm.sha256.hash(context)))", count: 32))
  }

  func key(_ label: String, on curve: Curve) throws -> PrivateKey {
    // A candidate above the group's order is refused; the next one is tried. Two in three fail at worst (brainpool).
    for attempt in 0..<64 {
      var scalar = try bytes("key/\(curve.rawValue)/\(label)/\(attempt)", count: curve.coordinateLength)
      // The order of P-521 has 521 bits, in 66 bytes.
      if curve == .p521 { scalar[0] &= 0x01 }
      if let key = try? PrivateKey(curve: curve, scalar: scalar) { return key }
    }
    throw MockError.keyDerivationFailed(label)
  }

  private func hexText(_ bytes: [UInt8]) -> String {
    bytes.map { String($0, radix: 16) }.joined(separator: ".")
  }
}
