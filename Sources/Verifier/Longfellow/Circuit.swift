import CCarryless

/// One layer's terms (draft-google-cfrg-libzk, Circuits): groups of equal input wires, and each term's output wire and
/// constant.
package struct CircuitLayer: Sendable {
  package let logWires, wires: Int
  package let groups: [carryless_group]
  package let termOutputs: [UInt32]
  package let termConstants: [UInt16]

  /// A group has 20 bits for a wire.
  static var mostWires: Int { 1 << 20 }
}

/// A layered circuit, output layer first.
package struct Circuit<F: ProofField>: Sendable {
  package let identifier: [UInt8]
  package let outputs, publicInputs, inputs: Int
  package let constants: [F]
  package let layers: [CircuitLayer]

  package var logOutputs: Int { ceilingLog2(outputs) }
  package var terms: Int { layers.reduce(0) { $0 + $1.termOutputs.count } }
  package var privateInputs: Int { inputs - publicInputs }
  /// The sumcheck part's elements in a proof.
  var sumcheckCount: Int { layers.reduce(0) { $0 + 4 * $1.logWires + 2 } }
  /// The committed pads.
  var padCount: Int { layers.reduce(0) { $0 + 4 * $1.logWires + 3 } }
}

/// The smallest l with 2^l ≥ n.
func ceilingLog2(_ n: Int) -> Int { n <= 1 ? 0 : Int.bitWidth - (n - 1).leadingZeroBitCount }
