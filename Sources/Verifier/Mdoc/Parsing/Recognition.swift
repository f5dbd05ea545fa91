import Base
import CBOR

/// Recognises the form of an unexpected input, such as hexadecimal text instead of bytes, or an IssuerSigned instead of
/// a DeviceResponse. It only explains a rejection, and never causes acceptance.
///
/// It examines only standard forms and names, so that its output contains no personal data.
package enum Recognition {
  package static let deviceResponse = "a DeviceResponse"
  package static let appleEnvelope = "an HPKEEnvelope of Apple"
  package static let appleContent = "the map with `identity` from inside Apple's envelope"
  package static let encryptedResponse = "an EncryptedResponse of ISO/IEC TS 18013-7, Annex C"
  package static let sessionData = "a SessionData"
  package static let encryptedJWT = JWTForm.encrypted.rawValue
  package static let json = "JSON text"

  // `this is …, not …`; nil for an input that is not recognized or has the expected form.

  package static func mistake(_ bytes: [UInt8], for expected: String) -> String? {
    sentence(name(of: bytes), expected)
  }

  package static func mistake(_ text: String, for expected: String) -> String? {
    sentence(name(ofText: text.utf8), expected)
  }

  package static func mistake(_ item: CBORItem, for expected: String) -> String? {
    sentence(name(of: item), expected)
  }

  private static func sentence(_ name: String?, _ expected: String) -> String? {
    name.flatMap { $0 == expected ? nil : "this is \($0), not \(expected)" }
  }

  private static func name(of bytes: [UInt8]) -> String? {
    if bytes.isEmpty { return "empty" }
    if let text = name(ofText: bytes) { return text }
    if let item = try? CBORItem(parsing: bytes) { return name(of: item) }
    // Hexadecimal digits are also characters of base64. A long text of only these digits is therefore assumed to be
    // hexadecimal.
    let digits = bytes.count >= 24 ? Array(Base64.encode(bytes.prefix(bytes.count / 3 * 3)).utf8) : []
    return !digits.isEmpty && digits.allSatisfy(hexDigits.contains)
      ? "hexadecimal text that was decoded as base64" : nil
  }

  /// The form of a text. Nil if the form is not recognized, or for a CBOR structure, whose first byte is not ASCII.
  package static func name(ofText bytes: some BidirectionalCollection<UInt8>) -> String? {
    let white = [0x20, 0x09, 0x0a, 0x0d] as [UInt8]
    guard let start = bytes.firstIndex(where: { !white.contains($0) }),
      let end = bytes.lastIndex(where: { !white.contains($0) }), case let last = bytes[end]
    else { return nil }
    let text = bytes[start...]
    switch (text.first, last) {
    case (UInt8(ascii: "{"), UInt8(ascii: "}")), (UInt8(ascii: "["), UInt8(ascii: "]")): return json
    case (UInt8(ascii: "\""), UInt8(ascii: "\"")): return "a text in quotation marks"
    default: break
    }
    guard bytes.allSatisfy({ (0x20..<0x7f).contains($0) || white.contains($0) }) else { return nil }
    if text.starts(with: "-----BEGIN ".utf8) { return "PEM text" }
    if text.starts(with: "eyJ".utf8) {
      if last == UInt8(ascii: "~") || text.contains(UInt8(ascii: "~")) { return "an SD-JWT" }
      if let form = JWTForm(bytes[start..<bytes.index(after: end)]) { return form.rawValue }
    }
    let characters = text.lazy.filter { !white.contains($0) }
    if characters.allSatisfy(hexDigits.contains) { return "hexadecimal text" }
    return characters.allSatisfy(base64Characters.contains) ? "base64 text" : nil
  }

  private static func name(of item: CBORItem) -> String? {
    if let embedded = item.embedded { return name(of: embedded).map { $0 + " inside tag 24" } }
    switch item.kind {
    case .text: return "a CBOR text string"
    case .bytes: return "a CBOR byte string"
    case .tag: return item.content(ofTag: 18) == nil ? nil : "a COSE_Sign1 with tag 18"
    case .array: return name(ofArray: item)
    case .map: return structures.first { $0.members.allSatisfy { item[key: $0] != nil } }?.name
    default: return nil
    }
  }

  private static func name(ofArray item: CBORItem) -> String? {
    let parts = item.elements.map { Array($0) } ?? []
    if parts.count == 2, parts[0].isText("dcapi") {
      return parts[1][key: "recipientPublicKey"] == nil
        ? encryptedResponse : "an EncryptionInfo, which belongs to the request"
    }
    if parts.count == 4, parts[0].kind == .bytes, parts[1].kind == .map, parts[3].kind == .bytes {
      return "a COSE_Sign1 or COSE_Mac0"
    }
    return parts.count == 3 && parts[2].kind != .map ? "a SessionTranscript" : nil
  }

  /// The structures and their unique members. The first structure that fits is the result.
  private static let structures: [(members: [String], name: String)] = [
    // Must precede DeviceResponse, since both structures may have a status.
    (["valueDigests", "deviceKeyInfo"], "a MobileSecurityObject"),
    (["version", "status"], deviceResponse),
    (["version", "documents"], deviceResponse),
    (["algorithm"], appleEnvelope),
    (["params"], appleEnvelope),
    (["identity"], appleContent),
    (["issuerAuth"], "an IssuerSigned, as issuers deliver it"),
    (["docType", "issuerSigned"], "a Document without the DeviceResponse around it"),
    (["nameSpaces", "deviceAuth"], "a DeviceSigned"),
    (["docRequests"], "a DeviceRequest"),
    (["eReaderKey"], "a SessionEstablishment, which the reader sends"),
    (["data"], sessionData),
  ]

  private static let hexDigits = Set("0123456789abcdefABCDEF".utf8)
  private static let base64Characters =
    hexDigits.union("ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ+/-_=".utf8)
}

/// The form of a JWT by the number of its parts (RFC 7515, 7.1; RFC 7516, 7.1), as display text.
package enum JWTForm: String {
  case unsecured = "an unsecured JWT"
  case signed = "a signed JWT"
  case encrypted = "an encrypted JWT"

  /// Nil if the text is not a JWT.
  package init?(_ text: some BidirectionalCollection<UInt8>) {
    switch text.count(where: { $0 == UInt8(ascii: ".") }) {
    case 2: self = text.last == UInt8(ascii: ".") ? .unsecured : .signed
    case 4: self = .encrypted
    default: return nil
    }
  }
}
