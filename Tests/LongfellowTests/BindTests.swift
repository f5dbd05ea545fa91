import CCarryless
import TestSupport
import Testing

@testable import Longfellow

/// The binding of arrays at challenges, compared with published values and between two methods.
struct BindTests {
  private struct Dense: Decodable {
    struct Case: Decodable {
      let input, output: [HexBytes]
      let binding: HexBytes
    }
    let testCases: [Case]
  }

  private struct Sparse: Decodable {
    struct Term: Decodable {
      let gateIndex, leftWireIndex, rightWireIndex: Int
      let coefficient: HexBytes
    }
    struct Array: Decodable { let contents: [Term] }
    struct Case: Decodable {
      let input: Array
      /// For wires, both hands in turn, with the rest after each.
      let bindings: [HexBytes]?
      let outputs: [Array]?
      /// Of gates.
      let bindings0, bindings1: [HexBytes]?
      let alpha: HexBytes?
      let output: Array?
    }
    let testCases: [Case]
  }

  private func published<Value: Decodable>(_ name: String) throws -> Value {
    try PublishedVectors.snakeCaseJSON("longfellow/zk-cred-longfellow/bind/\(name).json")
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `arrays are bound as published`() throws {
    try checkDense("dense_1d_array_bind_Field2_128", FieldGF128.self)
    try checkDense("dense_1d_array_bind_FieldP256", FieldP256.self)
    try checkWires("sparse_2d_array_bind_Field2_128", FieldGF128.self)
    try checkWires("sparse_2d_array_bind_FieldP256", FieldP256.self)
    try checkGates("sparse_3d_array_bind_Field2_128", FieldGF128.self)
    try checkGates("sparse_3d_array_bind_FieldP256", FieldP256.self)
  }

  private func checkDense<F: ProofField>(_ name: String, _: F.Type) throws {
    for test in (try published(name) as Dense).testCases {
      let factors = eqVector([try element(test.binding, F.self)][...], count: 2, scale: .one)
      var values: [F] = try test.input.map { try element($0) }
      if !values.count.isMultiple(of: 2) { values.append(.zero) }
      for (index, output) in test.output.enumerated() {
        let pair = [values[2 * index], values[2 * index + 1]]
        #expect(F.dot(factors, pair, count: 2).bytes == output.bytes)
      }
    }
  }

  /// One gate, all wires bound.
  private func checkWires<F: ProofField>(_ name: String, _: F.Type) throws {
    for test in (try published(name) as Sparse).testCases {
      let bindings: [F] = try #require(test.bindings).map { try element($0) }
      let left = stride(from: 0, to: bindings.count, by: 2).map { bindings[$0] }
      let right = stride(from: 1, to: bindings.count, by: 2).map { bindings[$0] }
      let layer = try Layer<F>(test.input.contents)
      let bound = layer.bound(
        outputs: [.one], left: EqFactors(left, count: layer.wires), right: EqFactors(right, count: layer.wires))
      let last = try #require(test.outputs?.last?.contents)
      #expect(last.count == 1 && last[0].coefficient.bytes == bound.bytes)
    }
  }

  /// All gates bound at two points, and each pair of wires by itself.
  private func checkGates<F: ProofField>(_ name: String, _: F.Type) throws {
    for test in (try published(name) as Sparse).testCases {
      let points: [[F]] = try [test.bindings0, test.bindings1].map { try #require($0).map { try element($0) } }
      let gates = 1 + (test.input.contents.map(\.gateIndex).max() ?? 0)
      var outputs = [F](repeating: .zero, count: gates)
      let second = try EqFactors(points[1], count: gates, scale: element(#require(test.alpha)))
      outputs.withUnsafeMutableBufferPointer { F.fill($0, EqFactors(points[0], count: gates), second) }
      let layer = try Layer<F>(test.input.contents)
      for term in try #require(test.output).contents {
        let bound = layer.bound(
          outputs: outputs, left: layer.only(term.leftWireIndex), right: layer.only(term.rightWireIndex))
        #expect(bound.bytes == term.coefficient.bytes)
      }
    }
  }

  /// A layer of a few terms, each with its own constant.
  private struct Layer<F: ProofField> {
    private let layer: CircuitLayer
    private let constants: [F]
    var wires: Int { layer.wires }

    init(_ terms: [Sparse.Term]) throws {
      constants = try terms.map { try element($0.coefficient) }
      layer = CircuitLayer(
        logWires: 7, wires: 128,
        groups: terms.enumerated().map { index, term in
          carryless_group(
            left: UInt64(term.leftWireIndex), right: UInt64(term.rightWireIndex), end: UInt64(index + 1))
        },
        entries: terms.enumerated().map { index, term in
          carryless_entry(output: UInt32(term.gateIndex), constant: UInt32(index))
        })
    }

    func bound(outputs: [F], left: EqFactors<F>, right: EqFactors<F>) -> F {
      F.bind(layer, constants: constants, one: CircuitLayer.noConstant, outputs: outputs, left: left, right: right)
    }

    /// The vector at the point that is a wire's number has 1 for this wire and 0 for all others.
    func only(_ wire: Int) -> EqFactors<F> {
      EqFactors((0..<layer.logWires).map { (wire >> $0) & 1 == 1 ? .one : .zero }, count: wires)
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `a layer is bound alike with the processor's products and without`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func elements(_ count: Int) -> [carryless_element] {
      (0..<count).map { _ in carryless_element(low: random.next(), high: random.next()) }
    }
    var groups: [carryless_group] = []
    var terms = 0
    for _ in 0..<200 {
      terms += Int.random(in: 1...5, using: &random)
      groups.append(
        carryless_group(
          left: .random(in: 0..<128, using: &random), right: .random(in: 0..<4, using: &random), end: UInt64(terms)))
    }
    let entries = (0..<terms).map { _ in
      carryless_entry(output: .random(in: 0..<50, using: &random), constant: .random(in: 0..<9, using: &random))
    }
    let (constants, outputs) = (elements(9), elements(50))
    let (low, high, otherLow, otherHigh) = (elements(8), elements(16), elements(8), elements(16))
    low.withUnsafeBufferPointer { low in
      high.withUnsafeBufferPointer { high in
        otherLow.withUnsafeBufferPointer { otherLow in
          otherHigh.withUnsafeBufferPointer { otherHigh in
            let left = carryless_eq(low: low.baseAddress, high: high.baseAddress, low_bits: 3)
            let right = carryless_eq(low: otherLow.baseAddress, high: otherHigh.baseAddress, low_bits: 3)
            // The constant that `one` names counts as 1, regardless of its value.
            for one: UInt32 in [3, 4096] {
              let fast = carryless_bind(
                groups, groups.count, entries, constants, one, outputs, left, right)
              let portable = carryless_bind_portable(
                groups, groups.count, entries, constants, one, outputs, left, right)
              #expect(FieldGF128(fast) == FieldGF128(portable))
            }
            for count in [0, 1, 127, 128] {
              var (fast, portable) = (elements(count), elements(count))
              carryless_eq_sum(&fast, count, left, right)
              carryless_eq_sum_portable(&portable, count, left, right)
              #expect(fast.map { FieldGF128($0) } == portable.map { FieldGF128($0) })
            }
          }
        }
      }
    }
  }
}
