import Cryptography

/// The signature algorithms of ISO/IEC 18013-5 (Table B.3 and 9.1.2.4), with their fully specified forms (RFC 9864).
///
/// An algorithm is bound to its curves: ES256 with a P-384 key is refused before any signature is checked.
package struct SignatureAlgorithm: Sendable, Hashable {
  /// The COSE algorithm identifier.
  package let identifier: Int64
  package let name: String
  /// Nil for EdDSA, which hashes by itself.
  package let hash: HashAlgorithm?
  package let curves: [Curve]

  package static let all: [SignatureAlgorithm] = [
    .init(identifier: -7, name: "ES256", hash: .sha256, curves: [.p256, .brainpoolP256r1]),
    .init(identifier: -35, name: "ES384", hash: .sha384, curves: [.p384, .brainpoolP320r1, .brainpoolP384r1]),
    .init(identifier: -36, name: "ES512", hash: .sha512, curves: [.p521, .brainpoolP512r1]),
    .init(identifier: -8, name: "EdDSA", hash: nil, curves: [.ed25519, .ed448]),
    .init(identifier: -9, name: "ESP256", hash: .sha256, curves: [.p256]),
    .init(identifier: -51, name: "ESP384", hash: .sha384, curves: [.p384]),
    .init(identifier: -52, name: "ESP512", hash: .sha512, curves: [.p521]),
    .init(identifier: -19, name: "Ed25519", hash: nil, curves: [.ed25519]),
    .init(identifier: -53, name: "Ed448", hash: nil, curves: [.ed448]),
    .init(identifier: -265, name: "ESB256", hash: .sha256, curves: [.brainpoolP256r1]),
    .init(identifier: -266, name: "ESB320", hash: .sha384, curves: [.brainpoolP320r1]),
    .init(identifier: -267, name: "ESB384", hash: .sha384, curves: [.brainpoolP384r1]),
    .init(identifier: -268, name: "ESB512", hash: .sha512, curves: [.brainpoolP512r1]),
  ]

  package init?(identifier: Int64) {
    guard let algorithm = Self.all.first(where: { $0.identifier == identifier }) else { return nil }
    self = algorithm
  }

  /// The algorithm that we sign with: the one that every reader of ISO/IEC 18013-5:2021 knows comes first in the table.
  package static func preferred(for curve: Curve) -> SignatureAlgorithm? {
    all.first { $0.curves.contains(curve) }
  }

  private init(identifier: Int64, name: String, hash: HashAlgorithm?, curves: [Curve]) {
    self.identifier = identifier
    self.name = name
    self.hash = hash
    self.curves = curves
  }

  func verify(_ signature: ArraySlice<UInt8>, of message: [UInt8], key: PublicKey) -> Bool {
    if let hash { return key.verifyECDSA(signature, of: message, hash: hash) }
    return key.verifyEdDSA(signature, of: message)
  }

  func sign(_ message: [UInt8], key: PrivateKey) throws(CryptoError) -> [UInt8] {
    if let hash { return try key.signECDSA(message, hash: hash) }
    return try key.signEdDSA(message)
  }
}
