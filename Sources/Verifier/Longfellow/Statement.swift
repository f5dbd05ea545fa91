import Cryptography

/// What a proof is said to prove of an mdoc.
package struct LongfellowStatement: Sendable {
  /// The issuer's P-256 key, 32 bytes big-endian each.
  package let issuerX, issuerY: [UInt8]
  package let documentType: String
  /// The SessionTranscript's bytes as in DeviceAuthentication.
  package let transcript: [UInt8]
  /// Identifiers and the CBOR of their values, in the response's order and as it has them: the proof is of these very
  /// bytes.
  package let elements: [(identifier: String, value: [UInt8])]
  /// The moment at which the document was valid: 20 characters, `YYYY-MM-DDThh:mm:ssZ`.
  package let timestamp: String

  package init(
    issuerX: [UInt8], issuerY: [UInt8], documentType: String, transcript: [UInt8],
    elements: [(identifier: String, value: [UInt8])], timestamp: String
  ) {
    self.issuerX = issuerX
    self.issuerY = issuerY
    self.documentType = documentType
    self.transcript = transcript
    self.elements = elements
    self.timestamp = timestamp
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
        // The lengths of both pairs of key and value, whose heads have one byte each.
        bytes += [UInt8(19 + element.identifier.utf8.count), UInt8(13 + element.value.count)]
      }
    }
    return [.one] + bits(of: bytes + Array(timestamp.utf8))
  }

  /// The identifier, the key of the value, and the value, as they follow each other in an item.
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

/// CBOR within a tagged byte string.
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

/// One element a bit, each byte's lowest bit first.
func bits<F: ProofField>(of bytes: [UInt8]) -> [F] {
  bytes.flatMap { byte in (0..<8).map { (byte >> $0) & 1 == 1 ? F.one : F.zero } }
}
