/// Verifies mdoc proofs of longfellow-libzk-v1 against one pair of circuits.
package struct LongfellowVerifier: Sendable {
  private let pair: CircuitPair

  package init(_ pair: CircuitPair) { self.pair = pair }

  /// Returns if the proof proves the statement. The proof is read whole before any heavy work, and cheap checks come
  /// before dear ones.
  package func verify(proof bytes: [UInt8], statement: LongfellowStatement) throws(LongfellowError) {
    let known = pair.known
    guard statement.elements.count == known.elements else { throw .statement }
    let hashShape = LigeroShape(
      pair.hash, rate: known.rate, opened: known.openedColumns, encoded: known.hashBlock)
    let signatureShape = LigeroShape(
      pair.signature, rate: known.rate, opened: known.openedColumns, encoded: known.signatureBlock)
    let proof = try LongfellowProof(bytes, pair: pair, hashShape: hashShape, signatureShape: signatureShape)

    var transcript = Transcript(session: statement.transcript)
    transcript.write(bytes: proof.hash.root)
    transcript.write(bytes: proof.signature.root)
    let macs = proof.tags + [transcript.element(FieldGF128.self)]
    let hashInputs = try statement.hashInputs(version: known.version) + macs
    let signatureInputs = try statement.signatureInputs() + bits(of: macs.flatMap(\.bytes))
    guard hashInputs.count == pair.hash.publicInputs, signatureInputs.count == pair.signature.publicInputs else {
      throw .statement
    }
    let hash = PartCheck(
      &transcript, circuit: pair.hash, publicInputs: hashInputs, proof: proof.hash, shape: hashShape)
    let signature = PartCheck(
      &transcript, circuit: pair.signature, publicInputs: signatureInputs, proof: proof.signature,
      shape: signatureShape)
    try hash.ligero.checkMerkle()
    try signature.ligero.checkMerkle()
    try hash.check()
    try signature.check()
  }
}

/// One circuit's checks, with its challenges already read.
struct PartCheck<F: ProofField> {
  let circuit: Circuit<F>
  let publicInputs: [F]
  let ligero: LigeroCheck<F>

  init(
    _ transcript: inout Transcript, circuit: Circuit<F>, publicInputs: [F], proof: CircuitProof<F>, shape: LigeroShape
  ) {
    self.circuit = circuit
    self.publicInputs = publicInputs
    ligero = LigeroCheck(
      shape: shape, proof: proof,
      challenges: CircuitChallenges(
        &transcript, circuit: circuit, publicInputs: publicInputs, proof: proof, shape: shape))
  }

  func check() throws(LongfellowError) {
    let columns = ligero.challenges.columns.map { $0 + ligero.shape.doubleBlock }
    let block = LagrangeMatrix<F>(count: ligero.shape.block, columns: columns)
    try ligero.checkLowDegree(block)
    let doubleBlock = LagrangeMatrix<F>(count: ligero.shape.doubleBlock, columns: columns)
    try ligero.checkQuadratic(doubleBlock)
    let constraints = LinearConstraints(
      circuit, challenges: ligero.challenges, publicInputs: publicInputs, proof: ligero.proof)
    try ligero.checkDot(constraints, block: block, doubleBlock: doubleBlock)
  }
}
