/// A field of one of the two circuits (draft-google-cfrg-libzk, Fields).
package protocol ProofField: Equatable, Sendable {
  /// The length of an encoded element, little-endian.
  static var byteCount: Int { get }
  /// The length of an element in subfield runs.
  static var subfieldByteCount: Int { get }
  /// The field's number in circuit files.
  static var identifier: Int { get }
  /// The field's part in a circuit's identifier.
  static var identifierPrefix: [UInt8] { get }
  static var zero: Self { get }
  static var one: Self { get }

  static func + (a: Self, b: Self) -> Self
  static func - (a: Self, b: Self) -> Self
  static func * (a: Self, b: Self) -> Self
  /// The inverse. The inverse of zero is zero.
  var inverse: Self { get }
  /// The evaluation point with this number.
  static func point(_ number: Int) -> Self
  /// The number of the point that equals the difference of two points. The first number is larger.
  static func difference(_ first: Int, _ second: Int) -> Int

  /// Reads `byteCount` bytes; nil if they are not canonical.
  init?(_ bytes: UnsafePointer<UInt8>)
  /// Reads `subfieldByteCount` bytes; nil if they are not canonical.
  init?(subfield bytes: UnsafePointer<UInt8>)
  /// Writes `byteCount` bytes.
  func write(to bytes: UnsafeMutablePointer<UInt8>)

  /// Σ a[i]·b[i].
  static func dot(_ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int) -> Self
  /// The layer's bound sum. All indices were checked when the layer was read.
  static func bind(
    _ layer: CircuitLayer, constants: [Self], one: Int, outputs: [Self], left: EqFactors<Self>, right: EqFactors<Self>
  ) -> Self
  /// Fills the buffer with the sum of two eq vectors, one index for each slot.
  static func fill(_ sums: UnsafeMutableBufferPointer<Self>, _ first: EqFactors<Self>, _ second: EqFactors<Self>)
}

extension ProofField {
  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      if let start = buffer.baseAddress { write(to: start) }
      count = Self.byteCount
    }
  }

  /// The inverses of all values, with only one inversion. No value may be zero.
  package static func inverses(_ values: [Self]) -> [Self] {
    var products: [Self] = []
    products.reserveCapacity(values.count)
    var product = one
    for value in values {
      products.append(product)
      product = product * value
    }
    var rest = product.inverse
    for index in values.indices.reversed() {
      products[index] = products[index] * rest
      rest = rest * values[index]
    }
    return products
  }

  /// - Parameter exponent: 64-bit limbs, the highest first.
  func power(_ exponent: [UInt64]) -> Self {
    var result = Self.one
    for limb in exponent {
      for bit in (0..<64).reversed() {
        result = result * result
        if (limb >> UInt64(bit)) & 1 == 1 { result = result * self }
      }
    }
    return result
  }
}
