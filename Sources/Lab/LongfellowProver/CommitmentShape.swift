import Longfellow

/// The measures of a commitment to a circuit's private inputs and pads (draft-google-cfrg-libzk, Ligero parameters).
struct CommitmentShape: Sendable {
  /// Columns that are opened; also the random values at the start of each row.
  let opened: Int
  /// Of a row: its degree bound, the values it holds, and the degree bound of a product of two rows.
  let block, width, doubleBlock: Int
  /// Columns of the whole tableau, and those that can be opened.
  let columns, leaves: Int
  /// Values that are committed; the first are the private inputs.
  let values: Int
  let witnessRows, quadraticRows: Int
  /// For each layer, where its pads start, and how many of them precede those of its two wires.
  let pads: [(start: Int, rounds: Int)]

  init<F>(_ circuit: Circuit<F>, rate: Int, opened: Int, columns: Int) {
    self.opened = opened
    self.columns = columns
    block = (columns + 1) / (2 + rate)
    width = block - opened
    doubleBlock = 2 * block - 1
    leaves = columns - doubleBlock
    var pads: [(start: Int, rounds: Int)] = []
    var next = circuit.privateInputs
    for layer in circuit.layers {
      pads.append((next, 4 * layer.logWires))
      next += 4 * layer.logWires + 3
    }
    self.pads = pads
    values = next
    witnessRows = (values + width - 1) / width
    quadraticRows = (circuit.layers.count + width - 1) / width
  }

  /// Rows of witnesses and of the quadratic constraints' factors and products.
  var contentRows: Int { witnessRows + 3 * quadraticRows }
  var rows: Int { contentRows + 3 }

  /// Where a layer's quadratic constraint has its first factor; its second factor and their product follow.
  func product(ofLayer layer: Int) -> Int { pads[layer].start + pads[layer].rounds }
}
