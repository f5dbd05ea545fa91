/// What interpolation from the points 0 … count−1 needs whatever the proof: 1 / Π (x_j − x_i) over i ≠ j.
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

/// All points that differences of two points' numbers can lead to, and their inverses; the first is unused.
struct PointTable<F: ProofField>: Sendable {
  fileprivate let points, inverses: [F]

  /// - Parameter count: more than any number of a point.
  init(count: Int) {
    points = (0..<(1 << ceilingLog2(count))).map { F.point($0) }
    inverses = [.zero] + F.inverses(Array(points.dropFirst()))
  }
}

/// A polynomial's values at opened columns from its values at the points 0 … count−1. With y_j times its weight, the
/// value at x is Π (x − x_j) · Σ y_j / (x − x_j).
struct LagrangeMatrix<F: ProofField>: Sendable {
  private let weights: [F]
  /// 1 / (x − x_j), column by column.
  private var inverses: [F] = []
  /// Π (x − x_j) for each column.
  private var products: [F] = []

  /// - Parameter columns: not below the weights' count.
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

  /// Multiplies values at the points from `from` on by their weights.
  func weighted(_ values: ArraySlice<F>, from: Int = 0) -> [F] {
    precondition(from + values.count <= weights.count)
    return zip(values, weights[from...]).map { $0 * $1 }
  }

  /// The value at an opened column, of weighted values from point `from` on; those before and after are zero.
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
