/// Verifies mdoc proofs of longfellow-libzk-v1 against one pair of circuits.
package struct LongfellowVerifier: Sendable {
  private let pair: CircuitPair
  private let hash: PartSetup<FieldGF128>
  private let signature: PartSetup<FieldP256>

  /// - Parameter pair: made ready once, for many proofs.
  package init(_ pair: CircuitPair) {
    self.pair = pair
    hash = PartSetup(pair.hash, pair.known, encoded: pair.known.hashBlock)
    signature = PartSetup(pair.signature, pair.known, encoded: pair.known.signatureBlock)
  }

  /// Returns if the proof proves the statement. The proof is read whole before any heavy work, and cheap checks come
  /// before dear ones.
  package func verify(proof bytes: [UInt8], statement: LongfellowStatement) throws(LongfellowError) {
    let known = pair.known
    guard statement.elements.count == known.elements else { throw .statement }
    let proof = try LongfellowProof(bytes, pair: pair, hashShape: hash.shape, signatureShape: signature.shape)

    var transcript = Transcript(session: statement.transcript)
    transcript.write(bytes: proof.hash.root)
    transcript.write(bytes: proof.signature.root)
    let macs = proof.tags + [transcript.element(FieldGF128.self)]
    let hashInputs = try statement.hashInputs(version: known.version) + macs
    let signatureInputs = try statement.signatureInputs() + bits(of: macs.flatMap(\.bytes))
    guard hashInputs.count == pair.hash.publicInputs, signatureInputs.count == pair.signature.publicInputs else {
      throw .statement
    }
    let hashCheck = PartCheck(&transcript, setup: hash, publicInputs: hashInputs, proof: proof.hash)
    let signatureCheck = PartCheck(
      &transcript, setup: signature, publicInputs: signatureInputs, proof: proof.signature)
    try hashCheck.ligero.checkMerkle()
    try signatureCheck.ligero.checkMerkle()
    try hashCheck.check()
    try signatureCheck.check()
  }
}

/// What the checks of one circuit need whatever the proof.
struct PartSetup<F: ProofField>: Sendable {
  let circuit: Circuit<F>
  let shape: LigeroShape
  let block, doubleBlock: BarycentricWeights<F>

  init(_ circuit: Circuit<F>, _ known: KnownCircuit, encoded: Int) {
    self.circuit = circuit
    shape = LigeroShape(circuit, rate: known.rate, opened: known.openedColumns, encoded: encoded)
    block = BarycentricWeights(count: shape.block)
    doubleBlock = BarycentricWeights(count: shape.doubleBlock)
  }
}

/// One circuit's checks, with its challenges already read.
struct PartCheck<F: ProofField> {
  let setup: PartSetup<F>
  let publicInputs: [F]
  let ligero: LigeroCheck<F>

  init(_ transcript: inout Transcript, setup: PartSetup<F>, publicInputs: [F], proof: CircuitProof<F>) {
    self.setup = setup
    self.publicInputs = publicInputs
    ligero = LigeroCheck(
      shape: setup.shape, proof: proof,
      challenges: CircuitChallenges(
        &transcript, circuit: setup.circuit, publicInputs: publicInputs, proof: proof, shape: setup.shape))
  }

  func check() throws(LongfellowError) {
    let columns = ligero.challenges.columns.map { $0 + setup.shape.doubleBlock }
    let block = LagrangeMatrix(weights: setup.block, columns: columns)
    try ligero.checkLowDegree(block)
    let doubleBlock = LagrangeMatrix(weights: setup.doubleBlock, columns: columns)
    try ligero.checkQuadratic(doubleBlock)
    let constraints = LinearConstraints(
      setup.circuit, challenges: ligero.challenges, publicInputs: publicInputs, proof: ligero.proof)
    try ligero.checkDot(constraints, block: block, doubleBlock: doubleBlock)
  }
}
