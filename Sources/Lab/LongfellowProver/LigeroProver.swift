import Longfellow

/// The proof that the constraints hold for the committed values (draft-google-cfrg-libzk, Ligero proof).
struct LigeroProver<F: ProverField> {
  let lowDegree, dot, quadraticStart, quadraticEnd: [F]
  /// The leaf indices of the opened columns.
  let opened: [Int]

  init(
    _ transcript: inout Transcript, tableau: Tableau<F>, sumcheck: SumcheckProver<F>, circuit: Circuit<F>,
    extensions: Tableau<F>.Extensions
  ) {
    let shape = tableau.shape
    transcript.write(bytes: [0xde, 0xad, 0xbe, 0xef] + [UInt8](repeating: 0, count: 28))
    // Draw all challenges before computing any response to them.
    let lowDegree: [F] = transcript.elements(shape.contentRows)
    let linear: [F] = transcript.elements(circuit.layers.count + 1)
    let quadratic: [F] = transcript.elements(3 * circuit.layers.count)
    let quadraticRows: [F] = transcript.elements(shape.quadraticRows)
    let weights = Self.weights(shape, circuit, sumcheck, linear, quadratic)
    self.lowDegree = Self.lowDegree(tableau, lowDegree)
    dot = Self.dot(tableau, weights, extensions.product)
    let products = Self.quadratic(tableau, quadraticRows)
    quadraticStart = Array(products[..<shape.opened])
    quadraticEnd = Array(products[shape.block...])
    for part in [self.lowDegree, dot, quadraticStart, quadraticEnd] { transcript.write(array: part[...]) }
    opened = transcript.choose(shape.opened, of: shape.leaves)
  }

  /// Sums the constraints, each multiplied by its challenge. The result has a weight for each value's index, row by
  /// row.
  private static func weights(
    _ shape: CommitmentShape, _ circuit: Circuit<F>, _ sumcheck: SumcheckProver<F>, _ linear: [F], _ quadratic: [F]
  ) -> [F] {
    var weights = [F](repeating: .zero, count: shape.contentRows * shape.width)
    func add(_ value: F, at index: Int) { weights[index] = weights[index] + value }
    for (layer, form) in sumcheck.coefficients.enumerated() {
      let start = shape.pads[layer].start - 3
      for (index, coefficient) in form.enumerated() where layer > 0 || index >= 3 {
        add(coefficient * linear[layer], at: start + index)
      }
      for part in 0..<3 {
        let challenge = quadratic[3 * layer + part]
        add(challenge, at: (shape.witnessRows + part * shape.quadraticRows) * shape.width + layer)
        add(.zero - challenge, at: shape.product(ofLayer: layer) + part)
      }
    }
    let last = linear[circuit.layers.count]
    for index in 0..<circuit.privateInputs { add(sumcheck.inputs[circuit.publicInputs + index] * last, at: index) }
    let pads = shape.product(ofLayer: circuit.layers.count - 1)
    add(.zero - last, at: pads)
    add(.zero - sumcheck.gamma * last, at: pads + 1)
    return weights
  }

  private static func lowDegree(_ tableau: Tableau<F>, _ challenges: [F]) -> [F] {
    let shape = tableau.shape
    return sum(startingWith: tableau.row(0), count: shape.block) { sum in
      for (row, challenge) in challenges.enumerated() {
        F.add(to: sum, challenge, times: tableau.row(3 + row), count: shape.block)
      }
    }
  }

  private static func dot(_ tableau: Tableau<F>, _ weights: [F], _ extension: F.Extension) -> [F] {
    let shape = tableau.shape
    var rows = [F](repeating: .zero, count: shape.contentRows * shape.doubleBlock)
    return rows.withUnsafeMutableBufferPointer { rows in
      guard let rows = rows.baseAddress else { return [] }
      for row in 0..<shape.contentRows {
        for index in 0..<shape.width {
          rows[row * shape.doubleBlock + shape.opened + index] = weights[row * shape.width + index]
        }
      }
      `extension`.extend(rows, stride: shape.doubleBlock, number: shape.contentRows)
      return sum(startingWith: tableau.row(1), count: shape.doubleBlock) { sum in
        for row in 0..<shape.contentRows {
          F.addProducts(to: sum, rows + row * shape.doubleBlock, tableau.row(3 + row), count: shape.doubleBlock)
        }
      }
    }
  }

  private static func quadratic(_ tableau: Tableau<F>, _ challenges: [F]) -> [F] {
    let shape = tableau.shape
    return sum(startingWith: tableau.row(2), count: shape.doubleBlock) { sum in
      for (row, challenge) in challenges.enumerated() {
        let first = 3 + shape.witnessRows + row
        let x = tableau.row(first)
        let y = tableau.row(first + shape.quadraticRows)
        let z = tableau.row(first + 2 * shape.quadraticRows)
        for column in 0..<shape.doubleBlock {
          sum[column] = sum[column] + challenge * (z[column] - x[column] * y[column])
        }
      }
    }
  }

  private static func sum(
    startingWith row: UnsafeMutablePointer<F>, count: Int, _ add: (UnsafeMutablePointer<F>) -> Void
  ) -> [F] {
    var sum = Array(UnsafeBufferPointer(start: row, count: count))
    sum.withUnsafeMutableBufferPointer { if let start = $0.baseAddress { add(start) } }
    return sum
  }
}
