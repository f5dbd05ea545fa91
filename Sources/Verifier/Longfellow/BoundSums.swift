import Base

extension Circuit {
  /// Each layer's sum of its terms at the challenges (draft-google-cfrg-libzk, Sumcheck): nearly all of the work, and
  /// no layer's needs another's.
  func boundSums(_ challenges: CircuitChallenges<F>, threads: Int) -> [F] {
    // The largest first, so that none is begun when the others are done.
    let order = layers.indices.sorted { layers[$0].entries.count > layers[$1].entries.count }
    let one = constants.firstIndex(of: .one) ?? CircuitLayer.noConstant
    let sums = SharedWork.run(pieces: order.count, threads: threads, room: { [] as [F] }) { piece, outputs in
      let number = order[piece]
      let (layer, own) = (layers[number], challenges.layers[number])
      fill(&outputs, outputsOf: number, challenges)
      return F.bind(
        layer, constants: constants.map { $0 == .zero ? own.beta : $0 }, one: one, outputs: outputs,
        left: EqFactors(own.left, count: layer.wires), right: EqFactors(own.right, count: layer.wires))
    }
    var inOrder = sums
    for (number, sum) in zip(order, sums) { inOrder[number] = sum }
    return inOrder
  }

  /// Writes eq(first point, i) + factor · eq(second point, i) over a layer's outputs, which are the wires of the layer
  /// before; over the inputs for the number after the last.
  func fill(_ sums: inout [F], outputsOf number: Int, _ challenges: CircuitChallenges<F>) {
    let count = number == 0 ? outputs : layers[number - 1].wires
    let (first, second) =
      number == 0
      ? (challenges.outputPoint, challenges.outputPoint)
      : (challenges.layers[number - 1].left, challenges.layers[number - 1].right)
    let factor = number < layers.count ? challenges.layers[number].alpha : challenges.gamma
    if sums.count < count { sums = [F](repeating: .zero, count: count) }
    sums.withUnsafeMutableBufferPointer {
      F.fill(
        .init(rebasing: $0[..<count]), EqFactors(first, count: count), EqFactors(second, count: count, scale: factor))
    }
  }
}
