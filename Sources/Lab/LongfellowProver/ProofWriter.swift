import Longfellow

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
  ) {
    write(bytes: tree.root)
    write(elements: sumcheck.messages)
    write(elements: ligero.lowDegree)
    write(elements: ligero.dot)
    write(elements: ligero.quadraticStart)
    write(elements: ligero.quadraticEnd)
    for leaf in ligero.opened { write(bytes: tree.nonce(leaf)) }
    writeRuns(tableau, ligero.opened)
    let digests = tree.opening(ligero.opened)
    write(count: digests.count)
    for digest in digests { write(bytes: digest) }
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
