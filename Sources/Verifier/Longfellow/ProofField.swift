/// A field of one of the two circuits (draft-google-cfrg-libzk, Fields).
package protocol ProofField: Equatable, Sendable {
  /// The length of an encoded element, little-endian.
  static var byteCount: Int { get }
  /// The length of an element in subfield runs.
  static var subfieldByteCount: Int { get }
  /// The field's number in circuit files.
  static var identifier: Int { get }
  /// What a circuit's identifier hashes of its field.
  static var identifierPrefix: [UInt8] { get }
  static var zero: Self { get }
  static var one: Self { get }

  static func + (a: Self, b: Self) -> Self
  static func - (a: Self, b: Self) -> Self
  static func * (a: Self, b: Self) -> Self
  /// The inverse; zero of zero.
  var inverse: Self { get }
  /// The evaluation point of this number.
  static func point(_ number: Int) -> Self

  /// Reads `byteCount` bytes; nil if they are not canonical.
  init?(_ bytes: UnsafePointer<UInt8>)
  /// Reads `subfieldByteCount` bytes; nil if they are not canonical.
  init?(subfield bytes: UnsafePointer<UInt8>)
  /// Writes `byteCount` bytes.
  func write(to bytes: UnsafeMutablePointer<UInt8>)

  /// Σ a[i]·b[i].
  static func dot(_ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int) -> Self
  /// The layer's bound sum; all indices have been checked when the layer was read.
  static func bind(
    _ layer: CircuitLayer, constants: UnsafePointer<Self>, one: Int, outputs: UnsafePointer<Self>,
    left: UnsafePointer<Self>, right: UnsafePointer<Self>
  ) -> Self
}

extension ProofField {
  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      if let start = buffer.baseAddress { write(to: start) }
      count = Self.byteCount
    }
  }

  /// The inverses of all, none of which may be zero, by one inversion.
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

  /// `exponent` as 64-bit limbs, the highest first.
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

/// The eq vector of these challenges over the first `count` indices: eq(X, i) = Π (bit j of i ? X_j : 1 − X_j).
func eqVector<F: ProofField>(_ challenges: ArraySlice<F>, count: Int, scale: F) -> [F] {
  var vector = [F](repeating: .zero, count: max(count, 1))
  vector[0] = scale
  vector.withUnsafeMutableBufferPointer { vector in
    var filled = 1
    // From the last challenge to the first, each doubles the indices in place, from the top.
    for (position, challenge) in zip(challenges.indices, challenges).reversed() {
      let wanted = shifted(count, by: position - challenges.startIndex)
      for index in (0..<filled).reversed() {
        let high = vector[index] * challenge
        let low = vector[index] - high
        if 2 * index + 1 < vector.count { vector[2 * index + 1] = high }
        vector[2 * index] = low
      }
      filled = min(2 * filled, max(wanted, 1))
    }
  }
  return vector
}

/// How many indices remain of `count` without their lowest bits.
private func shifted(_ count: Int, by bits: Int) -> Int { (count + (1 << bits) - 1) >> bits }
