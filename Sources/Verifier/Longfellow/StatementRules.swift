/// What can be proven at all (reference: the format's own bounds; ISO/IEC 18013-5 second edition draft, 13).
extension LongfellowStatement {
  /// Checks all rules that need no circuit but the number of its elements and its version.
  func check(for known: KnownCircuit) throws(LongfellowError) {
    if let fault = fault(for: known) { throw .statement(fault) }
  }

  private func fault(for known: KnownCircuit) -> StatementFault? {
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
  /// In version 6, the longest identifier, the key of the value and the value, as CBOR.
  static var longestPair: Int { 96 }

  /// Version 7 counts on a head of one byte, which longer texts don't have.
  package var longestIdentifier: Int { version == 6 ? 32 : 23 }
}

/// Whether this is `YYYY-MM-DDThh:mm:ssZ`: the circuit compares texts, whatever they mean.
private func isTimestamp(_ text: String) -> Bool {
  let pattern = Array("0000-00-00T00:00:00Z".utf8)
  let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  return text.utf8.count == pattern.count
    && zip(text.utf8, pattern).allSatisfy { $0 == $1 || ($1 == digits.lowerBound && digits.contains($0)) }
}

/// Whether this is one whole CBOR item (RFC 8949) of a kind that can be proven: an integer, bytes, text, a boolean, a
/// full date (tag 1004) or a date and time (tag 0) of the usual length. Heads may be longer than need be: the bytes
/// are the issuer's.
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

/// The argument of an item's head and the head's length; nil if it's cut off or of an indefinite length.
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
