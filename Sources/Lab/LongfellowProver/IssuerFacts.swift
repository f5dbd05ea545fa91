import CBOR
import Cryptography

/// The facts that a proof needs about issuerAuth: the signature, the keys, and the offsets of members in the MSO.
struct IssuerFacts {
  /// The Sig_structure (RFC 9052, 4.4).
  let signed: [UInt8]
  /// r and s.
  let signature: [UInt8]
  let issuerX, issuerY: [UInt8]
  let deviceX, deviceY: [UInt8]
  /// The payload without its first five bytes.
  let securityObject: [UInt8]
  let validFrom, validUntil, deviceKeyInfo, valueDigests: Int

  init(_ issuerAuth: [UInt8], timestamp: String) throws(ProverError) {
    let parts = try Self.parts(issuerAuth)
    guard parts.protected == [0xa1, 0x01, 0x26] else { throw .issuerAlgorithm }
    guard parts.signature.count == 64 else { throw .issuerSignature }
    signature = parts.signature
    (issuerX, issuerY) = try Self.key(inCertificate: parts.certificate)
    let payload = parts.payload
    guard payload.count >= 5 + 256, payload.count < 65_536, payload.starts(with: [0xd8, 0x18, 0x59]),
      Int(payload[3]) << 8 | Int(payload[4]) == payload.count - 5
    else { throw .securityObjectTooShort }
    var signed: [UInt8] = [0x84]
    CBORHead.appendText("Signature1", to: &signed)
    signed += [0x43, 0xa1, 0x01, 0x26, 0x40]
    CBORHead.appendBytes(count: payload.count, to: &signed)
    self.signed = signed + payload
    securityObject = Array(payload.dropFirst(5))

    let root = try SecurityObjectSearch(securityObject)
    guard try root.value(of: "digestAlgorithm").text == "SHA-256" else { throw .digestAlgorithm }
    valueDigests = try root.offset(of: "valueDigests")
    let validity = SecurityObjectSearch(try root.value(of: "validityInfo"))
    validFrom = try validity.offset(of: "validFrom")
    validUntil = try validity.offset(of: "validUntil")
    let from = try Self.date("validFrom", in: securityObject, at: validFrom)
    let until = try Self.date("validUntil", in: securityObject, at: validUntil)
    let now = Array(timestamp.utf8)
    guard !now.lexicographicallyPrecedes(from), !until.lexicographicallyPrecedes(now) else { throw .outsideValidity }
    deviceKeyInfo = try root.offset(of: "deviceKeyInfo")
    (deviceX, deviceY) = try Self.deviceKey(in: securityObject, at: deviceKeyInfo)
  }

  private typealias Parts = (protected: ArraySlice<UInt8>, certificate: [UInt8], payload: [UInt8], signature: [UInt8])

  private static func parts(_ issuerAuth: [UInt8]) throws(ProverError) -> Parts {
    guard let item = try? CBORItem(parsing: issuerAuth) else { throw .issuerAuthMalformed }
    let fields = (item.content(ofTag: 18) ?? item).elements.map { Array($0) } ?? []
    guard fields.count == 4, let protected = fields[0].bytes, let payload = fields[2].bytes,
      let signature = fields[3].bytes, let chain = fields[1][label: 33],
      let certificate = chain.bytes ?? chain.elements?.first(where: { _ in true })?.bytes
    else { throw .issuerAuthMalformed }
    return (protected, Array(certificate), Array(payload), Array(signature))
  }

  /// The subject's public key, found by its fixed prefix. The search is safe because a certificate has only one
  /// SubjectPublicKeyInfo.
  private static func key(inCertificate certificate: [UInt8]) throws(ProverError) -> ([UInt8], [UInt8]) {
    let head = PublicKey.p256InfoPrefix + [0x04]
    for start in certificate.indices.dropLast(head.count + 63) {
      let end = start + head.count
      guard certificate[start..<end].elementsEqual(head) else { continue }
      return (Array(certificate[end..<(end + 32)]), Array(certificate[(end + 32)..<(end + 64)]))
    }
    throw .issuerKey
  }

  /// The text that follows a key and tag 0. It has 20 characters and ends with Z.
  private static func date(_ key: String, in bytes: [UInt8], at offset: Int) throws(ProverError) -> [UInt8] {
    let head = CBORValue.text(key).encoded() + [0xc0, 0x74]
    let date = bytes.dropFirst(offset + head.count).prefix(20)
    guard bytes.dropFirst(offset).starts(with: head), date.count == 20, date.last == UInt8(ascii: "Z") else {
      throw .validityFormat
    }
    return Array(date)
  }

  private static func deviceKey(in bytes: [UInt8], at offset: Int) throws(ProverError) -> ([UInt8], [UInt8]) {
    let start: [UInt8] =
      CBORValue.text("deviceKeyInfo").encoded() + [0xa1] + CBORValue.text("deviceKey").encoded()
      + [0xa4, 0x01, 0x02, 0x20, 0x01, 0x21, 0x58, 0x20]
    let middle: [UInt8] = [0x22, 0x58, 0x20]
    let rest = bytes.dropFirst(offset)
    guard rest.starts(with: start), rest.count >= start.count + 32 + middle.count + 32 else { throw .deviceKeyFormat }
    let x = rest.dropFirst(start.count).prefix(32)
    let tail = rest.dropFirst(start.count + 32)
    guard tail.starts(with: middle) else { throw .deviceKeyFormat }
    return (Array(x), Array(tail.dropFirst(middle.count).prefix(32)))
  }

  /// The offset of this digest's CBOR head in the MSO, in any namespace.
  func offset(ofDigest digest: [UInt8]) throws(ProverError) -> Int {
    let digests = try SecurityObjectSearch(securityObject).value(of: "valueDigests")
    let entries = (digests.entries.map(Array.init) ?? []).flatMap { $0.value.entries.map(Array.init) ?? [] }
    guard let entry = entries.first(where: { $0.value.encoded.elementsEqual([0x58, 0x20] + digest) }) else {
      throw .digestMissing
    }
    return entry.value.startOffset
  }
}

/// The members of a map in the MSO, and the offsets of their keys.
private struct SecurityObjectSearch {
  private let map: CBORItem

  init(_ bytes: [UInt8]) throws(ProverError) {
    guard let map = try? CBORItem(parsing: bytes) else { throw .issuerAuthMalformed }
    self.map = map
  }

  init(_ map: CBORItem) { self.map = map }

  func value(of key: String) throws(ProverError) -> CBORItem {
    guard let value = map[key: key] else { throw .issuerAuthMalformed }
    return value
  }

  func offset(of key: String) throws(ProverError) -> Int {
    guard let entry = map.entries?.first(where: { $0.key.isText(key) }) else { throw .issuerAuthMalformed }
    return entry.key.startOffset
  }
}
