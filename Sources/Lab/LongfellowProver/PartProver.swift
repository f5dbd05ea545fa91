import Longfellow

/// Proves one of the two circuits.
struct PartProver<F: ProverField>: Sendable {
  private let circuit: Circuit<F>
  private let shape: CommitmentShape
  private let extensions: Tableau<F>.Extensions

  struct Commitment {
    /// Private inputs and pads.
    let values: [F]
    let tableau: Tableau<F>
    let tree: MerkleCommitment
  }

  init(_ circuit: Circuit<F>, _ known: KnownCircuit, columns: Int) {
    self.circuit = circuit
    shape = CommitmentShape(circuit, rate: known.rate, opened: known.openedColumns, columns: columns)
    extensions = Tableau<F>.Extensions(shape)
  }

  /// Commits to the private inputs, which hold no tags, and to pads.
  func commit(_ inputs: [F], _ random: inout ProverRandomness) -> Commitment {
    var values = Array(inputs[circuit.publicInputs...])
    values.reserveCapacity(shape.values)
    for pads in shape.pads {
      for _ in 0..<(pads.rounds + 2) { values.append(F.random(&random)) }
      values.append(values[values.count - 2] * values[values.count - 1])
    }
    let tableau = Tableau(
      shape, values: values, privateInputs: circuit.privateInputs, extensions: extensions, random: &random)
    return Commitment(values: values, tableau: tableau, tree: MerkleCommitment(tableau, random: &random))
  }

  /// Writes this circuit's part of the proof.
  /// - Parameter inputs: with the tags.
  func prove(
    _ inputs: [F], _ commitment: Commitment, _ transcript: inout Transcript, _ writer: inout ProofWriter
  ) throws(ProverRefusal) -> ProofSections {
    let evaluation = try Evaluation(circuit, inputs: inputs)
    let sumcheck = SumcheckProver(
      &transcript, circuit: circuit, shape: shape, values: commitment.values, evaluation: evaluation)
    let ligero = LigeroProver(
      &transcript, tableau: commitment.tableau, sumcheck: sumcheck, circuit: circuit, extensions: extensions)
    return writer.write(commitment.tableau, commitment.tree, sumcheck, ligero)
  }
}
