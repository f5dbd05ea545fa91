import CCarryless

/// One layer's terms (draft-google-cfrg-libzk, Circuits): groups of equal input wires, and each term's output wire and
/// constant. A circuit has up to nine million, so that they are packed.
package struct CircuitLayer: Sendable {
  package let logWires, wires: Int
  package let groups: [carryless_group]
  package let entries: [carryless_entry]

  /// A group and an entry have 20 bits for a wire.
  static var mostWires: Int { 1 << 20 }
  /// An entry has 12 bits for a constant's index.
  static var mostConstants: Int { 1 << 12 }
  /// No constant's index.
  package static var noConstant: Int { mostConstants }
}

/// A layered circuit, output layer first.
package struct Circuit<F: ProofField>: Sendable {
  package let identifier: [UInt8]
  package let outputs, publicInputs, inputs: Int
  package let constants: [F]
  package let layers: [CircuitLayer]

  package var logOutputs: Int { ceilingLog2(outputs) }
  package var terms: Int { layers.reduce(0) { $0 + $1.entries.count } }
  package var privateInputs: Int { inputs - publicInputs }
  /// The sumcheck part's elements in a proof.
  var sumcheckCount: Int { layers.reduce(0) { $0 + 4 * $1.logWires + 2 } }
  /// The committed pads.
  var padCount: Int { layers.reduce(0) { $0 + 4 * $1.logWires + 3 } }
}

/// The smallest l with 2^l ≥ n.
func ceilingLog2(_ n: Int) -> Int { n <= 1 ? 0 : Int.bitWidth - (n - 1).leadingZeroBitCount }
