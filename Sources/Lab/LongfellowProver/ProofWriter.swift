import Longfellow

/// The sections of one circuit's part of a proof, in order. Each value is the section's offset from the proof's first
/// byte.
///
/// `columns` starts with the length of the first run of elements. `digests` starts with the number of digests.
package typealias ProofSections = KeyValuePairs<String, Int>

/// Writes a proof's bytes (draft-google-cfrg-libzk, Serialization).
struct ProofWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write<F: ProofField>(elements: [F]) {
    for element in elements { bytes += element.bytes }
  }

  private mutating func write(count: Int) {
    bytes += (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
  }

  /// Writes a section, and returns the offset of its start.
  private mutating func section(_ write: (inout ProofWriter) -> Void) -> Int {
    let start = bytes.count
    write(&self)
    return start
  }

  /// Writes one circuit's part of the proof.
  mutating func write<F>(
    _ tableau: Tableau<F>, _ tree: MerkleCommitment, _ sumcheck: SumcheckProver<F>, _ ligero: LigeroProver<F>
  ) -> ProofSections {
    let digests = tree.opening(ligero.opened)
    return [
      "root": section { $0.bytes += tree.root },
      "sumcheck": section { $0.write(elements: sumcheck.messages) },
      "lowDegree": section { $0.write(elements: ligero.lowDegree) },
      "dot": section { $0.write(elements: ligero.dot) },
      "quadraticStart": section { $0.write(elements: ligero.quadraticStart) },
      "quadraticEnd": section { $0.write(elements: ligero.quadraticEnd) },
      "nonces": section { $0.bytes += ligero.opened.flatMap(tree.nonce) },
      "columns": section { $0.writeRuns(tableau, ligero.opened) },
      "digests": section {
        $0.write(count: digests.count)
        $0.bytes += digests.joined()
      },
      "end": bytes.count,
    ]
  }

  /// Writes the opened columns row by row, in the longest possible runs. The runs alternate between the whole field and
  /// the subfield.
  private mutating func writeRuns<F>(_ tableau: Tableau<F>, _ opened: [Int]) {
    var (run, length): ([UInt8], Int) = ([], 0)
    // If the subfield is the whole field, the first run is empty and the second run has all elements.
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
