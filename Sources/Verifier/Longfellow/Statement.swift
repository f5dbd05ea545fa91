import Cryptography

/// The facts about an mdoc that a proof must prove.
package struct LongfellowStatement: Sendable {
  /// The issuer's P-256 key, 32 bytes big-endian each.
  package let issuerX, issuerY: [UInt8]
  package let documentType: String
  /// The SessionTranscript's bytes as in DeviceAuthentication.
  package let transcript: [UInt8]
  /// Identifiers and the CBOR of their values, in the response's order. The proof is about exactly these bytes.
  package let elements: [(identifier: String, value: [UInt8])]
  /// A time at which the document was valid: 20 characters, `YYYY-MM-DDThh:mm:ssZ`.
  package let timestamp: String

  package init(
    issuerX: [UInt8], issuerY: [UInt8], documentType: String, transcript: [UInt8],
    elements: [(identifier: String, value: [UInt8])], timestamp: String
  ) {
    (self.issuerX, self.issuerY) = (issuerX, issuerY)
    (self.documentType, self.transcript) = (documentType, transcript)
    (self.elements, self.timestamp) = (elements, timestamp)
  }

  /// The hash circuit's public inputs before the tags. The statement must have been checked.
  func hashInputs(version: Int) -> [FieldGF128] {
    var bytes: [UInt8] = []
    for element in elements {
      if version == 6 {
        let pair = elementPair(element)
        bytes += padded(pair, to: KnownCircuit.longestPair) + [UInt8(pair.count)]
      } else {
        bytes += padded(text(element.identifier), to: 32) + padded(element.value, to: KnownCircuit.longestValue)
        // The lengths of both key–value pairs. Each head takes one byte.
        bytes += [UInt8(19 + element.identifier.utf8.count), UInt8(13 + element.value.count)]
      }
    }
    return [.one] + bits(of: bytes + Array(timestamp.utf8))
  }

  /// The identifier, the value's key, and the value, in the order of an item.
  func elementPair(_ element: (identifier: String, value: [UInt8])) -> [UInt8] {
    text(element.identifier) + text("elementValue") + element.value
  }

  /// The signature circuit's public inputs before the tags' bits. The statement must have been checked.
  func signatureInputs(deviceNameSpaces: [UInt8]) -> [FieldP256] {
    let hash = deviceHash(nameSpaces: deviceNameSpaces)
    return [.one, FieldP256(bigEndian: issuerX), FieldP256(bigEndian: issuerY), FieldP256(bigEndian: hash)]
  }

  /// The hash of the Sig_structure that the device signs (ISO/IEC 18013-5, 9.1.3.4).
  private func deviceHash(nameSpaces: [UInt8]) -> [UInt8] {
    let authentication =
      [0x84] + text("DeviceAuthentication") + transcript + text(documentType) + tagged(nameSpaces)
    let protected: [UInt8] = [0x43, 0xa1, 0x01, 0x26]
    return HashAlgorithm.sha256.hash(
      [0x84] + text("Signature1") + protected + [0x40] + string(tagged(authentication)))
  }
}

private func padded(_ bytes: [UInt8], to count: Int) -> [UInt8] {
  bytes + [UInt8](repeating: 0, count: count - bytes.count)
}

/// A text in CBOR.
private func text(_ string: String) -> [UInt8] { head(3, string.utf8.count) + Array(string.utf8) }

/// A byte string in CBOR.
private func string(_ bytes: [UInt8]) -> [UInt8] { head(2, bytes.count) + bytes }

/// CBOR inside a tagged byte string.
private func tagged(_ bytes: [UInt8]) -> [UInt8] { [0xd8, 0x18] + string(bytes) }

/// CBOR's shortest head of a major type.
private func head(_ major: UInt8, _ count: Int) -> [UInt8] {
  let type = major << 5
  switch count {
  case ..<24: return [type | UInt8(count)]
  case ..<256: return [type | 24, UInt8(count)]
  case ..<65_536: return [type | 25, UInt8(count >> 8), UInt8(count & 0xff)]
  default: return [type | 26] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
  }
}

/// One element for each bit, each byte's lowest bit first.
func bits<F: ProofField>(of bytes: [UInt8]) -> [F] {
  bytes.flatMap { byte in (0..<8).map { (byte >> $0) & 1 == 1 ? F.one : F.zero } }
}

/// The rules for provable statements (the format's own bounds; ISO/IEC 18013-5 second edition draft, 13).
extension LongfellowStatement {
  /// Checks the rules that depend only on a circuit's version and number of elements.
  func check(for known: KnownCircuit) throws(LongfellowError) {
    if let error = error(for: known) { throw .statement(error) }
  }

  private func error(for known: KnownCircuit) -> StatementError? {
    guard elements.count == known.elements else { return .elementCount }
    guard Set(elements.map(\.identifier)).count == elements.count else { return .repeatedIdentifier }
    for element in elements {
      let length = element.identifier.utf8.count
      guard (1...known.longestIdentifier).contains(length) else { return .identifier }
      guard element.value.count <= KnownCircuit.longestValue else { return .valueLength }
      guard isProvable(element.value) else { return .valueKind }
      if known.version == 6, elementPair(element).count > KnownCircuit.longestPair { return .valueLength }
    }
    guard (1...255).contains(documentType.utf8.count) else { return .documentType }
    guard isTimestamp(timestamp) else { return .timestamp }
    guard FieldP256.isPoint(x: issuerX, y: issuerY) else { return .issuerKey }
    return nil
  }
}

extension KnownCircuit {
  /// The longest value of an element, as CBOR.
  static var longestValue: Int { 64 }
  /// The longest identifier, key of the value and value in version 6, together as CBOR.
  static var longestPair: Int { 96 }

  /// Version 7 needs a head of one byte. Longer texts have longer heads.
  package var longestIdentifier: Int { version == 6 ? 32 : 23 }
}

/// True for `YYYY-MM-DDThh:mm:ssZ`. The circuit compares texts, not times.
private func isTimestamp(_ text: String) -> Bool {
  let pattern = Array("0000-00-00T00:00:00Z".utf8)
  let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  return text.utf8.count == pattern.count
    && zip(text.utf8, pattern).allSatisfy { $0 == $1 || ($1 == digits.lowerBound && digits.contains($0)) }
}

/// True for one whole CBOR item (RFC 8949) of a provable kind: an integer, bytes, text, a boolean, a full date (tag
/// 1004) or a date and time (tag 0) of the usual length. Heads may be longer than necessary, since the issuer chose the
/// encoding.
private func isProvable(_ value: [UInt8]) -> Bool {
  guard let first = value.first, let (argument, head) = cborHead(value) else { return false }
  let content = value.count - head
  switch first >> 5 {
  case 0, 1: return content == 0
  case 2, 3: return argument == UInt64(content)
  case 6:
    return value.starts(with: [0xd9, 0x03, 0xec, 0x6a]) && content == 11
      || value.starts(with: [0xc0, 0x74]) && content == 21
  default: return value == [0xf4] || value == [0xf5]
  }
}

/// The argument of an item's head, and the head's length; nil if the head is truncated or has an indefinite length.
private func cborHead(_ bytes: [UInt8]) -> (argument: UInt64, length: Int)? {
  guard let first = bytes.first else { return nil }
  let size: Int
  switch first & 0x1f {
  case let small where small < 24: return (UInt64(small), 1)
  case 24: size = 1
  case 25: size = 2
  case 26: size = 4
  case 27: size = 8
  default: return nil
  }
  guard bytes.count > size else { return nil }
  return (bytes[1...size].reduce(0) { $0 << 8 | UInt64($1) }, 1 + size)
}
