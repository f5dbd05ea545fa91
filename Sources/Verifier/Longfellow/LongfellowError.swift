/// Why a circuit, a statement or a proof is refused.
package enum LongfellowError: Error, Equatable {
  /// The circuit file isn't one whole frame of its format within the bounds.
  case circuitMalformed
  /// The circuit's identifier isn't the one wanted, or isn't known.
  case circuitUnknown
  /// The statement cannot be proven with this circuit: count or sizes.
  case statement
  /// The proof ends too early, has bytes left, or has numbers outside their bounds.
  case proofMalformed
  /// The proof is well-formed and wrong.
  case proofInvalid(Check)

  /// The check that failed.
  package enum Check: Sendable, Equatable {
    case merkle, lowDegree, dot, dotSum, quadratic
  }
}
