import CBOR
import Cryptography

/// DeviceSigned to be made (ISO/IEC 18013-5, 9.1.3): what the device signs or MACs, and how.
struct DeviceAuthDraft: Sendable {
  /// The answer's own seed.
  let seed: MockSeed
  var transcript: [UInt8]
  var docType: String
  /// DeviceNameSpacesBytes, tag 24 included.
  var nameSpaces: [UInt8]
  var key: PrivateKey
  var hasSignature: Bool
  var hasMAC: Bool
  /// Whose key the MAC key is agreed with; without one, a key that nobody has.
  var readerKey: PublicKey?
  /// The `info` of the MAC key's derivation.
  var macKeyInfo = "EMacKey"
  /// The bytes that are left of the MAC.
  var truncatedMAC = 32
  var style = EncodingStyle.shortest
  var changeSignature: @Sendable (inout COSESign1Draft) throws -> Void = { _ in }
  var changeMAC: @Sendable (inout COSEMac0Draft) throws -> Void = { _ in }

  /// `#6.24(bstr .cbor ["DeviceAuthentication", SessionTranscript, DocType, DeviceNameSpacesBytes])`.
  var deviceAuthenticationBytes: [UInt8] {
    CBORValue.embedded([
      "DeviceAuthentication", .encoded(transcript), .text(docType), .encoded(nameSpaces),
    ]).encoded()
  }

  /// DeviceAuth: the parts of each structure, still to be changed.
  func signatureParts() throws -> [CBORValue] {
    var draft = COSESign1Draft(payload: deviceAuthenticationBytes, isDetached: true, key: key)
    draft.style = style
    try changeSignature(&draft)
    return try draft.parts()
  }

  func macParts() throws -> [CBORValue] {
    var draft = COSEMac0Draft(payload: deviceAuthenticationBytes, key: try macKey())
    try changeMAC(&draft)
    var parts = draft.parts()
    parts.signature = Array(parts.signature.prefix(truncatedMAC))
    return parts
  }

  /// EMacKey (9.1.3.5): salt SHA-256(SessionTranscriptBytes).
  private func macKey() throws -> [UInt8] {
    let curve = key.curve.family == .edwards ? Curve.p256 : key.curve
    let peer = try readerKey ?? seed.key("absent reader", on: curve).publicKey
    let agreeing = peer.curve == key.curve ? key : try seed.key("absent device", on: peer.curve)
    let salt = HashAlgorithm.sha256.hash(CBORValue.tagged(24, .bytes(transcript)).encoded())
    return try HKDF.deriveKey(
      from: try agreeing.sharedSecret(with: peer), salt: salt, info: Array(macKeyInfo.utf8), length: 32
    ).exposed()
  }
}
