import Base
import Cryptography

/// The checks of a commitment's opened columns (draft-google-cfrg-libzk, Ligero verification).
struct LigeroCheck<F: ProofField>: Sendable {
  let shape: LigeroShape
  let proof: CircuitProof<F>
  let challenges: CircuitChallenges<F>

  func opened(_ row: Int, _ column: Int) -> F { proof.columns[row * shape.opened + column] }

  /// The leaves are those of the root.
  func checkMerkle() throws(LongfellowError) {
    let leaves = (0..<shape.opened).map { column in
      var leaf = Array(proof.nonces[(32 * column)..<(32 * column + 32)])
      leaf.reserveCapacity(32 + shape.rows * F.byteCount)
      for row in 0..<shape.rows { leaf += opened(row, column).bytes }
      return HashAlgorithm.sha256.hash(leaf)
    }
    guard
      MerkleTree.holds(
        root: proof.root, count: shape.leaves, positions: challenges.columns, leaves: leaves, digests: proof.digests)
    else { throw .proofInvalid(.merkle) }
  }

  /// The rows are of low degree.
  func checkLowDegree(_ matrix: LagrangeMatrix<F>) throws(LongfellowError) {
    let values = matrix.weighted(proof.lowDegree[...])
    for column in 0..<shape.opened {
      var sum = opened(0, column)
      for row in 0..<shape.contentRows { sum = sum + challenges.lowDegree[row] * opened(3 + row, column) }
      guard sum == matrix.value(column, weighted: values[...]) else { throw .proofInvalid(.lowDegree) }
    }
  }

  /// The products of the quadratic constraints hold.
  func checkQuadratic(_ matrix: LagrangeMatrix<F>) throws(LongfellowError) {
    let middle = [F](repeating: .zero, count: shape.width)
    let values = matrix.weighted((proof.quadraticStart + middle + proof.quadraticEnd)[...])
    for column in 0..<shape.opened {
      var sum = opened(2, column)
      for row in 0..<shape.quadraticRows {
        let first = 3 + shape.witnessRows + row
        let x = opened(first, column)
        let y = opened(first + shape.quadraticRows, column)
        let z = opened(first + 2 * shape.quadraticRows, column)
        sum = sum + challenges.quadraticRows[row] * (z - x * y)
      }
      guard sum == matrix.value(column, weighted: values[...]) else { throw .proofInvalid(.quadratic) }
    }
  }

  /// The linear constraints hold.
  /// - Parameter answers: the proof's answer's values at the opened columns.
  func checkDot(
    _ constraints: LinearConstraints<F>, block: LagrangeMatrix<F>, answers: [F], threads: Int
  ) throws(LongfellowError) {
    var sum = F.zero
    for index in shape.opened..<shape.block { sum = sum + proof.dot[index] }
    guard sum == constraints.sum else { throw .proofInvalid(.dotSum) }
    var weights = constraints.weights
    weights += [F](repeating: .zero, count: shape.contentRows * shape.width - weights.count)
    let copies = shape.witnessRows * shape.width
    let step = shape.quadraticRows * shape.width
    for (index, product) in constraints.products.enumerated() {
      // Both factors, then their product, as they are committed.
      for (part, value) in [product, product + 1, product + 2].enumerated() {
        let challenge = challenges.quadratic[3 * index + part]
        let copy = copies + part * step + index
        weights[copy] = weights[copy] + challenge
        weights[value] = weights[value] - challenge
      }
    }
    let rows = (0..<shape.contentRows).map { row in
      block.weighted(weights[(row * shape.width)..<((row + 1) * shape.width)], from: shape.opened)
    }
    // Some columns together, so that taking them costs little.
    let pieces = 8
    let hold = SharedWork.run(pieces: pieces, threads: threads, room: {}) { piece, _ in
      stride(from: piece, to: shape.opened, by: pieces).allSatisfy { column in
        var sum = opened(1, column)
        for (row, values) in rows.enumerated() {
          sum = sum + block.value(column, weighted: values[...], from: shape.opened) * opened(3 + row, column)
        }
        return sum == answers[column]
      }
    }
    guard hold.allSatisfy(\.self) else { throw .proofInvalid(.dot) }
  }
}
