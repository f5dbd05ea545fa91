/// What a report says of a case, whichever suite it is from.
package struct CaseSummary: Sendable, Hashable {
  /// How a case is to end.
  package enum Expectation: Sendable, Hashable {
    case accepted
    /// With these codes, where the suite says which.
    case refused([String])
    /// Either way will do, as long as what comes is right.
    case either

    package var isAccepted: Bool { self == .accepted }

    package var codes: [String] { if case .refused(let codes) = self { codes } else { [] } }

    /// For the reports' readers.
    package var text: String {
      switch self {
      case .accepted: "accepted"
      case .either: "accepted or refused"
      case .refused(let codes): codes.isEmpty ? "refused" : "refused with \(codes.joined(separator: ", "))"
      }
    }
  }

  package var id: String
  package var description: String
  /// The clause that decides it.
  package var reference: String
  /// Rows of the list of negative cases.
  package var cases: [String] = []
  package var flags: [VectorFlag]
  package var importance: TestVector.Importance = .must
  package var expectation: Expectation
}

extension CaseSummary {
  init(_ vector: TestVector) {
    let expectation = vector.expectation
    self.init(
      id: vector.id, description: vector.description, reference: vector.reference, cases: vector.cases,
      flags: vector.flags, importance: vector.importance,
      expectation: expectation.isAccepted ? .accepted : .refused(expectation.codes))
  }
}
