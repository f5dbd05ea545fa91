import CCarryless
import Longfellow

/// Extends rows by the additive Fourier transform of Lin, Chung and Han (arXiv 1404.3458) over the basis of GF(2^16).
struct AdditiveExtension: RowExtension {
  private let count, total, logSize: Int
  private let transform = AdditiveTransform()

  init(count: Int, total: Int) {
    self.count = count
    self.total = total
    logSize = ceilingLog2(count)
  }

  func extend(_ rows: UnsafeMutablePointer<FieldGF128>, stride: Int, number: Int) {
    let size = 1 << logSize
    var values = [FieldGF128](repeating: .zero, count: size)
    var coefficients = values
    values.withUnsafeMutableBufferPointer { values in
      coefficients.withUnsafeMutableBufferPointer { coefficients in
        guard let values = values.baseAddress, let coefficients = coefficients.baseAddress else { return }
        for row in 0..<number { extend(rows + row * stride, values, coefficients) }
      }
    }
  }

  private func extend(
    _ row: UnsafeMutablePointer<FieldGF128>, _ values: UnsafeMutablePointer<FieldGF128>,
    _ coefficients: UnsafeMutablePointer<FieldGF128>
  ) {
    let size = 1 << logSize
    values.update(from: row, count: count)
    (values + count).update(repeating: .zero, count: size - count)
    transform.twoWay(values, log: logSize, coset: 0, values: count)
    coefficients.update(from: values, count: count)
    (coefficients + count).update(repeating: .zero, count: size - count)
    if total > count { (row + count).update(from: values + count, count: min(size, total) - count) }
    var coset = size
    while coset < total {
      values.update(from: coefficients, count: size)
      transform.forward(values, log: logSize, coset: coset)
      (row + coset).update(from: values, count: min(size, total - coset))
      coset += size
    }
  }
}

/// Transforms between the novel polynomial basis and values at points.
private struct AdditiveTransform: Sendable {
  /// The values of Ŵ_i at the basis elements, for each level i.
  private static let normalized: [[FieldGF128]] = {
    var row = FieldGF128.basis
    var rows: [[FieldGF128]] = []
    for level in row.indices {
      let own = row[level]
      let inverse = own.inverse
      rows.append(row.map { $0 * inverse })
      row = row.map { $0 * ($0 + own) }
    }
    return rows
  }()

  private let levels = normalized

  /// The value of Ŵ_level at a point, summed over the bits of the point's number.
  private func twiddle(_ level: Int, _ point: Int) -> carryless_element {
    var (sum, bits) = (FieldGF128.zero, point)
    while bits != 0 {
      sum = sum + levels[level][bits.trailingZeroBitCount]
      bits &= bits - 1
    }
    return sum.element
  }

  /// Transforms coefficients into the values at the points coset … coset + 2^log − 1.
  func forward(_ values: UnsafeMutablePointer<FieldGF128>, log: Int, coset: Int) {
    for level in (0..<log).reversed() {
      let step = 1 << level
      for start in stride(from: 0, to: 1 << log, by: 2 * step) {
        let low = FieldGF128.plain(values + start)
        carryless_forward(low, low + step, step, twiddle(level, coset + start))
      }
    }
  }

  private func inverse(_ values: UnsafeMutablePointer<FieldGF128>, log: Int, coset: Int) {
    for level in 0..<log {
      let step = 1 << level
      for start in stride(from: 0, to: 1 << log, by: 2 * step) {
        let low = FieldGF128.plain(values + start)
        carryless_inverse(low, low + step, step, twiddle(level, coset + start))
      }
    }
  }

  /// The truncated transform of 2^log entries. The first `known` entries change from values to coefficients. The others
  /// change from coefficients to values.
  func twoWay(_ entries: UnsafeMutablePointer<FieldGF128>, log: Int, coset: Int, values known: Int) {
    guard log > 0 else { return }
    let level = log - 1
    let step = 1 << level
    let factor = twiddle(level, coset)
    let (low, high) = (FieldGF128.plain(entries), FieldGF128.plain(entries + step))
    if known < step {
      carryless_forward(low + known, high + known, step - known, factor)
      twoWay(entries, log: level, coset: coset, values: known)
      carryless_diagonal(low, high, known, factor)
      forward(entries + step, log: level, coset: coset + step)
    } else {
      let rest = known - step
      inverse(entries, log: level, coset: coset)
      carryless_diagonal(low + rest, high + rest, step - rest, factor)
      twoWay(entries + step, log: level, coset: coset + step, values: rest)
      carryless_inverse(low, high, rest, factor)
    }
  }
}
