import Cryptography
import Longfellow

/// A Merkle tree over a tableau's columns (draft-google-cfrg-libzk, Merkle trees): `nodes[1]` is the root, and each
/// node's children are at twice its index and one more.
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
    var nodes = [[UInt8]](repeating: [], count: leaves)
    nodes += Self.hashes(of: tableau, nonces)
    for node in (1..<leaves).reversed() {
      nodes[node] = HashAlgorithm.sha256.hash(nodes[2 * node] + nodes[2 * node + 1])
    }
    self.nodes = nodes
  }

  /// Neighbouring columns together, since they share cache lines.
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
