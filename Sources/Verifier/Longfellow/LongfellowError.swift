/// Why a circuit, a statement or a proof is refused.
package enum LongfellowError: Error, Equatable {
  /// The circuit file isn't one whole frame of its format within the bounds.
  case circuitMalformed
  /// The circuit's identifier isn't the one wanted, or isn't known.
  case circuitUnknown
  /// The statement cannot be proven with this circuit.
  case statement(StatementFault)
  /// The proof ends too early, has bytes left, or has numbers outside their bounds.
  case proofMalformed
  /// The proof is well-formed and wrong.
  case proofInvalid(Check)

  /// The check that failed. All depend on all of the proof and the statement by their challenges, so that the first,
  /// the Merkle tree's, notices nearly every change.
  package enum Check: Sendable, Equatable {
    case merkle, lowDegree, dot, dotSum, quadratic
  }
}

/// What of a statement no proof can show.
package enum StatementFault: Sendable, Equatable {
  /// Not as many elements as the circuit is for.
  case elementCount
  /// An identifier that is empty or too long for the circuit.
  case identifier
  /// Two elements with one identifier.
  case repeatedIdentifier
  /// A value that isn't one whole item of text, bytes, integer, boolean or date.
  case valueKind
  /// A value, or its identifier and the value together, too long for the circuit.
  case valueLength
  /// A document type that is empty or longer than 255 bytes.
  case documentType
  /// Not `YYYY-MM-DDThh:mm:ssZ`.
  case timestamp
  /// Coordinates that aren't those of a point on P-256.
  case issuerKey
}
