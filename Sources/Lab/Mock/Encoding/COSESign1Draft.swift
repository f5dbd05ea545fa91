import CBOR
import Cryptography

/// A COSE_Sign1 to be made (RFC 9052, 4.2): headers, what is signed, and what is shown as its payload.
struct COSESign1Draft: Sendable {
  var protected: MapDraft
  var unprotected = MapDraft()
  /// What the payload wraps: the mobile security object.
  var content = MapDraft()
  /// What is signed.
  var payload: [UInt8]
  /// What stands in the structure: the payload, or null where it is detached.
  var presentedPayload: CBORValue
  var key: PrivateKey
  var hash: HashAlgorithm?
  var style = EncodingStyle.shortest
  /// Takes the protected header's bytes before they are signed.
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

  func parts() -> [CBORValue] {
    let header = protected.value.encoded()
    let toBeMACed = CBORValue.array(["MAC0", .bytes(header), .bytes([]), .bytes(payload)]).encoded()
    let tag = HMAC.authenticate(toBeMACed, key: SecretBytes(copying: key), hash: .sha256)
    return [.bytes(header), .map([]), .null, .bytes(tag)]
  }
}
