import Cryptography

/// What a proof is said to prove of an mdoc.
package struct LongfellowStatement: Sendable {
  /// The issuer's P-256 key, 32 bytes big-endian each.
  package let issuerX, issuerY: [UInt8]
  package let documentType: String
  /// The SessionTranscript's bytes as in DeviceAuthentication.
  package let transcript: [UInt8]
  /// Identifiers and the CBOR of their values, in the response's order.
  package let elements: [(identifier: String, value: [UInt8])]
  /// 20 characters, `YYYY-MM-DDThh:mm:ssZ`.
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

  /// The hash circuit's public inputs before the tags.
  func hashInputs(version: Int) throws(LongfellowError) -> [FieldGF128] {
    guard timestamp.utf8.count == 20 else { throw .statement }
    var bytes: [UInt8] = []
    for element in elements {
      let name = Array(element.identifier.utf8)
      let text = head(3, name.count) + name
      guard name.count <= 32, element.value.count <= 64, !element.value.isEmpty else { throw .statement }
      if version == 6 {
        let pair = text + [0x6c] + Array("elementValue".utf8) + element.value
        guard pair.count <= 96 else { throw .statement }
        bytes += pair + [UInt8](repeating: 0, count: 96 - pair.count) + [UInt8(pair.count)]
      } else {
        guard name.count <= 23 else { throw .statement }
        bytes += text + [UInt8](repeating: 0, count: 32 - text.count)
        bytes += element.value + [UInt8](repeating: 0, count: 64 - element.value.count)
        bytes += [UInt8(19 + name.count), UInt8(13 + element.value.count)]
      }
    }
    bytes += Array(timestamp.utf8)
    return [.one] + bits(of: bytes)
  }

  /// The signature circuit's public inputs before the tags' bits.
  func signatureInputs() throws(LongfellowError) -> [FieldP256] {
    guard issuerX.count == 32, issuerY.count == 32, documentType.utf8.count <= 255 else { throw .statement }
    return [
      .one, FieldP256(bigEndian: issuerX), FieldP256(bigEndian: issuerY), FieldP256(bigEndian: deviceHash),
    ]
  }

  /// The hash of the Sig_structure that the device signs (ISO/IEC 18013-5, 9.1.3.4), with empty DeviceNameSpaces.
  private var deviceHash: [UInt8] {
    let type = Array(documentType.utf8)
    let authentication =
      [0x84, 0x74] + Array("DeviceAuthentication".utf8) + transcript + head(3, type.count) + type
      + [0xd8, 0x18, 0x41, 0xa0]
    let tagged = [0xd8, 0x18] + head(2, authentication.count) + authentication
    let structure =
      [0x84, 0x6a] + Array("Signature1".utf8) + [0x43, 0xa1, 0x01, 0x26, 0x40] + head(2, tagged.count) + tagged
    return HashAlgorithm.sha256.hash(structure)
  }
}

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
