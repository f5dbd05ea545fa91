import Longfellow

/// The memory for the sums of a circuit's layers, sized for the largest layer.
final class LayerMemory<F: ProverField> {
  fileprivate let terms: UnsafeMutablePointer<BoundTerm<F>>
  /// The right hand's wires, and the factors of each hand's wires. Each array has one element more than there are
  /// wires.
  fileprivate let right: UnsafeMutablePointer<F>
  fileprivate let sums: [UnsafeMutablePointer<F>]
  /// The outputs' factors.
  private let factors: UnsafeMutablePointer<F>

  init(_ circuit: Circuit<F>) {
    terms = .allocate(capacity: circuit.layers.map(\.groups.count).max() ?? 0)
    let size = (circuit.layers.map(\.wires).max() ?? 0) + 1
    right = .allocate(capacity: size)
    factors = .allocate(capacity: max(size, circuit.outputs))
    sums = Hand.allCases.map { _ in .allocate(capacity: size) }
  }

  deinit {
    terms.deallocate()
    for pointer in sums + [right, factors] { pointer.deallocate() }
  }

  /// eq(points[0], i) + factor·eq(points[1], i) for the first `count` wires. The pointer is valid until the next call.
  func factors(_ points: [[F]], count: Int, _ factor: F) -> UnsafePointer<F> {
    F.fill(
      UnsafeMutableBufferPointer(start: factors, count: count), EqFactors(points[0], count: count),
      EqFactors(points[1], count: count, scale: factor))
    return UnsafePointer(factors)
  }
}

/// A layer's sum over its terms (draft-google-cfrg-libzk, Sumcheck). Each round binds one bit of the left wire, then
/// one bit of the right wire.
struct LayerSum<F: ProverField> {
  private let memory: LayerMemory<F>
  /// The wires of each hand.
  private let wires: [UnsafeMutablePointer<F>]
  /// The number of remaining wires for each hand, and the number of remaining terms.
  private var sizes: [Int]
  private var count: Int

  /// - Parameters:
  ///   - constants: the circuit's constants, with 0 replaced by the layer's challenge.
  ///   - outputs: the factor of each output.
  ///   - wires: the wires, then a zero. `bind` overwrites the wires.
  init(
    _ layer: CircuitLayer, constants: [F], one: Int, outputs: UnsafePointer<F>, wires: UnsafeMutablePointer<F>,
    memory: LayerMemory<F>
  ) {
    self.memory = memory
    sizes = [layer.wires, layer.wires]
    count = layer.groups.count
    memory.right.update(from: wires, count: layer.wires + 1)
    self.wires = [wires, memory.right]
    clearSums(.left)
    F.bindOutputs(
      layer, constants: constants, one: one, outputs: outputs, wires: memory.right,
      terms: memory.terms, sums: memory.sums[Hand.left.rawValue])
  }

  private func clearSums(_ hand: Hand) {
    memory.sums[hand.rawValue].update(repeating: .zero, count: sizes[hand.rawValue] + 1)
  }

  /// The sum as a polynomial in the hand's lowest bit. Returns the constant coefficient and the coefficient of the
  /// square.
  func polynomial(_ hand: Hand) -> (constant: F, square: F) {
    F.roundSums(memory.sums[hand.rawValue], wires[hand.rawValue], pairs: (sizes[hand.rawValue] + 1) / 2)
  }

  /// Binds the hand's lowest bit, and computes the other hand's sums.
  mutating func bind(_ hand: Hand, _ challenge: F) {
    let own = wires[hand.rawValue]
    let pairs = (sizes[hand.rawValue] + 1) / 2
    F.fold(own, pairs: pairs, challenge)
    own[pairs] = .zero
    sizes[hand.rawValue] = pairs
    let other: Hand = hand == .left ? .right : .left
    clearSums(other)
    count = F.fold(hand, memory.terms, count: count, challenge, wires: own, sums: memory.sums[other.rawValue])
  }

  /// The hand's wire, once all bits are bound.
  func wire(_ hand: Hand) -> F { wires[hand.rawValue][0] }

  /// The factor of the two wires' product, once all bits are bound.
  var factor: F { (0..<count).reduce(.zero) { $0 + memory.terms[$1].value } }
}
