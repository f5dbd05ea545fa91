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

/// The differences of opened columns' points and the points 0 … count−1, column by column, and their inverses.
struct ColumnDistances<F: ProofField> {
  fileprivate let count: Int
  fileprivate let distances, inverses: [F]

  init(count: Int, columns: [Int]) {
    self.count = count
    let points = (0..<count).map { F.point($0) }
    var distances: [F] = []
    distances.reserveCapacity(count * columns.count)
    for column in columns {
      let x = F.point(column)
      for point in points { distances.append(x - point) }
    }
    self.distances = distances
    inverses = F.inverses(distances)
  }
}

/// Lagrange coefficients that give a polynomial's values at opened columns from its values at 0 … count−1.
struct LagrangeMatrix<F: ProofField> {
  private let count: Int
  private let coefficients: [F]
  /// Of each column, what all its coefficients are multiplied by: Π (x − x_i).
  private var wholes: [F] = []

  /// - Parameters:
  ///   - weights: for the matrix's count.
  ///   - distances: from as many points or more.
  init(weights: BarycentricWeights<F>, distances: ColumnDistances<F>) {
    let weights = weights.weights
    count = weights.count
    precondition(count <= distances.count)
    var coefficients: [F] = []
    coefficients.reserveCapacity(distances.distances.count / distances.count * count)
    for start in stride(from: 0, to: distances.distances.count, by: distances.count) {
      var whole = F.one
      for index in 0..<count {
        whole = whole * distances.distances[start + index]
        coefficients.append(distances.inverses[start + index] * weights[index])
      }
      wholes.append(whole)
    }
    self.coefficients = coefficients
  }

  init(weights: BarycentricWeights<F>, columns: [Int]) {
    self.init(weights: weights, distances: ColumnDistances(count: weights.weights.count, columns: columns))
  }

  /// The value at an opened column, of values from point `from` on; those before and after are zero.
  func value(_ column: Int, _ values: ArraySlice<F>, from: Int = 0) -> F {
    precondition(from + values.count <= count)
    let sum = coefficients.withUnsafeBufferPointer { coefficients in
      values.withUnsafeBufferPointer { values in
        guard let a = coefficients.baseAddress, let b = values.baseAddress else { return F.zero }
        return F.dot(a + column * count + from, b, count: values.count)
      }
    }
    return sum * wholes[column]
  }
}
