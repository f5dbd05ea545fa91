import Longfellow

/// Where the sections of one circuit's part of a proof start: offsets from the proof's first byte.
package struct ProofSections: Sendable {
  package fileprivate(set) var root = 0
  package fileprivate(set) var sumcheck = 0
  package fileprivate(set) var lowDegree = 0
  package fileprivate(set) var dot = 0
  package fileprivate(set) var quadraticStart = 0
  package fileprivate(set) var quadraticEnd = 0
  package fileprivate(set) var nonces = 0
  /// The length of the first run of the opened columns' elements.
  package fileprivate(set) var columns = 0
  /// The number of digests, before the first of them.
  package fileprivate(set) var digests = 0
  package fileprivate(set) var end = 0
}

/// Writes a proof's bytes (draft-google-cfrg-libzk, Serialization).
struct ProofWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(bytes more: [UInt8]) { bytes += more }

  mutating func write<F: ProofField>(elements: [F]) {
    for element in elements { bytes += element.bytes }
  }

  private mutating func write(count: Int) {
    for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
  }

  /// A circuit's part.
  mutating func write<F>(
    _ tableau: Tableau<F>, _ tree: MerkleCommitment, _ sumcheck: SumcheckProver<F>, _ ligero: LigeroProver<F>
  ) -> ProofSections {
    var sections = ProofSections()
    sections.root = bytes.count
    write(bytes: tree.root)
    sections.sumcheck = bytes.count
    write(elements: sumcheck.messages)
    sections.lowDegree = bytes.count
    write(elements: ligero.lowDegree)
    sections.dot = bytes.count
    write(elements: ligero.dot)
    sections.quadraticStart = bytes.count
    write(elements: ligero.quadraticStart)
    sections.quadraticEnd = bytes.count
    write(elements: ligero.quadraticEnd)
    sections.nonces = bytes.count
    for leaf in ligero.opened { write(bytes: tree.nonce(leaf)) }
    sections.columns = bytes.count
    writeRuns(tableau, ligero.opened)
    sections.digests = bytes.count
    let digests = tree.opening(ligero.opened)
    write(count: digests.count)
    for digest in digests { write(bytes: digest) }
    sections.end = bytes.count
    return sections
  }

  /// The opened columns row by row, in the longest runs of the whole field and of the subfield by turns.
  private mutating func writeRuns<F>(_ tableau: Tableau<F>, _ opened: [Int]) {
    var (run, length): ([UInt8], Int) = ([], 0)
    // If the subfield is the whole field, the first run is empty and the second has all.
    var inSubfield = false
    for row in 0..<tableau.shape.rows {
      let elements = tableau.row(row) + tableau.shape.doubleBlock
      for leaf in opened {
        let short = elements[leaf].subfieldBytes
        if inSubfield != (short != nil) {
          write(count: length)
          bytes += run
          (run, length) = ([], 0)
          inSubfield.toggle()
        }
        run += short ?? elements[leaf].bytes
        length += 1
      }
    }
    write(count: length)
    bytes += run
  }
}
