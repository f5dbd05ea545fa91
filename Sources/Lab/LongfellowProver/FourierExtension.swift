import Longfellow

/// Extends rows over the base field of P-256 by Lagrange's formula, written as a convolution:
/// with d = count − 1, y(k) = (−1)^d (k−d) C(k,d) Σ_j (−1)^j C(d,j) y_j / (k−j).
struct FourierExtension: RowExtension {
  private let count, total: Int
  private let transform: FourierTransform
  /// The transform of 1/i for 0 < i < total, divided by the transform's size.
  private let kernel: [ComplexP256]
  /// (−1)^j C(d, j), for each j < count.
  private let before: [FieldP256]
  /// (−1)^d (k−d) C(k, d), for each k ≥ count.
  private let after: [FieldP256]

  init(count: Int, total: Int) {
    self.count = count
    self.total = total
    transform = FourierTransform(log: ceilingLog2(total))
    let numbers = (0..<total).map { FieldP256.point($0) }
    let inverses = [.zero] + FieldP256.inverses(Array(numbers.dropFirst()))
    before = Self.alternatingBinomials(count - 1, numbers, inverses)
    after = Self.factors(count - 1, numbers, inverses)
    let scale = FieldP256.point(transform.size).inverse
    var kernel = inverses.map { ComplexP256(real: $0 * scale, imaginary: .zero) }
    kernel += [ComplexP256](repeating: .zero, count: transform.size - total)
    kernel.withUnsafeMutableBufferPointer { [transform] in
      if let start = $0.baseAddress { transform.forward(start) }
    }
    self.kernel = kernel
  }

  private static func alternatingBinomials(_ d: Int, _ numbers: [FieldP256], _ inverses: [FieldP256]) -> [FieldP256] {
    var value = FieldP256.one
    return (0...d).map { j in
      defer { if j < d { value = .zero - value * numbers[d - j] * inverses[j + 1] } }
      return value
    }
  }

  private static func factors(_ d: Int, _ numbers: [FieldP256], _ inverses: [FieldP256]) -> [FieldP256] {
    var binomial = d.isMultiple(of: 2) ? FieldP256.one : .zero - .one
    return (d + 1..<numbers.count).map { k in
      binomial = binomial * numbers[k] * inverses[k - d]
      return binomial * numbers[k - d]
    }
  }

  /// Extends two rows at a time: one as the real part, the other as the imaginary part.
  func extend(_ rows: UnsafeMutablePointer<FieldP256>, stride: Int, number: Int) {
    var values = [ComplexP256](repeating: .zero, count: transform.size)
    values.withUnsafeMutableBufferPointer { values in
      guard let values = values.baseAddress else { return }
      for row in Swift.stride(from: 0, to: number, by: 2) {
        let first = rows + row * stride
        extend(first, row + 1 < number ? first + stride : nil, values)
      }
    }
  }

  private func extend(
    _ first: UnsafeMutablePointer<FieldP256>, _ second: UnsafeMutablePointer<FieldP256>?,
    _ values: UnsafeMutablePointer<ComplexP256>
  ) {
    for j in 0..<count {
      values[j] = ComplexP256(real: before[j] * first[j], imaginary: second.map { before[j] * $0[j] } ?? .zero)
    }
    (values + count).update(repeating: .zero, count: transform.size - count)
    transform.forward(values)
    for index in 0..<transform.size { values[index] = values[index] * kernel[index] }
    transform.inverse(values)
    for k in count..<total {
      first[k] = after[k - count] * values[k].real
      if let second { second[k] = after[k - count] * values[k].imaginary }
    }
  }
}

/// An element of the quadratic extension of the P-256 base field by i² = −1.
struct ComplexP256: Sendable {
  var real, imaginary: FieldP256

  static var zero: Self { Self(real: .zero, imaginary: .zero) }

  @inline(__always) static func + (a: Self, b: Self) -> Self {
    Self(real: a.real + b.real, imaginary: a.imaginary + b.imaginary)
  }

  @inline(__always) static func - (a: Self, b: Self) -> Self {
    Self(real: a.real - b.real, imaginary: a.imaginary - b.imaginary)
  }

  @inline(__always) static func * (a: Self, b: Self) -> Self {
    let (first, second) = (a.real * b.real, a.imaginary * b.imaginary)
    let mixed = (a.real + a.imaginary) * (b.real + b.imaginary)
    return Self(real: first - second, imaginary: mixed - first - second)
  }

  var conjugate: Self { Self(real: real, imaginary: .zero - imaginary) }
}

/// The Fourier transform over the quadratic extension, which has roots of unity of order 2^31 and norm 1.
private struct FourierTransform: Sendable {
  let log: Int
  /// Half of the powers of a primitive root of unity.
  private let roots: [ComplexP256]

  var size: Int { 1 << log }

  private static let rootOfOrder2To31 = ComplexP256(
    real: element(0xf90d_338e_bd84_f566, 0x5cfc_85c6_7990_e337, 0x9fc9_563b_382a_4a4c, 0x985a_6532_4b24_2562),
    imaginary: element(0xb9e8_1e42_bc97_cc4d, 0xa04f_c2e2_0106_e340, 0x8473_8a64_74d2_32c6, 0xdbf4_174f_60a4_3eac))

  private static func element(_ l3: UInt64, _ l2: UInt64, _ l1: UInt64, _ l0: UInt64) -> FieldP256 {
    let bytes = [l3, l2, l1, l0].flatMap { limb in (0..<8).map { UInt8(truncatingIfNeeded: limb >> (56 - 8 * $0)) } }
    return FieldP256(bigEndian: bytes)
  }

  init(log: Int) {
    self.log = log
    var root = Self.rootOfOrder2To31
    for _ in log..<31 { root = root * root }
    var power = ComplexP256(real: .one, imaginary: .zero)
    roots = (0..<(1 << max(log - 1, 0))).map { _ in
      defer { power = power * root }
      return power
    }
  }

  /// Transforms from natural to bit-reversed order.
  func forward(_ values: UnsafeMutablePointer<ComplexP256>) {
    roots.withUnsafeBufferPointer { roots in
      for level in (0..<log).reversed() {
        let half = 1 << level
        for start in stride(from: 0, to: size, by: 2 * half) {
          let (low, high) = (values + start, values + start + half)
          for index in 0..<half {
            let (a, b) = (low[index], high[index])
            low[index] = a + b
            high[index] = (a - b) * roots[index << (log - 1 - level)]
          }
        }
      }
    }
  }

  /// Transforms from bit-reversed to natural order, without the division by the size.
  func inverse(_ values: UnsafeMutablePointer<ComplexP256>) {
    roots.withUnsafeBufferPointer { roots in
      for level in 0..<log {
        let half = 1 << level
        for start in stride(from: 0, to: size, by: 2 * half) {
          let (low, high) = (values + start, values + start + half)
          for index in 0..<half {
            let (a, b) = (low[index], high[index] * roots[index << (log - 1 - level)].conjugate)
            low[index] = a + b
            high[index] = a - b
          }
        }
      }
    }
  }
}
