import CCarryless
import TestSupport
import Testing

@testable import Longfellow

/// The two fields, compared with published values and with themselves.
struct FieldTests {
  private struct Published: Decodable {
    struct Field: Decodable {
      struct Product: Decodable { let a, b, ab, inverseOfA: HexBytes }
      struct Extension: Decodable {
        let n: Int
        let values: [HexBytes]
      }
      let product: Product?
      let inj: [String: HexBytes]?
      let extend: Extension
    }
    let gf, p256: Field
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `fields agree with the published values`() throws {
    let published: Published = try PublishedVectors.json("longfellow/derived/fields.json")
    let product = try #require(published.gf.product)
    let a: FieldGF128 = try element(product.a)
    #expect(try a * element(product.b) == element(product.ab))
    #expect(try a.inverse == element(product.inverseOfA))
    for (number, value) in try #require(published.gf.inj) {
      #expect(try FieldGF128.point(#require(Int(number))).bytes == value.bytes)
    }
    try checkExtension(published.gf.extend, FieldGF128.self)
    try checkExtension(published.p256.extend, FieldP256.self)
  }

  private func checkExtension<F: ProofField>(_ published: Published.Field.Extension, _: F.Type) throws {
    let values: [F] = try published.values.map { try element($0) }
    let columns = Array(published.n..<values.count)
    let matrix = LagrangeMatrix<F>(
      weights: BarycentricWeights(count: published.n), columns: columns, table: PointTable(count: values.count))
    let weighted = matrix.weighted(values[..<published.n])
    for (row, column) in columns.enumerated() {
      #expect(matrix.value(row, weighted: weighted[...]) == values[column])
    }
  }

  @Test func `every way to multiply without carries gives the same`() {
    var random = SeededGenerator(seed: 1)
    let a = (0..<1000).map { _ in carryless_element(low: random.next(), high: random.next()) }
    let b = (0..<1000).map { _ in carryless_element(low: random.next(), high: random.next()) }
    for (a, b) in zip(a, b) {
      #expect(FieldGF128(carryless_multiply(a, b)) == FieldGF128(carryless_multiply_portable(a, b)))
    }
    for count in [0, 1, 2, 999, 1000] {
      #expect(FieldGF128(carryless_dot(a, b, count)) == FieldGF128(carryless_dot_portable(a, b, count)))
    }
  }

  @Test func `numbers from p on are not elements of the P-256 field`() {
    var bytes = (FieldP256.zero - .one).bytes
    #expect(FieldP256(bytes) != nil)
    bytes[0] = 0xff
    #expect(FieldP256(bytes) == nil)
    #expect(FieldP256([UInt8](repeating: 0xff, count: 32)) == nil)
    let x = FieldP256.point(12345)
    #expect(x * x.inverse == .one)
  }

  @Test(arguments: [0, 1, 2, 3, 1000])
  func `sums of products that are reduced once are the same`(count: Int) {
    var random = SeededGenerator(seed: 2)
    var a = (0..<count).map { _ in FieldP256(bigEndian: random.bytes(32)) }
    let b = (0..<count).map { _ in FieldP256(bigEndian: random.bytes(32)) }
    // The largest numbers as well.
    for last in [FieldP256.zero - .one, .one, .zero, FieldP256(.max - 1, 0xffff_ffff, 0, 0xffff_ffff_0000_0001)] {
      for index in a.indices { a[index] = index.isMultiple(of: 2) ? a[index] : last }
      let sum = zip(a, b).reduce(FieldP256.zero) { $0 + $1.0 * $1.1 }
      #expect(FieldP256.dot(a, b, count: count) == sum)
      let squares = a.reduce(FieldP256.zero) { $0 + $1 * $1 }
      #expect(FieldP256.dot(a, a, count: count) == squares)
    }
  }
}
