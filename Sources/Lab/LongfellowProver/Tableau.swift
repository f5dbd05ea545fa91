import Cryptography
import Longfellow

/// The rows of a commitment (draft-google-cfrg-libzk, Ligero commitment): three rows of masks, then rows of values,
/// then rows of quadratic constraints. Each row is a polynomial's values at all columns' points.
final class Tableau<F: ProverField> {
  let shape: CommitmentShape
  private let elements: UnsafeMutablePointer<F>

  /// The row extensions, one for each degree.
  struct Extensions: Sendable where F.Extension: Sendable {
    let single, double, product: F.Extension

    init(_ shape: CommitmentShape) {
      single = F.Extension(count: shape.block, total: shape.columns)
      double = F.Extension(count: shape.doubleBlock, total: shape.columns)
      product = F.Extension(count: shape.block, total: shape.doubleBlock)
    }
  }

  /// - Parameters:
  ///   - values: all committed values, pads included.
  ///   - privateInputs: the number of a circuit's inputs, which are the first values.
  init(
    _ shape: CommitmentShape, values: [F], privateInputs: Int, extensions: Extensions, random: inout ProverRandomness
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

  /// Fills the three rows of masks. The first row has a low degree, the second has the sum 0 over the values' columns,
  /// and the third has zeros in the values' columns.
  private func fillMasks(_ random: inout ProverRandomness) {
    for column in 0..<shape.block { row(0)[column] = F.random(&random) }
    var sum = F.zero
    for column in 0..<shape.doubleBlock {
      row(1)[column] = F.random(&random)
      if (shape.opened..<shape.block).contains(column) {
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

  /// Fills separate rows with the first factors, the second factors and the products.
  private func fillQuadraticRows(_ values: [F], _ random: inout ProverRandomness) {
    let products = shape.pads.indices.map { shape.product(ofLayer: $0) }
    for part in 0..<3 {
      for index in 0..<shape.quadraticRows {
        let range = (index * shape.width)..<min((index + 1) * shape.width, products.count)
        let factors = products[range].map { values[$0 + part] }
        fill(3 + shape.witnessRows + part * shape.quadraticRows + index, with: factors[...], inSubfield: false, &random)
      }
    }
  }
}

/// A Merkle tree over columns (draft-google-cfrg-libzk, Merkle trees): root 1; node i has the children 2i and 2i + 1.
struct MerkleCommitment {
  private let leaves: Int
  private let nodes: [[UInt8]]
  private let nonces: [[UInt8]]

  var root: [UInt8] { nodes[1] }

  init<F>(_ tableau: Tableau<F>, random: inout ProverRandomness) {
    let shape = tableau.shape
    leaves = shape.leaves
    var nonces: [[UInt8]] = []
    for _ in 0..<leaves { nonces.append(random.bytes(32)) }
    self.nonces = nonces
    var nodes = [[UInt8]](repeating: [], count: leaves) + Self.hashes(of: tableau, nonces)
    for node in (1..<leaves).reversed() {
      nodes[node] = HashAlgorithm.sha256.hash(nodes[2 * node] + nodes[2 * node + 1])
    }
    self.nodes = nodes
  }

  /// Hashes neighbouring columns together, since they share cache lines.
  private static func hashes<F>(of tableau: Tableau<F>, _ nonces: [[UInt8]]) -> [[UInt8]] {
    let shape = tableau.shape
    let (together, length) = (16, 32 + shape.rows * F.byteCount)
    var buffer = [UInt8](repeating: 0, count: together * length)
    var hashes: [[UInt8]] = []
    hashes.reserveCapacity(nonces.count)
    for first in stride(from: 0, to: nonces.count, by: together) {
      let count = min(together, nonces.count - first)
      buffer.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return }
        for leaf in 0..<count { (start + leaf * length).update(from: nonces[first + leaf], count: 32) }
        for row in 0..<shape.rows {
          let elements = tableau.row(row) + shape.doubleBlock + first
          for leaf in 0..<count {
            elements[leaf].write(to: start + leaf * length + 32 + row * F.byteCount)
          }
        }
      }
      for leaf in 0..<count {
        hashes.append(HashAlgorithm.sha256.hash(buffer[(leaf * length)..<((leaf + 1) * length)]))
      }
    }
    return hashes
  }

  func nonce(_ leaf: Int) -> [UInt8] { nonces[leaf] }

  /// The digests that a verifier cannot compute from these leaves, from the last node to the first.
  func opening(_ positions: [Int]) -> [[UInt8]] {
    var isKnown = [Bool](repeating: false, count: 2 * leaves)
    for position in positions { isKnown[leaves + position] = true }
    for node in (1..<leaves).reversed() { isKnown[node] = isKnown[2 * node] || isKnown[2 * node + 1] }
    return (1..<leaves).reversed().compactMap { node in
      let (left, right) = (isKnown[2 * node], isKnown[2 * node + 1])
      return left == right ? nil : nodes[left ? 2 * node + 1 : 2 * node]
    }
  }
}
