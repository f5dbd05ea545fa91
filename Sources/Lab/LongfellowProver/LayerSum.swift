import Longfellow

/// The memory for the sums of a circuit's layers, as large as the largest.
final class LayerMemory<F: ProverField> {
  fileprivate let terms: UnsafeMutablePointer<BoundTerm<F>>
  /// For each hand its wires, and the sums by which they are multiplied; one element more than wires.
  fileprivate let wires, sums: [UnsafeMutablePointer<F>]

  init(_ circuit: Circuit<F>) {
    terms = .allocate(capacity: circuit.layers.map(\.groups.count).max() ?? 0)
    let size = (circuit.layers.map(\.wires).max() ?? 0) + 1
    wires = Hand.allCases.map { _ in .allocate(capacity: size) }
    sums = Hand.allCases.map { _ in .allocate(capacity: size) }
  }

  deinit {
    terms.deallocate()
    for pointer in wires + sums { pointer.deallocate() }
  }
}

/// A layer's sum over its terms, of which challenges bind the wires bit by bit, the left one's first
/// (draft-google-cfrg-libzk, Sumcheck).
struct LayerSum<F: ProverField> {
  private let memory: LayerMemory<F>
  /// Wires of each hand that are left, and terms.
  private var sizes: [Int]
  private var count: Int

  /// - Parameters:
  ///   - constants: of the circuit, with 0 replaced by the layer's challenge.
  ///   - outputs: the factor of each output.
  init(
    _ layer: CircuitLayer, constants: [F], one: Int, outputs: UnsafePointer<F>, wires: [F], memory: LayerMemory<F>
  ) {
    self.memory = memory
    sizes = [layer.wires, layer.wires]
    count = layer.groups.count
    for hand in Hand.allCases {
      let own = memory.wires[hand.rawValue]
      wires.withUnsafeBufferPointer { if let start = $0.baseAddress { own.update(from: start, count: layer.wires) } }
      own[layer.wires] = .zero
    }
    clearSums(.left)
    F.bindOutputs(
      layer, constants: constants, one: one, outputs: outputs, wires: memory.wires[Hand.right.rawValue],
      terms: memory.terms, sums: memory.sums[Hand.left.rawValue])
  }

  private func clearSums(_ hand: Hand) {
    memory.sums[hand.rawValue].update(repeating: .zero, count: sizes[hand.rawValue] + 1)
  }

  /// The sum as a polynomial of the hand's lowest bit: the coefficients of 1 and of the square.
  func polynomial(_ hand: Hand) -> (constant: F, square: F) {
    F.roundSums(
      memory.sums[hand.rawValue], memory.wires[hand.rawValue], pairs: (sizes[hand.rawValue] + 1) / 2)
  }

  /// Binds the hand's lowest bit, and makes the other hand's sums.
  mutating func bind(_ hand: Hand, _ challenge: F) {
    let own = memory.wires[hand.rawValue]
    let pairs = (sizes[hand.rawValue] + 1) / 2
    F.fold(own, pairs: pairs, challenge)
    own[pairs] = .zero
    sizes[hand.rawValue] = pairs
    let other: Hand = hand == .left ? .right : .left
    clearSums(other)
    count = F.fold(
      hand, memory.terms, count: count, challenge, wires: own, sums: memory.sums[other.rawValue])
  }

  /// When all bits are bound, the hand's wire.
  func wire(_ hand: Hand) -> F { memory.wires[hand.rawValue][0] }

  /// When all bits are bound, the factor of the two wires' product.
  var factor: F { (0..<count).reduce(.zero) { $0 + memory.terms[$1].value } }
}
