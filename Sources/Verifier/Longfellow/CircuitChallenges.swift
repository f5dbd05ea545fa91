/// The challenges of one circuit's part of the transcript (draft-google-cfrg-libzk, Sumcheck and Ligero).
struct CircuitChallenges<F: ProofField>: Sendable {
  struct Layer: Sendable {
    let alpha, beta: F
    /// For each hand.
    var left: [F] = []
    var right: [F] = []
  }

  let outputPoint: [F]
  private(set) var layers: [Layer] = []
  let gamma: F
  let lowDegree, linear, quadratic, quadraticRows: [F]
  let columns: [Int]

  /// Replays the transcript over the proof; nothing is computed but hashes.
  init(
    _ transcript: inout Transcript, circuit: Circuit<F>, publicInputs: [F], proof: CircuitProof<F>, shape: LigeroShape
  ) {
    transcript.write(bytes: circuit.identifier)
    for input in publicInputs { transcript.write(element: input) }
    transcript.write(element: F.zero)
    transcript.write(zeros: circuit.terms)
    _ = transcript.elements(40, F.self)
    outputPoint = Array(transcript.elements(40, F.self).prefix(circuit.logOutputs))
    var start = 0
    for layer in circuit.layers {
      var challenges = Layer(alpha: transcript.element(), beta: transcript.element())
      for _ in 0..<layer.logWires {
        // The proof has both hands' values at 0, then both hands' at P2.
        transcript.write(element: proof.sumcheck[start])
        transcript.write(element: proof.sumcheck[start + 2])
        challenges.left.append(transcript.element())
        transcript.write(element: proof.sumcheck[start + 1])
        transcript.write(element: proof.sumcheck[start + 3])
        challenges.right.append(transcript.element())
        start += 4
      }
      transcript.write(array: proof.sumcheck[start..<(start + 2)])
      start += 2
      layers.append(challenges)
    }
    gamma = transcript.element()
    transcript.write(bytes: [0xde, 0xad, 0xbe, 0xef] + [UInt8](repeating: 0, count: 28))
    lowDegree = transcript.elements(shape.contentRows)
    linear = transcript.elements(circuit.layers.count + 1)
    quadratic = transcript.elements(3 * circuit.layers.count)
    quadraticRows = transcript.elements(shape.quadraticRows)
    transcript.write(array: proof.lowDegree[...])
    transcript.write(array: proof.dot[...])
    transcript.write(array: proof.quadraticStart[...])
    transcript.write(array: proof.quadraticEnd[...])
    columns = transcript.choose(shape.opened, of: shape.leaves)
  }
}
