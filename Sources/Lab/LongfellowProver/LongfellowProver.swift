import Cryptography
import Longfellow

/// Proves mdocs with longfellow-libzk-v1 and one pair of circuits. One prover can make any number of proofs.
package struct LongfellowProver: Sendable {
  private let pair: CircuitPair
  private let hash: PartProver<FieldGF128>
  private let signature: PartProver<FieldP256>

  package init(_ pair: CircuitPair) {
    self.pair = pair
    hash = PartProver(pair.hash, pair.known, columns: pair.known.hashBlock)
    signature = PartProver(pair.signature, pair.known, columns: pair.known.signatureBlock)
  }

  /// A proof, and the offsets of its sections.
  package struct Proof: Sendable {
    /// Six tags, then the hash circuit's part, then the signature circuit's part.
    package let bytes: [UInt8]
    package let hash: ProofSections
    package let signature: ProofSections
  }

  /// Proves with the operating system's randomness.
  package func prove(_ document: ProvableDocument, _ request: ProverRequest) throws(ProverError) -> Proof {
    guard var random = try? ProverRandomness() else { throw .noRandomness }
    return try prove(document, request, random: &random)
  }

  /// - Parameter random: random bytes from a secret seed, used for this proof only.
  package func prove(
    _ document: ProvableDocument, _ request: ProverRequest, random: inout ProverRandomness
  ) throws(ProverError) -> Proof {
    let keys = FieldGF128.random(6, &random)
    var witness = try MdocWitness(document, request, for: pair.known, keys: keys)
    var transcript = Transcript(session: request.transcript)
    let hashed = hash.commit(witness.hash.inputs.values, &random)
    let signed = signature.commit(witness.signature.inputs.values, &random)
    transcript.write(bytes: hashed.tree.root)
    transcript.write(bytes: signed.tree.root)
    let tags = witness.setTags(keys: keys, verifierKey: transcript.element())
    var writer = ProofWriter()
    writer.write(elements: tags)
    let hash = try hash.prove(witness.hash.inputs.values, hashed, &transcript, &writer)
    let signature = try signature.prove(witness.signature.inputs.values, signed, &transcript, &writer)
    return Proof(bytes: writer.bytes, hash: hash, signature: signature)
  }
}

/// Proves one of the two circuits.
struct PartProver<F: ProverField>: Sendable {
  private let circuit: Circuit<F>
  private let shape: CommitmentShape
  private let extensions: Tableau<F>.Extensions

  struct Commitment {
    /// The private inputs, then the pads.
    let values: [F]
    let tableau: Tableau<F>
    let tree: MerkleCommitment
  }

  init(_ circuit: Circuit<F>, _ known: KnownCircuit, columns: Int) {
    self.circuit = circuit
    shape = CommitmentShape(circuit, rate: known.rate, opened: known.openedColumns, columns: columns)
    extensions = Tableau<F>.Extensions(shape)
  }

  /// Commits to the private inputs and to pads. The private inputs do not contain the tags.
  func commit(_ inputs: [F], _ random: inout ProverRandomness) -> Commitment {
    var values = Array(inputs[circuit.publicInputs...])
    values.reserveCapacity(shape.values)
    for pads in shape.pads {
      values += F.random(pads.rounds + 2, &random)
      values.append(values[values.count - 2] * values[values.count - 1])
    }
    let tableau = Tableau(
      shape, values: values, privateInputs: circuit.privateInputs, extensions: extensions, random: &random)
    return Commitment(values: values, tableau: tableau, tree: MerkleCommitment(tableau, random: &random))
  }

  /// Writes this circuit's part of the proof. `inputs` must include the tags.
  func prove(
    _ inputs: [F], _ commitment: Commitment, _ transcript: inout Transcript, _ writer: inout ProofWriter
  ) throws(ProverError) -> ProofSections {
    let evaluation = try Evaluation(circuit, inputs: inputs)
    let sumcheck = SumcheckProver(
      &transcript, circuit: circuit, shape: shape, values: commitment.values, evaluation: evaluation)
    let ligero = LigeroProver(
      &transcript, tableau: commitment.tableau, sumcheck: sumcheck, circuit: circuit, extensions: extensions)
    return writer.write(commitment.tableau, commitment.tree, sumcheck, ligero)
  }
}

/// The sizes of a commitment to a circuit's private inputs and pads (draft-google-cfrg-libzk, Ligero parameters).
struct CommitmentShape: Sendable {
  /// The number of opened columns, which is also the number of random values at the start of each row.
  let opened: Int
  /// A row's degree bound, the number of its values, and the degree bound of a product of two rows.
  let block, width, doubleBlock: Int
  /// The number of columns of the whole tableau, and of columns that can be opened.
  let columns, leaves: Int
  /// The number of committed values. The private inputs come first.
  let values: Int
  let witnessRows, quadraticRows: Int
  /// The index of each layer's first pad, and the number of pads before its two wires' pads.
  private(set) var pads: [(start: Int, rounds: Int)] = []

  init<F>(_ circuit: Circuit<F>, rate: Int, opened: Int, columns: Int) {
    self.opened = opened
    self.columns = columns
    block = (columns + 1) / (2 + rate)
    width = block - opened
    doubleBlock = 2 * block - 1
    leaves = columns - doubleBlock
    var next = circuit.privateInputs
    for layer in circuit.layers {
      pads.append((next, 4 * layer.logWires))
      next += 4 * layer.logWires + 3
    }
    values = next
    witnessRows = (values + width - 1) / width
    quadraticRows = (circuit.layers.count + width - 1) / width
  }

  /// The number of rows with witnesses, and with the factors and products of quadratic constraints.
  var contentRows: Int { witnessRows + 3 * quadraticRows }
  var rows: Int { contentRows + 3 }

  /// The index of the first factor of a layer's quadratic constraint. The second factor and the product follow.
  func product(ofLayer layer: Int) -> Int { pads[layer].start + pads[layer].rounds }
}
