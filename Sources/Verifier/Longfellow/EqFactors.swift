/// eq(X, i) = Π (bit j of i ? X_j : 1 − X_j) over a layer's wires (draft-google-cfrg-libzk, Sumcheck), in two factors:
/// one for an index's low bits, one for the others. Both stay in the processor's caches, where the whole vector would
/// have megabytes.
package struct EqFactors<F: ProofField>: Sendable {
  let lowBits: Int
  let low, high: [F]

  /// - Parameters:
  ///   - count: how many indices there are.
  ///   - scale: multiplies all.
  package init(_ challenges: [F], count: Int, scale: F = .one) {
    lowBits = challenges.count / 2
    low = eqVector(challenges[..<lowBits], count: 1 << lowBits, scale: .one)
    high = eqVector(challenges[lowBits...], count: (max(count, 1) - 1) >> lowBits + 1, scale: scale)
  }

  @inline(__always) func lowValue(_ index: Int) -> F { low[index & (1 << lowBits - 1)] }
  @inline(__always) func highValue(_ index: Int) -> F { high[index >> lowBits] }
  @inline(__always) func value(_ index: Int) -> F { lowValue(index) * highValue(index) }
}

/// The eq vector of these challenges over the first `count` indices, times the scale.
func eqVector<F: ProofField>(_ challenges: ArraySlice<F>, count: Int, scale: F) -> [F] {
  var vector = [F](repeating: .zero, count: max(count, 1))
  vector[0] = scale
  var filled = 1
  // From the last challenge to the first, each doubles the indices in place, from the top.
  for (position, challenge) in zip(challenges.indices, challenges).reversed() {
    for index in (0..<filled).reversed() {
      let high = vector[index] * challenge
      let low = vector[index] - high
      if 2 * index + 1 < vector.count { vector[2 * index + 1] = high }
      vector[2 * index] = low
    }
    // Of all indices, those that remain without their lower bits.
    let bits = position - challenges.startIndex
    filled = min(2 * filled, max((count + (1 << bits) - 1) >> bits, 1))
  }
  return vector
}
