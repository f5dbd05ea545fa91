import TestSupport
import Testing

@testable import Longfellow

/// Each of Ligero's tests by itself. The Merkle tree detects every changed byte first, so the other tests get a proof
/// that is changed after its challenges were drawn.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct LigeroTests {
  private func check<F: ProofField>(
    _ part: KeyPath<ProofChecks, PartCheck<F>>, fails check: LongfellowError.Check,
    _ change: (inout CircuitProof<F>, LigeroShape) -> Void
  ) throws {
    let (statement, proof) = try PublishedProof.mustermann(6)
    let good = try PublishedCircuits.of(6).checks(proof: proof, statement: statement)[keyPath: part]
    var changed = good.ligero.proof
    change(&changed, good.setup.shape)
    let ligero = LigeroCheck(shape: good.setup.shape, proof: changed, challenges: good.ligero.challenges)
    let bad = PartCheck(setup: good.setup, publicInputs: good.publicInputs, ligero: ligero)
    #expect(throws: LongfellowError.proofInvalid(check)) { try bad.check(threads: 1) }
  }

  private func checkAll<F: ProofField>(_ part: KeyPath<ProofChecks, PartCheck<F>>) throws {
    try check(part, fails: .lowDegree) { proof, _ in increase(&proof.lowDegree[0]) }
    try check(part, fails: .lowDegree) { proof, _ in increase(&proof.columns[0]) }
    try check(part, fails: .lowDegree) { proof, shape in increase(&proof.columns[(shape.rows - 1) * shape.opened]) }
    try check(part, fails: .quadratic) { proof, _ in increase(&proof.quadraticStart[0]) }
    try check(part, fails: .quadratic) { proof, _ in increase(&proof.quadraticEnd[0]) }
    try check(part, fails: .quadratic) { proof, shape in increase(&proof.columns[3 * shape.opened - 1]) }
    // The random part and the values beyond the block do not count for the sum.
    try check(part, fails: .dot) { proof, _ in increase(&proof.dot[0]) }
    try check(part, fails: .dot) { proof, shape in increase(&proof.dot[shape.doubleBlock - 1]) }
    try check(part, fails: .dot) { proof, shape in increase(&proof.columns[2 * shape.opened - 1]) }
    try check(part, fails: .dotSum) { proof, shape in increase(&proof.dot[shape.opened]) }
    try check(part, fails: .dotSum) { proof, shape in increase(&proof.dot[shape.block - 1]) }
    // The results of sumcheck are part of the linear constraints.
    try check(part, fails: .dotSum) { proof, _ in increase(&proof.sumcheck[0]) }
    try check(part, fails: .dotSum) { proof, _ in increase(&proof.sumcheck[proof.sumcheck.count - 1]) }
  }

  private func increase<F: ProofField>(_ value: inout F) { value = value + .one }

  @Test func `each check of the hash part notices what is its own`() throws { try checkAll(\.hash) }

  @Test func `each check of the signature part notices what is its own`() throws { try checkAll(\.signature) }
}

extension PartCheck {
  /// All but the Merkle tree.
  func check(threads: Int) throws(LongfellowError) { try checkConstraints(values: checkRows(), threads: threads) }
}
