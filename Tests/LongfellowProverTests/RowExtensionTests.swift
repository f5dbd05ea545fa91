import Longfellow
import TestSupport
import Testing

@testable import LongfellowProver

/// Rows extended by fast transforms against published values and against Lagrange's formula.
struct RowExtensionTests {
  private struct Published: Decodable {
    struct Field: Decodable { let extend: Extension }
    struct Extension: Decodable {
      let n, m: Int
      let values: [HexBytes]
    }
    let gf, p256: Field
  }

  private func extended<F: ProverField>(_ rows: [[F]], total: Int) -> [[F]] {
    let count = rows[0].count
    let fast = F.Extension(count: count, total: total)
    var flat = rows.flatMap { $0 + [F](repeating: .zero, count: total - count) }
    flat.withUnsafeMutableBufferPointer { flat in
      if let start = flat.baseAddress { fast.extend(start, stride: total, number: rows.count) }
    }
    return rows.indices.map { Array(flat[($0 * total)..<(($0 + 1) * total)]) }
  }

  private func check<F: ProverField>(_ published: Published.Extension, _: F.Type) throws {
    let values = try published.values.map { hex in
      try #require(hex.bytes.withUnsafeBufferPointer { $0.baseAddress.flatMap { F($0) } })
    }
    #expect(extended([Array(values.prefix(published.n))], total: published.m) == [values])
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `rows are extended as published`() throws {
    let published: Published = try PublishedVectors.json("longfellow/derived/fields.json")
    try check(published.gf.extend, FieldGF128.self)
    try check(published.p256.extend, FieldP256.self)
  }

  /// The value at a point, by Lagrange's formula.
  private func value<F: ProverField>(_ values: [F], at point: Int) -> F {
    var sum = F.zero
    for (j, value) in values.enumerated() {
      var (product, divisor) = (value, F.one)
      for i in values.indices where i != j {
        product = product * (F.point(point) - .point(i))
        divisor = divisor * (F.point(j) - .point(i))
      }
      sum = sum + product * divisor.inverse
    }
    return sum
  }

  private func check<F: ProverField>(_ count: Int, _ total: Int, _: F.Type) {
    var random = seeded()
    let rows = (0..<3).map { _ in F.random(count, &random) }
    for (row, extended) in zip(rows, extended(rows, total: total)) {
      #expect(Array(extended.prefix(count)) == row)
      for point in count..<total { #expect(extended[point] == value(row, at: point)) }
    }
  }

  @Test(arguments: [(1, 4), (2, 2), (3, 5), (4, 8), (7, 13), (8, 9), (9, 33), (16, 17), (20, 64)])
  func `rows of any length are extended`(_ count: Int, _ total: Int) {
    check(count, total, FieldGF128.self)
    check(count, total, FieldP256.self)
  }

  @Test func `only elements of the subfield are written short`() {
    for number in [0, 1, 2, 255, 4097, 65_535] {
      let bytes = [UInt8(number & 0xff), UInt8(number >> 8)]
      #expect(FieldGF128.point(number).subfieldBytes == bytes)
    }
    #expect(FieldGF128(low: 2, high: 0).subfieldBytes == nil)
    #expect((FieldGF128.point(77) + FieldGF128(low: 0, high: 1 << 63)).subfieldBytes == nil)
  }
}
