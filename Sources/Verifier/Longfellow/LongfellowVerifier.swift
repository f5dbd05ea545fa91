/// Verifies mdoc proofs of longfellow-libzk-v1 (draft-google-cfrg-libzk) against one pair of circuits.
///
/// A proof shows that its maker has an mdoc with these properties: the issuer's key signed it; it was valid at the
/// statement's time; it has these elements; its device key signed this session's transcript and document type. It does
/// not show the elements' namespace, the document type that the issuer signed, or that the document is not revoked.
package struct LongfellowVerifier: Sendable {
  private let pair: CircuitPair
  let hash: PartSetup<FieldGF128>
  let signature: PartSetup<FieldP256>

  /// - Parameter pair: the circuits, prepared once for many proofs.
  package init(_ pair: CircuitPair) {
    self.pair = pair
    let (rate, opened) = (pair.known.rate, pair.known.openedColumns)
    hash = PartSetup(pair.hash, rate: rate, opened: opened, encoded: pair.known.hashBlock)
    signature = PartSetup(pair.signature, rate: rate, opened: opened, encoded: pair.known.signatureBlock)
  }

  /// Returns normally if the proof proves the statement. The whole proof is read before any expensive check.
  /// - Parameter threads: the maximum number of threads for this proof. A server with many proofs is faster with one
  ///   thread for each proof.
  package func verify(
    proof: [UInt8], statement: LongfellowStatement, threads: Int = 1
  ) throws(LongfellowError) {
    try checks(proof: proof, statement: statement).run(threads: threads)
  }

  /// Reads the proof and replays its transcript. The replay computes only hashes.
  /// - Parameter deviceNameSpaces: the DeviceNameSpaces that the device signed with the transcript. A response does not
  ///   contain them, so they must be empty. Other values are for tests only.
  func checks(
    proof bytes: [UInt8], statement: LongfellowStatement, deviceNameSpaces: [UInt8] = [0xa0]
  ) throws(LongfellowError) -> ProofChecks {
    try statement.check(for: pair.known)
    let proof = try LongfellowProof(bytes, pair: pair, hashShape: hash.shape, signatureShape: signature.shape)
    var transcript = Transcript(session: statement.transcript)
    transcript.write(bytes: proof.hash.root)
    transcript.write(bytes: proof.signature.root)
    // The verifier's half of the tags' key. The tags show that both circuits have the same values.
    let macs = proof.tags + [transcript.element(FieldGF128.self)]
    let hashInputs = statement.hashInputs(version: pair.known.version) + macs
    let signatureInputs =
      statement.signatureInputs(deviceNameSpaces: deviceNameSpaces) + bits(of: macs.flatMap(\.bytes))
    // Known circuits have these numbers of inputs.
    precondition(hashInputs.count == pair.hash.publicInputs && signatureInputs.count == pair.signature.publicInputs)
    let hashCheck = PartCheck(&transcript, setup: hash, publicInputs: hashInputs, proof: proof.hash)
    let signatureCheck = PartCheck(
      &transcript, setup: signature, publicInputs: signatureInputs, proof: proof.signature)
    return ProofChecks(hash: hashCheck, signature: signatureCheck)
  }
}

/// The checks of a proof that has been read.
struct ProofChecks {
  let hash: PartCheck<FieldGF128>
  let signature: PartCheck<FieldP256>

  /// Runs the fast checks of both parts (1 or 2 ms) before the slow checks (100 ms). Few wrong proofs reach the slow
  /// checks.
  func run(threads: Int) throws(LongfellowError) {
    try hash.ligero.checkMerkle()
    try signature.ligero.checkMerkle()
    let hashValues = try hash.checkRows()
    let signatureValues = try signature.checkRows()
    try hash.checkConstraints(values: hashValues, threads: threads)
    try signature.checkConstraints(values: signatureValues, threads: threads)
  }
}

/// The parts of one circuit's checks that are the same for every proof.
struct PartSetup<F: ProofField>: Sendable {
  let circuit: Circuit<F>
  let shape: LigeroShape
  let block, doubleBlock: BarycentricWeights<F>
  let points: PointTable<F>

