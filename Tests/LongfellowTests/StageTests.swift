import TestSupport
import Testing

@testable import Longfellow

/// Two published proofs, compared stage by stage with an independent implementation.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct StageTests {
  private struct Published: Decodable {
    struct Layer: Decodable { let alpha, beta, lastHand1Challenge, boundQuad, rhs: HexBytes }
    struct Part: Decodable {
      let g0, gamma, inputRhs, uLdtFirst, alphaLFirst, alphaQFirst, uQuad, dotSum: HexBytes
      let layers: [Layer]
      let columns: [Int]
    }
    let macKey, deviceAuthHashElement: HexBytes
    let hash, sig: Part
  }

  @Test(arguments: [6, 7])
  func `a proof's stages are those that were published`(version: Int) throws {
    let published: Published = try PublishedVectors.json("longfellow/derived/verify-v\(version)_1attr_issue_date.json")
    let (statement, proof) = try PublishedProof.mustermann(version)
    let checks = try PublishedCircuits.of(version).checks(proof: proof, statement: statement)
    #expect(checks.hash.publicInputs.last?.bytes == published.macKey.bytes)
    #expect(checks.signature.publicInputs[3].bytes == published.deviceAuthHashElement.bytes)
    try compare(checks.hash, published.hash)
    try compare(checks.signature, published.sig)
  }

  private func compare<F: ProofField>(_ check: PartCheck<F>, _ published: Published.Part) throws {
    let challenges = check.ligero.challenges
    #expect(challenges.outputPoint[0].bytes == published.g0.bytes)
    #expect(challenges.gamma.bytes == published.gamma.bytes)
    #expect(challenges.lowDegree[0].bytes == published.uLdtFirst.bytes)
    #expect(challenges.linear[0].bytes == published.alphaLFirst.bytes)
    #expect(challenges.quadratic[0].bytes == published.alphaQFirst.bytes)
    #expect(challenges.quadraticRows.map(\.bytes) == [published.uQuad.bytes])
    #expect(challenges.columns == published.columns)
    let boundSums = check.setup.circuit.boundSums(challenges, threads: 3)
    let constraints = LinearConstraints(
      check.setup.circuit, boundSums: boundSums, challenges: challenges, publicInputs: check.publicInputs,
      proof: check.ligero.proof)
    #expect(boundSums.count == published.layers.count)
    #expect(constraints.rightSides.count == published.layers.count + 1)
    for (number, layer) in published.layers.enumerated() {
      #expect(challenges.layers[number].alpha.bytes == layer.alpha.bytes)
      #expect(challenges.layers[number].beta.bytes == layer.beta.bytes)
      #expect(challenges.layers[number].right.last?.bytes == layer.lastHand1Challenge.bytes)
      #expect(boundSums[number].bytes == layer.boundQuad.bytes, "layer \(number)")
      #expect(constraints.rightSides[number].bytes == layer.rhs.bytes, "layer \(number)")
    }
    #expect(constraints.rightSides.last?.bytes == published.inputRhs.bytes)
    #expect(constraints.sum.bytes == published.dotSum.bytes)
  }
}
