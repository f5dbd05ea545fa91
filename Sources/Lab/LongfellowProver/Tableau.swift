import Longfellow

/// The rows of a commitment (draft-google-cfrg-libzk, Ligero commitment): three of masks, those of the values, and
/// those of the quadratic constraints. Each is a polynomial's values at all columns' points.
final class Tableau<F: ProverField> {
  let shape: CommitmentShape
  private let elements: UnsafeMutablePointer<F>

  /// How to extend rows of each degree.
  struct Extensions: Sendable where F.Extension: Sendable {
    let single, double, product: F.Extension

    init(_ shape: CommitmentShape) {
      single = F.Extension(count: shape.block, total: shape.columns)
      double = F.Extension(count: shape.doubleBlock, total: shape.columns)
      product = F.Extension(count: shape.block, total: shape.doubleBlock)
    }
  }

  /// - Parameters:
  ///   - values: what is committed, pads included.
  ///   - privateInputs: how many of the values are a circuit's inputs.
  init(
    _ shape: CommitmentShape, values: [F], privateInputs: Int, extensions: Extensions,
    random: inout ProverRandomness
  ) {
    self.shape = shape
    elements = .allocate(capacity: shape.rows * shape.columns)
    elements.initialize(repeating: .zero, count: shape.rows * shape.columns)
    fillMasks(&random)
    let inSubfield = F.inputsOutsideSubfield.map { privateInputs - $0 } ?? 0
    for index in 0..<shape.witnessRows {
      let start = index * shape.width
      fill(
        3 + index, with: values[start..<min(start + shape.width, values.count)],
        inSubfield: start + shape.width <= inSubfield, &random)
    }
    fillQuadraticRows(values, &random)
    let stride = shape.columns
    extensions.single.extend(row(0), stride: stride, number: 1)
    extensions.double.extend(row(1), stride: stride, number: 2)
    extensions.single.extend(row(3), stride: stride, number: shape.contentRows)
  }

  deinit { elements.deallocate() }

  func row(_ index: Int) -> UnsafeMutablePointer<F> { elements + index * shape.columns }

  /// Masks: of low degree; with the sum 0 over the values' columns; with zeros in the values' columns.
  private func fillMasks(_ random: inout ProverRandomness) {
    for column in 0..<shape.block { row(0)[column] = F.random(&random) }
    var sum = F.zero
    for column in 0..<shape.doubleBlock {
      row(1)[column] = F.random(&random)
      let isValue = shape.opened <= column && column < shape.block
      if isValue {
        sum = sum + row(1)[column]
      } else {
        row(2)[column] = F.random(&random)
      }
    }
    row(1)[shape.opened] = row(1)[shape.opened] - sum
  }

  private func fill(_ index: Int, with values: ArraySlice<F>, inSubfield: Bool, _ random: inout ProverRandomness) {
    let row = row(index)
    for column in 0..<shape.opened { row[column] = inSubfield ? F.randomInSubfield(&random) : F.random(&random) }
    for (column, value) in values.enumerated() { row[shape.opened + column] = value }
  }

  /// First factors, second factors and products, each in rows of their own.
  private func fillQuadraticRows(_ values: [F], _ random: inout ProverRandomness) {
    let products = shape.pads.indices.map { shape.product(ofLayer: $0) }
    for part in 0..<3 {
      for index in 0..<shape.quadraticRows {
        let range = (index * shape.width)..<min((index + 1) * shape.width, products.count)
        let factors = products[range].map { values[$0 + part] }
        fill(
          3 + shape.witnessRows + part * shape.quadraticRows + index, with: factors[...], inSubfield: false, &random)
      }
    }
  }
}
