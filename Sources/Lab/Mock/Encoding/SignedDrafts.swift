import Base
import CBOR
import Cryptography

/// The identifiers of a curve, and of the algorithm that signs with its keys: X.509 (RFC 5480, RFC 5639, RFC 8410),
/// COSE (RFC 9053; ISO/IEC 18013-5, Table 22) and JOSE (RFC 7518, 3.4; RFC 8037, 3.1).
struct CurveIdentifiers {
  let oid: String
  /// In COSE: the curve, the algorithm, and the fully specified algorithm, which also identifies the curve (RFC 9864).
  let curve, algorithm, fullySpecified: Int64
  let jws: String

  init(_ curve: Curve) {
    (oid, self.curve, algorithm, fullySpecified, jws) =
      switch curve {
      case .p256: ("1.2.840.10045.3.1.7", 1, -7, -9, "ES256")
      case .p384: ("1.3.132.0.34", 2, -35, -51, "ES384")
      case .p521: ("1.3.132.0.35", 3, -36, -52, "ES512")
      case .brainpoolP256r1: ("1.3.36.3.3.2.8.1.1.7", 256, -7, -265, "ESB256")
      case .brainpoolP320r1: ("1.3.36.3.3.2.8.1.1.9", 257, -35, -266, "ESB320")
      case .brainpoolP384r1: ("1.3.36.3.3.2.8.1.1.11", 258, -35, -267, "ESB384")
      case .brainpoolP512r1: ("1.3.36.3.3.2.8.1.1.13", 259, -36, -268, "ESB512")
      case .ed25519: ("1.3.101.112", 6, -8, -19, "EdDSA")
      case .ed448: ("1.3.101.113", 7, -8, -53, "EdDSA")
      case .x25519: ("1.3.101.110", 4, -8, -19, "EdDSA")
      case .x448: ("1.3.101.111", 5, -8, -53, "EdDSA")
      }
  }
}

/// COSE_Key of a public key (RFC 9052, 7).
enum COSEKey {
  static func fields(of key: PublicKey) -> MapDraft {
    let curve = CBORValue.integer(CurveIdentifiers(key.curve).curve)
    guard let (x, y) = key.coordinates else { return MapDraft([(1, 1), (-1, curve), (-2, .bytes(key.encoded))]) }
    return MapDraft([(1, 2), (-1, curve), (-2, .bytes(Array(x))), (-3, .bytes(Array(y)))])
  }
}

extension PrivateKey {
  /// Signs with the algorithm of the key's curve.
  func sign(_ message: [UInt8]) throws -> [UInt8] {
    guard let hash = CertificateAlgorithm(curve: curve).hash else { return try signEdDSA(message) }
    return try signDeterministically(message, hash: hash)
  }
}

/// The parts of a COSE_Sign1 (RFC 9052, 4.2).
struct COSESign1Draft: Sendable {
  var protected: MapDraft
  var unprotected = MapDraft()
  /// The mobile security object inside the payload; empty in a device signature.
  var content = MapDraft()
  /// The payload that is signed.
  var payload: [UInt8]
  /// The payload in the structure: the signed payload, or null if detached.
  var presentedPayload: CBORValue
  var key: PrivateKey
  var hash: HashAlgorithm?
  var style = EncodingStyle.shortest

  init(payload: [UInt8], isDetached: Bool, key: PrivateKey) {
    self.payload = payload
    presentedPayload = isDetached ? .null : .bytes(payload)
    self.key = key
    hash = CertificateAlgorithm(curve: key.curve).hash
    protected = MapDraft([(1, .integer(CurveIdentifiers(key.curve).algorithm))])
  }

  /// Protected header, unprotected header, payload, signature.
  func parts() throws -> [CBORValue] {
    let header = protected.entries.isEmpty ? [] : style.encode(protected.value)
    let toBeSigned = CBORValue.array(["Signature1", .bytes(header), .bytes([]), .bytes(payload)]).encoded()
    return [.bytes(header), unprotected.value, presentedPayload, .bytes(try sign(toBeSigned))]
  }

  private func sign(_ message: [UInt8]) throws -> [UInt8] {
    guard let hash, key.curve.family == .weierstrass else { return try key.signEdDSA(message) }
    return try key.signDeterministically(message, hash: hash)
  }
}

/// A COSE_Mac0 with HMAC 256/256 over a detached payload (RFC 9052, 6.2; ISO/IEC 18013-5, 9.1.3.5).
struct COSEMac0Draft: Sendable {
  /// HMAC 256/256.
  var protected = MapDraft([(1, 5)])
  var payload: [UInt8]
  var key: [UInt8]
  /// True if the structure contains the payload.
  var isAttached = false

  func parts() -> [CBORValue] {
    let header = protected.value.encoded()
    let toBeMACed = CBORValue.array(["MAC0", .bytes(header), .bytes([]), .bytes(payload)]).encoded()
    let tag = HMAC.authenticate(toBeMACed, key: SecretBytes(copying: key), hash: .sha256)
    return [.bytes(header), .map([]), isAttached ? .bytes(payload) : .null, .bytes(tag)]
  }
}

/// A compact JWS (RFC 7515, 7.1).
package enum CompactJWS {
  /// Signs with the algorithm of the key's curve. The header's members keep their order.
  package static func sign(_ payload: [UInt8], header: [JSON.Member], with key: PrivateKey) throws -> [UInt8] {
    let input = [JSON.object(header).serialized(), payload].map { Base64.encodeURLSafe($0) }.joined(separator: ".")
    return Array("\(input).\(Base64.encodeURLSafe(try key.sign(Array(input.utf8))))".utf8)
  }
}
