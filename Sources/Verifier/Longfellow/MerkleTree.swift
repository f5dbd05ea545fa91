import Cryptography

/// Openings of some leaves of a Merkle tree, compressed to the digests that cannot be computed
/// (draft-google-cfrg-libzk, Merkle trees).
enum MerkleTree {
  /// Whether the leaves and digests lead to the root, with every digest used.
  /// - Parameters:
  ///   - leaves: of the opened positions, in the same order.
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
