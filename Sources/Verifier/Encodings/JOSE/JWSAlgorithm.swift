import Base
import Cryptography

/// A digital signature algorithm of JOSE: RFC 7518, 3.4; RFC 8037, 3.1; RFC 9864, 2.
///
/// An algorithm is bound to its curves, so that ES256 with a P-384 key is refused before any signature is checked.
/// There is no `none` and no HMAC: a public key must never become a shared secret (RFC 8725, 2.1 and 3.1).
package struct JWSAlgorithm: Sendable, Hashable {
  package let name: String
  /// Nil for EdDSA, which hashes by itself.
  package let hash: HashAlgorithm?
  package let curves: [Curve]

  /// The brainpool algorithms are registered for COSE; ISO/IEC TS 18013-7 uses their names in JOSE as well.
  package static let all: [JWSAlgorithm] = [
    .init(name: "ES256", hash: .sha256, curves: [.p256]),
    .init(name: "ES384", hash: .sha384, curves: [.p384]),
    .init(name: "ES512", hash: .sha512, curves: [.p521]),
    .init(name: "EdDSA", hash: nil, curves: [.ed25519, .ed448]),
    .init(name: "Ed25519", hash: nil, curves: [.ed25519]),
    .init(name: "Ed448", hash: nil, curves: [.ed448]),
    .init(name: "ESB256", hash: .sha256, curves: [.brainpoolP256r1]),
    .init(name: "ESB320", hash: .sha384, curves: [.brainpoolP320r1]),
    .init(name: "ESB384", hash: .sha384, curves: [.brainpoolP384r1]),
    .init(name: "ESB512", hash: .sha512, curves: [.brainpoolP512r1]),
  ]

  /// The algorithm of exactly this name (RFC 7515, 5.3: compared without any mapping).
  package init?(name: String) {
    guard let algorithm = Self.all.first(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
    self = algorithm
  }

  private init(name: String, hash: HashAlgorithm?, curves: [Curve]) {
    self.name = name
    self.hash = hash
    self.curves = curves
  }

  func verify(_ signature: [UInt8], of message: [UInt8], key: PublicKey) -> Bool {
    if let hash { return key.verifyECDSA(signature, of: message, hash: hash) }
    return key.verifyEdDSA(signature, of: message)
  }
}

/// The signer of a JWS (RFC 7515, 5.1), and the content of its protected header.
package struct JWSSigner: Sendable {
  package let algorithm: JWSAlgorithm
  private let key: PrivateKey
  private let parameters: [JSON.Member]

  /// - Parameter parameters: those of the protected header, in their order, beside `alg`, which follows from the key's
  /// curve.
  package init(key: PrivateKey, parameters: [JSON.Member]) throws(JOSEError) {
    guard let algorithm = JWSAlgorithm.all.first(where: { $0.curves.contains(key.curve) }) else { throw .invalidKey }
    self.algorithm = algorithm
    self.key = key
    self.parameters = parameters
  }

  /// The compact serialization (RFC 7515, 7.1).
  package func sign(_ payload: [UInt8]) throws(CryptoError) -> String {
    let payload = Base64.encodeURLSafe(payload)
    let (protected, signature) = try sign(encoded: payload)
    return protected + "." + payload + "." + signature
  }

  /// The general JSON serialization (RFC 7515, 7.2.1), each signer with a protected header of its own.
  package static func sign(_ payload: [UInt8], by signers: [JWSSigner]) throws(CryptoError) -> JSON {
    let payload = Base64.encodeURLSafe(payload)
    var signatures: [JSON] = []
    for signer in signers {
      let (protected, signature) = try signer.sign(encoded: payload)
      signatures.append(["protected": .string(protected), "signature": .string(signature)])
    }
    return ["payload": .string(payload), "signatures": .array(signatures)]
  }

  private func sign(encoded payload: String) throws(CryptoError) -> (protected: String, signature: String) {
    let header = JSON.object([JSON.Member("alg", .string(algorithm.name))] + parameters)
    let protected = Base64.encodeURLSafe(header.serialized())
    let message = Array((protected + "." + payload).utf8)
    let signature =
      if let hash = algorithm.hash { try key.signECDSA(message, hash: hash) } else { try key.signEdDSA(message) }
    return (protected, Base64.encodeURLSafe(signature))
  }
}
