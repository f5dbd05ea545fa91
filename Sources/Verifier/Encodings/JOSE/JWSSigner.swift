import Base
import Cryptography

/// The signer of a JWS (RFC 7515, 5.1), and the content of its protected header.
package struct JWSSigner: Sendable {
  package let algorithm: SignatureAlgorithm
  private let key: PrivateKey
  private let parameters: [JSON.Member]

  /// - Parameter parameters: the protected header's parameters in their order, without `alg`, which follows from the
  ///   key's curve.
  package init(key: PrivateKey, parameters: [JSON.Member]) throws(JOSEError) {
    guard let algorithm = SignatureAlgorithm.preferredInJOSE(for: key.curve) else { throw .invalidKey }
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
    return (protected, Base64.encodeURLSafe(try algorithm.sign(message, key: key)))
  }
}
