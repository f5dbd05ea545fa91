import CCarryless

/// GF(2^128) modulo x^128 + x^7 + x^2 + x + 1; bit i is the coefficient of x^i.
package struct FieldGF128: ProofField {
  package let element: carryless_element

  package static var byteCount: Int { 16 }
  package static var subfieldByteCount: Int { 2 }
  package static var identifier: Int { 4 }
  package static var identifierPrefix: [UInt8] { [2, 0, 0, 0, 0, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0] }
  package static var zero: Self { Self(low: 0, high: 0) }
  package static var one: Self { Self(low: 1, high: 0) }

  @inline(__always) package init(_ element: carryless_element) { self.element = element }
  @inline(__always) package init(low: UInt64, high: UInt64) { element = carryless_element(low: low, high: high) }

  @inline(__always) package static func + (a: Self, b: Self) -> Self {
    Self(low: a.element.low ^ b.element.low, high: a.element.high ^ b.element.high)
  }
  @inline(__always) package static func - (a: Self, b: Self) -> Self { a + b }
  @inline(__always) package static func * (a: Self, b: Self) -> Self { Self(carryless_multiply(a.element, b.element)) }
  package static func == (a: Self, b: Self) -> Bool {
    a.element.low == b.element.low && a.element.high == b.element.high
  }

  /// The power with exponent 2^128 − 2, which is the inverse.
  package var inverse: Self { power([.max, .max - 1]) }

  /// The basis of the subfield GF(2^16): powers of its generator.
  package static let basis: [Self] = {
    let generator = Self(low: 0xf187_1e01_b64f_da4c, high: 0x5c59_7187_7501_d4b8)
    return (0..<16).reduce(into: [Self]()) { basis, _ in basis.append((basis.last.map { $0 * generator }) ?? .one) }
  }()

  /// The subfield's elements by their numbers.
  static let subfield: [Self] = {
    var elements = [Self](repeating: .zero, count: 1 << 16)
    for bit in 0..<16 {
      for number in 0..<(1 << bit) { elements[1 << bit | number] = elements[number] + basis[bit] }
    }
    return elements
  }()

  /// - Parameter number: below 65,536.
  package static func point(_ number: Int) -> Self { subfield[number] }
  /// The points are sums of basis elements.
  package static func difference(_ first: Int, _ second: Int) -> Int { first ^ second }

  @inline(__always) package init(_ bytes: UnsafePointer<UInt8>) {
    let raw = UnsafeRawPointer(bytes)
    self.init(
      low: UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self)),
      high: UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  package init(subfield bytes: UnsafePointer<UInt8>) { self = Self.subfield[Int(bytes[0]) | Int(bytes[1]) << 8] }

  @inline(__always) package func write(to bytes: UnsafeMutablePointer<UInt8>) {
    let raw = UnsafeMutableRawPointer(bytes)
    raw.storeBytes(of: element.low.littleEndian, as: UInt64.self)
    raw.storeBytes(of: element.high.littleEndian, toByteOffset: 8, as: UInt64.self)
  }

  package static func dot(_ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int) -> Self {
    // A struct with one member has that member's layout.
    Self(
      carryless_dot(
        UnsafeRawPointer(a).assumingMemoryBound(to: carryless_element.self),
        UnsafeRawPointer(b).assumingMemoryBound(to: carryless_element.self), count))
  }

  package static func bind(
    _ layer: CircuitLayer, constants: [Self], one: Int, outputs: [Self], left: EqFactors<Self>, right: EqFactors<Self>
  ) -> Self {
    elements(constants) { constants in
      elements(outputs) { outputs in
        factors(left) { left in
          factors(right) { right in
            Self(
              carryless_bind(
                layer.groups, layer.groups.count, layer.entries, constants, UInt32(one),
                outputs, left, right))
          }
        }
      }
    }
  }

  package static func fill(
    _ sums: UnsafeMutableBufferPointer<Self>, _ first: EqFactors<Self>, _ second: EqFactors<Self>
  ) {
    sums.withMemoryRebound(to: carryless_element.self) { sums in
      factors(first) { first in
        factors(second) { second in carryless_eq_sum(sums.baseAddress, sums.count, first, second) }
      }
    }
  }

  private static func elements<R>(_ values: [Self], _ body: (UnsafePointer<carryless_element>?) -> R) -> R {
    values.withUnsafeBufferPointer { values in
      values.withMemoryRebound(to: carryless_element.self) { body($0.baseAddress) }
    }
  }

  private static func factors<R>(_ eq: EqFactors<Self>, _ body: (carryless_eq) -> R) -> R {
    elements(eq.low) { low in
      elements(eq.high) { high in body(carryless_eq(low: low, high: high, low_bits: UInt32(eq.lowBits))) }
    }
  }
}
