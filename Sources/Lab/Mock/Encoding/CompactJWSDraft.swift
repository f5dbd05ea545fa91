import Base
import Cryptography

/// A compact JWS to be made (RFC 7515, 7.1), right or wrong: header and payload go out as they stand here.
struct CompactJWSDraft: Sendable {
  enum Signature: Sendable {
    case right, damaged, absent
    /// HMAC with the bytes of a public key, as a verifier that takes `alg` at its word would check it.
    case mac(key: [UInt8])
  }

  /// In order; a name may stand in it twice.
  var header: [JSON.Member] = []
  var payload: [UInt8]
  var signature = Signature.right

  subscript(name: String) -> JSON? {
    get { header.first { $0.name == name }?.value }
    set { header.set(name, to: newValue) }
  }

  func signed(by key: PrivateKey) throws -> [UInt8] {
    let input = [JSON.object(header).serialized(), payload].map { Base64.encodeURLSafe($0) }.joined(separator: ".")
    let value = try value(over: Array(input.utf8), key: key)
    return Array("\(input).\(Base64.encodeURLSafe(value))".utf8)
  }

  private func value(over input: [UInt8], key: PrivateKey) throws -> [UInt8] {
    switch signature {
    case .right: try sign(input, with: key)
    case .damaged: try sign(input + [0], with: key)
    case .absent: []
    case .mac(let bytes): HMAC.authenticate(input, key: SecretBytes(copying: bytes), hash: .sha256)
    }
  }

  private func sign(_ input: [UInt8], with key: PrivateKey) throws -> [UInt8] {
    guard let hash = COSEAlgorithm.hash(for: key.curve) else { return try key.signEdDSA(input) }
    return try key.signDeterministically(input, hash: hash)
  }

  /// The algorithm that goes with a curve (RFC 7518, 3.4; RFC 8037, 3.1).
  static func algorithm(for curve: Curve) -> String {
    switch curve {
    case .p256: "ES256"
    case .p384: "ES384"
    case .p521: "ES512"
    case .brainpoolP256r1: "ESB256"
    case .brainpoolP320r1: "ESB320"
    case .brainpoolP384r1: "ESB384"
    case .brainpoolP512r1: "ESB512"
    case .ed25519, .ed448, .x25519, .x448: "EdDSA"
    }
  }
}

extension [JSON.Member] {
  /// Replaces the member in its place, adds it at the end, or removes it.
  mutating func set(_ name: String, to value: JSON?) {
    let index = firstIndex { $0.name == name }
    switch (index, value) {
    case (let index?, let value?): self[index] = JSON.Member(name, value)
    case (let index?, nil): remove(at: index)
    case (nil, let value?): append(JSON.Member(name, value))
    case (nil, nil): break
    }
  }
}
