import Base
import CBOR
import Cryptography

extension ListTokenDraft {
  /// The list as a JSON Web Token (Token Status List, 5.1): the same claims by their names in JSON.
  func jwt() throws -> [UInt8] {
    let algorithm = try algorithmName()
    let header: JSON = .members([
      "alg": .string(algorithm), "typ": type.map { .string($0) },
      "x5c": carriesChain ? .array(try signer.chain().map { .string(Base64.encode($0)) }) : nil,
    ])
    let toBeSigned = [header, try jsonClaims()].map { Base64.encodeURLSafe($0.serialized()) }.joined(separator: ".")
    let signature =
      try signer.key.curve.family == .weierstrass
      ? signer.key.signDeterministically(
        Array(toBeSigned.utf8), hash: COSEAlgorithm.hash(for: signer.key.curve) ?? .sha256)
      : signer.key.signEdDSA(Array(toBeSigned.utf8))
    return Array("\(toBeSigned).\(Base64.encodeURLSafe(signature))".utf8)
  }

  private var type: String? {
    if case .text(let type)? = protected[Label.type] { type } else { nil }
  }

  private func algorithmName() throws -> String {
    switch signer.key.curve {
    case .p256: "ES256"
    case .p384: "ES384"
    case .p521: "ES512"
    case .ed25519, .ed448: "EdDSA"
    case .brainpoolP256r1: "ESB256"
    case .brainpoolP320r1: "ESB320"
    case .brainpoolP384r1: "ESB384"
    case .brainpoolP512r1: "ESB512"
    case .x25519, .x448: throw MockError.curveCannotSign(signer.key.curve.rawValue)
    }
  }

  private func jsonClaims() throws -> JSON {
    let names: KeyValuePairs<Int, String> = [
      Label.subject: "sub", Label.issuedAt: "iat", Label.expires: "exp", Label.notBefore: "nbf",
      Label.timeToLive: "ttl",
    ]
    var members = names.compactMap { label, name in claims[label].flatMap(json).map { JSON.Member(name, $0) } }
    if case .statuses(let entries, let bits) = content {
      let list = Base64.encodeURLSafe(try packedStatuses(entries, bits: Int(bits)))
      members.append(JSON.Member("status_list", ["bits": .integer(bits), "lst": .string(list)]))
    }
    return .object(members)
  }

  private func json(_ value: CBORValue) -> JSON? {
    switch value {
    case .unsigned(let number): .integer(Int64(clamping: number))
    case .text(let text): .string(text)
    default: nil
    }
  }
}
