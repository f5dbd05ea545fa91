import Longfellow

/// Input wires of a circuit as they are made, in their order.
struct Wires<F: ProverField> {
  private(set) var values: [F] = []

  var count: Int { values.count }

  mutating func append(_ value: F) { values.append(value) }

  mutating func append(contentsOf more: [F]) { values += more }

  /// Bytes in order, each byte's lowest bit first.
  mutating func append(bits bytes: some Sequence<UInt8>) {
    for byte in bytes { append(bits: Int(byte), 8) }
  }

  /// A number's lowest bits, the lowest first.
  mutating func append(bits number: Int, _ count: Int) {
    for bit in 0..<count { values.append((number >> bit) & 1 == 1 ? .one : .zero) }
  }

  mutating func replace(at index: Int, with more: [F]) {
    values.replaceSubrange(index..<(index + more.count), with: more)
  }
}
