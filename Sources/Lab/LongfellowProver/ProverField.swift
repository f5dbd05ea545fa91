import Longfellow

/// A term of a layer's sum whose outputs are bound (draft-google-cfrg-libzk, Sumcheck).
struct BoundTerm<F: ProofField> {
  var left, right: UInt32
  var value: F
}

/// The two wires of a term.
enum Hand: Int, CaseIterable { case left, right }

/// A field with the loops in which a prover spends its time. Pointers are to arrays whose sizes the caller has checked.
protocol ProverField: ProofField {
  associatedtype Extension: RowExtension where Extension.Element == Self

  /// How many of the last private inputs lie outside the subfield; nil if there is no smaller field.
  static var inputsOutsideSubfield: Int? { get }
  /// The number that subfield runs hold; nil for elements outside.
  var subfieldBytes: [UInt8]? { get }
  static func random(_ source: inout ProverRandomness) -> Self
  static func randomInSubfield(_ source: inout ProverRandomness) -> Self

  /// sum[i] += factor·row[i].
  static func add(to sum: UnsafeMutablePointer<Self>, _ factor: Self, times row: UnsafePointer<Self>, count: Int)
  /// sum[i] += a[i]·b[i].
  static func addProducts(
    to sum: UnsafeMutablePointer<Self>, _ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int)
  /// values[i] = values[2i] + challenge·(values[2i + 1] − values[2i]).
  static func fold(_ values: UnsafeMutablePointer<Self>, pairs: Int, _ challenge: Self)
  /// Σ sums[2i]·wires[2i], and Σ of the products of the pairs' differences.
  static func roundSums(
    _ sums: UnsafePointer<Self>, _ wires: UnsafePointer<Self>, pairs: Int
  ) -> (constant: Self, square: Self)
  /// Adds each term to its output; false if an asserted product isn't zero.
  static func evaluate(
    _ layer: CircuitLayer, constants: [Self], one: Int, wires: UnsafePointer<Self>,
    outputs: UnsafeMutablePointer<Self>
  ) -> Bool
  /// Makes one term a group, and adds each term's value times its right wire to the sum of its left.
  static func bindOutputs(
    _ layer: CircuitLayer, constants: [Self], one: Int, outputs: UnsafePointer<Self>, wires: UnsafePointer<Self>,
    terms: UnsafeMutablePointer<BoundTerm<Self>>, sums: UnsafeMutablePointer<Self>)
  /// Binds the lowest bit of a hand's wires, merges neighbours, and adds each value times its own wire to the sum of
  /// the other. Returns how many terms are left.
  static func fold(
    _ hand: Hand, _ terms: UnsafeMutablePointer<BoundTerm<Self>>, count: Int, _ challenge: Self,
    wires: UnsafePointer<Self>, sums: UnsafeMutablePointer<Self>
  ) -> Int
}

/// Extends rows: from the values of polynomials of degree below `count` at the points 0 … count−1 to those at
/// count … total−1.
protocol RowExtension: Sendable {
  associatedtype Element

  init(count: Int, total: Int)
  /// - Parameter rows: `number` rows, `stride` elements from one to the next.
  func extend(_ rows: UnsafeMutablePointer<Element>, stride: Int, number: Int)
}

extension Circuit {
  /// The constant 1's index, or one that does not occur.
  var indexOfOne: Int { constants.firstIndex(of: F.one) ?? CircuitLayer.noConstant }
}