  init(_ circuit: Circuit<F>, rate: Int, opened: Int, encoded: Int) {
    self.circuit = circuit
    shape = LigeroShape(circuit, rate: rate, opened: opened, encoded: encoded)
    block = BarycentricWeights(count: shape.block)
    doubleBlock = BarycentricWeights(count: shape.doubleBlock)
    points = PointTable(count: shape.doubleBlock + shape.leaves)
  }
}

/// One circuit's checks with their challenges.
struct PartCheck<F: ProofField> {
  let setup: PartSetup<F>
  let publicInputs: [F]
  let ligero: LigeroCheck<F>

  private var columns: [Int] { ligero.challenges.columns.map { $0 + setup.shape.doubleBlock } }

  /// Checks that the rows are well-formed. Returns the linear test's response, evaluated at the opened columns.
  func checkRows() throws(LongfellowError) -> [F] {
    let columns = columns
    try ligero.checkLowDegree(LagrangeMatrix(weights: setup.block, columns: columns, table: setup.points))
    let matrix = LagrangeMatrix(weights: setup.doubleBlock, columns: columns, table: setup.points)
    try ligero.checkQuadratic(matrix)
    let response = matrix.weighted(ligero.proof.dot[...])
    return columns.indices.map { matrix.value($0, weighted: response[...]) }
  }

  /// Checks that the rows satisfy the circuit.
  func checkConstraints(values: [F], threads: Int) throws(LongfellowError) {
    let boundSums = setup.circuit.boundSums(ligero.challenges, threads: threads)
    let constraints = LinearConstraints(
      setup.circuit, boundSums: boundSums, challenges: ligero.challenges, publicInputs: publicInputs,
      proof: ligero.proof)
    // The values are computed again, because storing them would add to the peak of memory in `boundSums`.
    let block = LagrangeMatrix(weights: setup.block, columns: columns, table: setup.points)
    try ligero.checkDot(constraints, block: block, values: values, threads: threads)
  }
}

extension PartCheck {
  /// Replays this part of the transcript.
  init(_ transcript: inout Transcript, setup: PartSetup<F>, publicInputs: [F], proof: CircuitProof<F>) {
    let challenges = CircuitChallenges(
      &transcript, circuit: setup.circuit, publicInputs: publicInputs, proof: proof, shape: setup.shape)
    self.init(
      setup: setup, publicInputs: publicInputs,
      ligero: LigeroCheck(shape: setup.shape, proof: proof, challenges: challenges))
  }
}

/// The reason why a circuit, a statement or a proof is refused.
package enum LongfellowError: Error, Equatable {
  /// The circuit file is not one whole frame of its format within the bounds.
  case circuitMalformed
  /// The circuit's identifier is unknown, or differs from the expected identifier.
  case circuitUnknown
  /// The statement cannot be proven with this circuit.
  case statement(StatementError)
  /// The proof ends too early, has bytes left, or has numbers outside their bounds.
  case proofMalformed
  /// The proof is well-formed, but does not prove the statement.
  case proofInvalid(Check)

  /// The failed check. The challenges depend on the whole proof and statement. The first check, of the Merkle tree,
  /// thus detects nearly every change.
  package enum Check: Sendable, Equatable {
    case merkle, lowDegree, dot, dotSum, quadratic
  }
}

/// The reason why no proof can show a statement.
package enum StatementError: Error, Equatable {
  /// The number of elements is not the circuit's.
  case elementCount
  /// An identifier that is empty or too long for the circuit.
  case identifier
  /// Two elements with the same identifier.
  case repeatedIdentifier
  /// A value that is not exactly one item: a text, bytes, an integer, a boolean or a date.
  case valueKind
  /// A value, or its identifier and the value together, too long for the circuit.
  case valueLength
  /// A document type that is empty or longer than 255 bytes.
  case documentType
  /// Not `YYYY-MM-DDThh:mm:ssZ`.
  case timestamp
  /// Coordinates that are not a point on P-256.
  case issuerKey
}
