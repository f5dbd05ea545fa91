import CCarryless
import Longfellow

extension FieldGF128: ProverField {
  typealias Extension = AdditiveExtension

  /// The number of the prover's shares of the tags' keys.
  static var inputsOutsideSubfield: Int? { 6 }

  var subfieldBytes: [UInt8]? {
    SubfieldNumbers.number(of: self).map { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
  }

  static func random(_ source: inout ProverRandomness) -> Self {
    Self(low: source.next(), high: source.next())
  }

  static func randomInSubfield(_ source: inout ProverRandomness) -> Self {
    point(Int(truncatingIfNeeded: source.next() & 0xffff))
  }

  // A struct with one member has that member's layout. A term of such elements therefore has the same layout as the
  // term in C.

  private static func plain(_ pointer: UnsafePointer<Self>) -> UnsafePointer<carryless_element> {
    UnsafeRawPointer(pointer).assumingMemoryBound(to: carryless_element.self)
  }

  static func plain(_ pointer: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<carryless_element> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: carryless_element.self)
  }

  private static func plain(_ pointer: UnsafeMutablePointer<BoundTerm<Self>>) -> UnsafeMutablePointer<carryless_term> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: carryless_term.self)
  }

  static func add(to sum: UnsafeMutablePointer<Self>, _ factor: Self, times row: UnsafePointer<Self>, count: Int) {
    carryless_add_scaled(plain(sum), plain(row), count, factor.element)
  }

  static func addProducts(
    to sum: UnsafeMutablePointer<Self>, _ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int
  ) {
    carryless_add_products(plain(sum), plain(a), plain(b), count)
  }

  static func fold(_ values: UnsafeMutablePointer<Self>, pairs: Int, _ challenge: Self) {
    carryless_fold(plain(values), pairs, challenge.element)
  }

  static func roundSums(
    _ sums: UnsafePointer<Self>, _ wires: UnsafePointer<Self>, pairs: Int
  ) -> (constant: Self, square: Self) {
    var (constant, square) = (carryless_element(), carryless_element())
    carryless_round_sums(plain(sums), plain(wires), pairs, &constant, &square)
    return (Self(constant), Self(square))
  }

  static func evaluate(
    _ layer: CircuitLayer, constants: [Self], one: Int, wires: UnsafePointer<Self>,
    outputs: UnsafeMutablePointer<Self>
  ) -> Bool {
    constants.withUnsafeBufferPointer { constants in
      guard let constants = constants.baseAddress else { return true }
      return carryless_evaluate(
        layer.groups, layer.groups.count, layer.entries, plain(constants), UInt32(one), plain(wires), plain(outputs))
        == 1
    }
  }

  static func bindOutputs(
    _ layer: CircuitLayer, constants: [Self], one: Int, outputs: UnsafePointer<Self>, wires: UnsafePointer<Self>,
    terms: UnsafeMutablePointer<BoundTerm<Self>>, sums: UnsafeMutablePointer<Self>
  ) {
    constants.withUnsafeBufferPointer { constants in
      guard let constants = constants.baseAddress else { return }
      carryless_bind_outputs(
        layer.groups, layer.groups.count, layer.entries, plain(constants), UInt32(one),
        plain(outputs), plain(wires), plain(terms), plain(sums))
    }
  }

  static func fold(
    _ hand: Hand, _ terms: UnsafeMutablePointer<BoundTerm<Self>>, count: Int, _ challenge: Self,
    wires: UnsafePointer<Self>, sums: UnsafeMutablePointer<Self>
  ) -> Int {
    carryless_fold_terms(Int32(hand.rawValue), plain(terms), count, challenge.element, plain(wires), plain(sums))
  }
}

/// Finds a subfield element's number with a basis in echelon form. No later row has the highest bit of an earlier row.
private enum SubfieldNumbers {
  private static let rows: [(value: UInt128, number: UInt16)] = {
    var rows: [(value: UInt128, number: UInt16)] = []
    for (index, element) in FieldGF128.basis.enumerated() {
      var (value, number) = (wide(element), UInt16(1) << UInt16(index))
      for row in rows where value & highestBit(row.value) != 0 {
        value ^= row.value
        number ^= row.number
      }
      rows.append((value, number))
    }
    return rows
  }()

  private static func wide(_ field: FieldGF128) -> UInt128 {
    UInt128(field.element.high) << 64 | UInt128(field.element.low)
  }

  private static func highestBit(_ value: UInt128) -> UInt128 { 1 << UInt128(127 - value.leadingZeroBitCount) }

  /// The number of a subfield element; nil for an element outside the subfield.
  static func number(of element: FieldGF128) -> UInt16? {
    var (rest, number) = (wide(element), UInt16(0))
    for row in rows where rest & highestBit(row.value) != 0 {
      rest ^= row.value
      number ^= row.number
    }
    return rest == 0 ? number : nil
  }
}
