import Cryptography

/// The checks of a commitment's opened columns (draft-google-cfrg-libzk, Ligero verification).
struct LigeroCheck<F: ProofField> {
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
    for column in 0..<shape.opened {
      var sum = opened(0, column)
      for row in 0..<shape.contentRows { sum = sum + challenges.lowDegree[row] * opened(3 + row, column) }
      guard sum == matrix.value(column, proof.lowDegree[...]) else { throw .proofInvalid(.lowDegree) }
    }
  }

  /// The products of the quadratic constraints hold.
  func checkQuadratic(_ matrix: LagrangeMatrix<F>) throws(LongfellowError) {
    let middle = [F](repeating: .zero, count: shape.width)
    let values = proof.quadraticStart + middle + proof.quadraticEnd
    for column in 0..<shape.opened {
      var sum = opened(2, column)
      for row in 0..<shape.quadraticRows {
        let first = 3 + shape.witnessRows + row
        let x = opened(first, column)
        let y = opened(first + shape.quadraticRows, column)
        let z = opened(first + 2 * shape.quadraticRows, column)
        sum = sum + challenges.quadraticRows[row] * (z - x * y)
      }
      guard sum == matrix.value(column, values[...]) else { throw .proofInvalid(.quadratic) }
    }
  }

  /// The linear constraints hold.
  func checkDot(
    _ constraints: LinearConstraints<F>, block: LagrangeMatrix<F>, doubleBlock: LagrangeMatrix<F>
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
    for column in 0..<shape.opened {
      var sum = opened(1, column)
      for row in 0..<shape.contentRows {
        let value = block.value(
          column, weights[(row * shape.width)..<((row + 1) * shape.width)], from: shape.opened)
        sum = sum + value * opened(3 + row, column)
      }
      guard sum == doubleBlock.value(column, proof.dot[...]) else { throw .proofInvalid(.dot) }
    }
  }
}

/// What interpolation from the points 0 … count−1 needs whatever the proof: 1 / Π (x_j − x_i) over i ≠ j.
struct BarycentricWeights<F: ProofField>: Sendable {
  fileprivate let points, weights: [F]

  init(count: Int) {
    let points = (0..<count).map { F.point($0) }
    self.points = points
    weights = F.inverses(
      points.indices.map { j in
        var product = F.one
        for i in points.indices where i != j { product = product * (points[j] - points[i]) }
        return product
      })
  }
}

/// Lagrange coefficients that give a polynomial's values at opened columns from its values at 0 … count−1.
struct LagrangeMatrix<F: ProofField> {
  private let count: Int
  private let coefficients: [F]

  /// - Parameter weights: of the same count.
  init(weights: BarycentricWeights<F>, columns: [Int]) {
    let (points, weights) = (weights.points, weights.weights)
    count = points.count
    var differences: [F] = []
    differences.reserveCapacity(count * columns.count)
    var wholes: [F] = []
    for column in columns {
      let x = F.point(column)
      var whole = F.one
      for point in points {
        let difference = x - point
        differences.append(difference)
        whole = whole * difference
      }
      wholes.append(whole)
    }
    var coefficients = F.inverses(differences)
    for (row, whole) in wholes.enumerated() {
      for index in 0..<count {
        coefficients[row * count + index] = coefficients[row * count + index] * whole * weights[index]
      }
    }
    self.coefficients = coefficients
  }

  /// The value at an opened column, of values from point `from` on; those before and after are zero.
  func value(_ column: Int, _ values: ArraySlice<F>, from: Int = 0) -> F {
    precondition(from + values.count <= count)
    return coefficients.withUnsafeBufferPointer { coefficients in
      values.withUnsafeBufferPointer { values in
        guard let a = coefficients.baseAddress, let b = values.baseAddress else { return .zero }
        return F.dot(a + column * count + from, b, count: values.count)
      }
    }
  }
}
