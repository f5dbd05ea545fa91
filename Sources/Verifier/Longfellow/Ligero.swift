import Base
import Cryptography

/// The checks of a commitment's opened columns (draft-google-cfrg-libzk, Ligero verification).
struct LigeroCheck<F: ProofField>: Sendable {
  let shape: LigeroShape
  let proof: CircuitProof<F>
  let challenges: CircuitChallenges<F>

  func opened(_ row: Int, _ column: Int) -> F { proof.columns[row * shape.opened + column] }

  /// Checks that the leaves belong to the root.
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

  /// Checks that the rows are of low degree.
  func checkLowDegree(_ matrix: LagrangeMatrix<F>) throws(LongfellowError) {
    let values = matrix.weighted(proof.lowDegree[...])
    for column in 0..<shape.opened {
      var sum = opened(0, column)
      for row in 0..<shape.contentRows { sum = sum + challenges.lowDegree[row] * opened(3 + row, column) }
      guard sum == matrix.value(column, weighted: values[...]) else { throw .proofInvalid(.lowDegree) }
    }
  }

  /// Checks that the products of the quadratic constraints hold.
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

  /// Checks that the linear constraints hold.
  /// - Parameter values: the proof's response at the opened columns.
  func checkDot(
    _ constraints: LinearConstraints<F>, block: LagrangeMatrix<F>, values expected: [F], threads: Int
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
    // Each piece has several columns, so that distributing the work costs little.
    let pieces = 8
    let hold = SharedWork.run(pieces: pieces, threads: threads, scratch: {}) { piece, _ in
      stride(from: piece, to: shape.opened, by: pieces).allSatisfy { column in
        var sum = opened(1, column)
        for (row, values) in rows.enumerated() {
          sum = sum + block.value(column, weighted: values[...], from: shape.opened) * opened(3 + row, column)
        }
        return sum == expected[column]
      }
    }
    guard hold.allSatisfy(\.self) else { throw .proofInvalid(.dot) }
  }
}

/// Weights for interpolation from the points 0 … count−1: 1 / Π (x_j − x_i) over i ≠ j.
struct BarycentricWeights<F: ProofField>: Sendable {
  fileprivate let weights: [F]

  init(count: Int) {
    let points = (0..<count).map { F.point($0) }
    weights = F.inverses(
      points.indices.map { j in
        var product = F.one
        for i in points.indices where i != j { product = product * (points[j] - points[i]) }
        return product
      })
  }
}

/// All differences of two points, and their inverses. The first entry is unused.
struct PointTable<F: ProofField>: Sendable {
  fileprivate let points, inverses: [F]

  /// - Parameter count: greater than the number of any point.
  init(count: Int) {
    points = (0..<(1 << ceilingLog2(count))).map { F.point($0) }
    inverses = [.zero] + F.inverses(Array(points.dropFirst()))
  }
}

/// A polynomial's values at opened columns from its values at the points 0 … count−1. If each y_j is multiplied by its
/// weight, the value at x is Π (x − x_j) · Σ y_j / (x − x_j).
struct LagrangeMatrix<F: ProofField>: Sendable {
  private let weights: [F]
  /// 1 / (x − x_j), column by column.
  private var inverses: [F] = []
  /// Π (x − x_j) for each column.
  private var products: [F] = []

  /// - Parameter columns: none below the weights' count.
  init(weights: BarycentricWeights<F>, columns: [Int], table: PointTable<F>) {
    self.weights = weights.weights
    inverses.reserveCapacity(columns.count * self.weights.count)
    for column in columns {
      var product = F.one
      for point in self.weights.indices {
        let difference = F.difference(column, point)
        inverses.append(table.inverses[difference])
        product = product * table.points[difference]
      }
      products.append(product)
    }
  }

  /// Multiplies the values at the points `from`, `from` + 1 … by their weights.
  func weighted(_ values: ArraySlice<F>, from: Int = 0) -> [F] {
    precondition(from + values.count <= weights.count)
    return zip(values, weights[from...]).map { $0 * $1 }
  }

  /// The value at an opened column, from weighted values that start at point `from`; all other values are zero.
  func value(_ column: Int, weighted values: ArraySlice<F>, from: Int = 0) -> F {
    precondition(from + values.count <= weights.count)
    let sum = inverses.withUnsafeBufferPointer { inverses in
      values.withUnsafeBufferPointer { values in
        guard let a = inverses.baseAddress, let b = values.baseAddress else { return F.zero }
        return F.dot(a + column * weights.count + from, b, count: values.count)
      }
    }
    return sum * products[column]
  }
}

/// Openings of some leaves of a Merkle tree, reduced to the digests that a verifier cannot compute
/// (draft-google-cfrg-libzk, Merkle trees).
enum MerkleTree {
  /// True if the leaves and digests lead to the root, and every digest is used.
  /// - Parameters:
  ///   - leaves: the leaves at the opened positions, in the positions' order.
  ///   - digests: 32 bytes each, one after another.
  static func holds(root: [UInt8], count: Int, positions: [Int], leaves: [[UInt8]], digests: [UInt8]) -> Bool {
    var isMarked = [Bool](repeating: false, count: 2 * count)
    for position in positions { isMarked[count + position] = true }
    for node in (1..<count).reversed() { isMarked[node] = isMarked[2 * node] || isMarked[2 * node + 1] }
    var nodes = [[UInt8]](repeating: [], count: 2 * count)
    for (position, leaf) in zip(positions, leaves) { nodes[count + position] = leaf }
    var used = 0
    for node in (1..<count).reversed() where isMarked[node] && isMarked[2 * node] != isMarked[2 * node + 1] {
      guard used + 32 <= digests.count else { return false }
      nodes[isMarked[2 * node] ? 2 * node + 1 : 2 * node] = Array(digests[used..<(used + 32)])
      used += 32
    }
    guard used == digests.count else { return false }
    for node in (1..<count).reversed() where isMarked[node] {
      nodes[node] = HashAlgorithm.sha256.hash(nodes[2 * node] + nodes[2 * node + 1])
    }
    return nodes[1] == root
  }
}
