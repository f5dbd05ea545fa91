/// Verifies mdoc proofs of longfellow-libzk-v1 (draft-google-cfrg-libzk) against one pair of circuits.
///
/// A proof shows that somebody has an mdoc that the issuer's key signed, that was valid at the statement's moment, that
/// has these elements, and whose device key signed this session's transcript and document type. It shows neither the
/// elements' namespace, nor the document type that the issuer signed, nor that the document isn't revoked.
package struct LongfellowVerifier: Sendable {
  private let pair: CircuitPair
  let hash: PartSetup<FieldGF128>
  let signature: PartSetup<FieldP256>

  /// - Parameter pair: made ready once, for many proofs.
  package init(_ pair: CircuitPair) {
    self.pair = pair
    let (rate, opened) = (pair.known.rate, pair.known.openedColumns)
    hash = PartSetup(pair.hash, rate: rate, opened: opened, encoded: pair.known.hashBlock)
    signature = PartSetup(pair.signature, rate: rate, opened: opened, encoded: pair.known.signatureBlock)
  }

  /// Returns if the proof proves the statement. The proof is read whole before any heavy work, and cheap checks come
  /// before dear ones.
  /// - Parameter threads: at most as many work on the proof. A server with proofs to spare does more with one each.
  package func verify(
    proof: [UInt8], statement: LongfellowStatement, threads: Int = 1
  ) throws(LongfellowError) {
    try checks(proof: proof, statement: statement).run(threads: threads)
  }

  /// Reads the proof and replays its transcript, in which nothing but hashes is computed.
  /// - Parameter deviceNameSpaces: what the device signed beside the transcript. A response has no place for it, so
  ///   that it must be empty; others are for tests only.
  func checks(
    proof bytes: [UInt8], statement: LongfellowStatement, deviceNameSpaces: [UInt8] = [0xa0]
  ) throws(LongfellowError) -> ProofChecks {
    try statement.check(for: pair.known)
    let proof = try LongfellowProof(bytes, pair: pair, hashShape: hash.shape, signatureShape: signature.shape)
    var transcript = Transcript(session: statement.transcript)
    transcript.write(bytes: proof.hash.root)
    transcript.write(bytes: proof.signature.root)
    // The verifier's half of the key of the tags, by which both circuits are about the same values.
    let macs = proof.tags + [transcript.element(FieldGF128.self)]
    let hashInputs = statement.hashInputs(version: pair.known.version) + macs
    let signatureInputs =
      statement.signatureInputs(deviceNameSpaces: deviceNameSpaces) + bits(of: macs.flatMap(\.bytes))
    // What a known circuit is made for.
    precondition(hashInputs.count == pair.hash.publicInputs && signatureInputs.count == pair.signature.publicInputs)
    let hashCheck = PartCheck(&transcript, setup: hash, publicInputs: hashInputs, proof: proof.hash)
    let signatureCheck = PartCheck(
      &transcript, setup: signature, publicInputs: signatureInputs, proof: proof.signature)
    return ProofChecks(hash: hashCheck, signature: signatureCheck)
  }
}

/// What is left to check of a proof that has been read.
struct ProofChecks {
  let hash: PartCheck<FieldGF128>
  let signature: PartCheck<FieldP256>

  /// Runs what costs a millisecond or two on both parts before what costs a hundred, so that little is done for most
  /// of what is wrong.
  func run(threads: Int) throws(LongfellowError) {
    try hash.ligero.checkMerkle()
    try signature.ligero.checkMerkle()
    let hashAnswers = try hash.checkRows()
    let signatureAnswers = try signature.checkRows()
    try hash.checkConstraints(answers: hashAnswers, threads: threads)
    try signature.checkConstraints(answers: signatureAnswers, threads: threads)
  }
}

/// What the checks of one circuit need whatever the proof.
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

/// One circuit's checks, with its challenges already read.
struct PartCheck<F: ProofField> {
  let setup: PartSetup<F>
  let publicInputs: [F]
  let ligero: LigeroCheck<F>

  private var columns: [Int] { ligero.challenges.columns.map { $0 + setup.shape.doubleBlock } }

  /// The rows are what they must be, whatever they say. Returns the linear constraints' answer at the opened columns.
  func checkRows() throws(LongfellowError) -> [F] {
    let columns = columns
    try ligero.checkLowDegree(LagrangeMatrix(weights: setup.block, columns: columns, table: setup.points))
    let matrix = LagrangeMatrix(weights: setup.doubleBlock, columns: columns, table: setup.points)
    try ligero.checkQuadratic(matrix)
    let answer = matrix.weighted(ligero.proof.dot[...])
    return columns.indices.map { matrix.value($0, weighted: answer[...]) }
  }

  /// They say what the circuit demands.
  func checkConstraints(answers: [F], threads: Int) throws(LongfellowError) {
    let boundSums = setup.circuit.boundSums(ligero.challenges, threads: threads)
    let constraints = LinearConstraints(
      setup.circuit, boundSums: boundSums, challenges: ligero.challenges, publicInputs: publicInputs,
      proof: ligero.proof)
    // Made once more, since binding takes the most memory.
    let block = LagrangeMatrix(weights: setup.block, columns: columns, table: setup.points)
    try ligero.checkDot(constraints, block: block, answers: answers, threads: threads)
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
