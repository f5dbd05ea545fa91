import Base
import CBOR
import Cryptography

/// Algorithm and curve identifiers of COSE (RFC 9053; ISO/IEC 18013-5, Table 22).
enum COSEAlgorithm {
  static let es256: Int64 = -7
  static let es384: Int64 = -35
  static let es512: Int64 = -36
  static let edDSA: Int64 = -8
  static let hmac256: Int64 = 5

  static func signature(for curve: Curve) -> Int64 {
    switch curve {
    case .p256, .brainpoolP256r1: es256
    case .p384, .brainpoolP320r1, .brainpoolP384r1: es384
    case .p521, .brainpoolP512r1: es512
    case .ed25519, .ed448, .x25519, .x448: edDSA
    }
  }

  /// The identifiers of RFC 9864, which name the curve too.
  static func fullySpecified(for curve: Curve) -> Int64 {
    switch curve {
    case .p256: -9
    case .p384: -51
    case .p521: -52
    case .brainpoolP256r1: -265
    case .brainpoolP320r1: -266
    case .brainpoolP384r1: -267
    case .brainpoolP512r1: -268
    case .ed25519, .x25519: -19
    case .ed448, .x448: -53
    }
  }

  static func hash(for curve: Curve) -> HashAlgorithm? { CertificateAlgorithm(curve: curve).hash }
}

/// COSE_Key of a public key (RFC 9052, 7).
enum COSEKey {
  static let privatePart = -4

  static func fields(of key: PublicKey) -> MapDraft {
    guard let (x, y) = key.coordinates else {
      return MapDraft([(1, 1), (-1, .integer(curve(key.curve))), (-2, .bytes(key.encoded))])
    }
    return MapDraft([
      (1, 2), (-1, .integer(curve(key.curve))), (-2, .bytes(Array(x))), (-3, .bytes(Array(y))),
    ])
  }

  private static func curve(_ curve: Curve) -> Int64 {
    switch curve {
    case .p256: 1
    case .p384: 2
    case .p521: 3
    case .x25519: 4
    case .x448: 5
    case .ed25519: 6
    case .ed448: 7
    case .brainpoolP256r1: 256
    case .brainpoolP320r1: 257
    case .brainpoolP384r1: 258
    case .brainpoolP512r1: 259
    }
  }
}

/// A COSE_Sign1 that is still to be made (RFC 9052, 4.2): its headers, the payload that is signed, and the payload that
/// is shown.
struct COSESign1Draft: Sendable {
  var protected: MapDraft
  var unprotected = MapDraft()
  /// The mobile security object inside the payload; empty in a device signature.
  var content = MapDraft()
  /// The payload that is signed.
  var payload: [UInt8]
  /// The payload in the structure: the signed one, or null if it is detached.
  var presentedPayload: CBORValue
  var key: PrivateKey
  var hash: HashAlgorithm?
  var style = EncodingStyle.shortest
  /// Changes the protected header's bytes before they are signed.
  var changeProtectedBytes: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  init(payload: [UInt8], isDetached: Bool, key: PrivateKey) {
    self.payload = payload
    presentedPayload = isDetached ? .null : .bytes(payload)
    self.key = key
    hash = COSEAlgorithm.hash(for: key.curve)
    protected = MapDraft([(1, .integer(COSEAlgorithm.signature(for: key.curve)))])
  }

  /// Protected header, unprotected header, payload, signature.
  func parts() throws -> [CBORValue] {
    let header = changeProtectedBytes(protected.entries.isEmpty ? [] : style.encode(protected.value))
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
  var protected = MapDraft([(1, .integer(COSEAlgorithm.hmac256))])
  var payload: [UInt8]
  var key: [UInt8]
  /// Whether the payload stands in the structure, too.
  var isAttached = false

  func parts() -> [CBORValue] {
    let header = protected.value.encoded()
    let toBeMACed = CBORValue.array(["MAC0", .bytes(header), .bytes([]), .bytes(payload)]).encoded()
    let tag = HMAC.authenticate(toBeMACed, key: SecretBytes(copying: key), hash: .sha256)
    return [.bytes(header), .map([]), isAttached ? .bytes(payload) : .null, .bytes(tag)]
  }
}

/// A compact JWS that is still to be made (RFC 7515, 7.1), right or wrong. Header and payload are sent as they are
/// here.
struct CompactJWSDraft: Sendable {
  enum Signature: Sendable {
    case right, damaged, absent
    /// HMAC with the bytes of a public key as its secret. A verifier that trusts the header's `alg` would accept it.
    case mac(key: [UInt8])
  }

  /// The header's members, in order. A name may occur twice.
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

  /// The algorithm for keys on this curve (RFC 7518, 3.4; RFC 8037, 3.1).
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
  /// Replaces the member in its place, or adds it at the end; nil removes it.
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
