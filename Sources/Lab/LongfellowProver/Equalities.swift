import Longfellow

/// The factors of wires by two points (draft-google-cfrg-libzk, Sumcheck): eq(first, i) + factor·eq(second, i), with
/// eq(X, i) = Π (bit j of i ? X_j : 1 − X_j).
final class Equalities<F: ProverField> {
  /// One element more than wires, for both.
  private let sum, second: UnsafeMutablePointer<F>

  /// - Parameter size: of the most wires.
  init(size: Int) {
    sum = .allocate(capacity: size + 1)
    second = .allocate(capacity: size + 1)
  }

  deinit {
    sum.deallocate()
    second.deallocate()
  }

  /// The first `count` factors, which stay until the next are made.
  func factors(_ points: [[F]], count: Int, _ factor: F) -> UnsafePointer<F> {
    Self.fill(sum, points[0], count: count, scale: .one)
    Self.fill(second, points[1], count: count, scale: factor)
    F.add(to: sum, second, count: count)
    return UnsafePointer(sum)
  }

  /// From the last challenge to the first, each doubles the indices.
  private static func fill(_ vector: UnsafeMutablePointer<F>, _ point: [F], count: Int, scale: F) {
    vector[0] = scale
    var filled = 1
    for (position, challenge) in point.enumerated().reversed() {
      F.split(vector, count: filled, challenge)
      // An odd last one is written over or never read.
      filled = (count + (1 << position) - 1) >> position
    }
  }
}
