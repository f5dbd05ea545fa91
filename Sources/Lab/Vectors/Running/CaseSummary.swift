/// What a report says of a case, whichever suite it is from.
public struct CaseSummary: Sendable, Hashable {
  /// How a case is to end.
  public enum Expectation: Sendable, Hashable {
    case accepted
    /// With these codes, where the suite says which.
    case refused([String])
    /// Either way will do, as long as what comes is right.
    case either

    public var isAccepted: Bool { self == .accepted }

    public var codes: [String] { if case .refused(let codes) = self { codes } else { [] } }

    /// For the reports' readers.
    public var text: String {
      switch self {
      case .accepted: "accepted"
      case .either: "accepted or refused"
      case .refused(let codes): codes.isEmpty ? "refused" : "refused with \(codes.joined(separator: ", "))"
      }
    }
  }

  public var id: String
  public var description: String
  /// The clause that decides it.
  public var reference: String
  /// Rows of the list of negative cases.
  public var cases: [String] = []
  public var flags: [VectorFlag]
  public var importance: TestVector.Importance = .must
  public var expectation: Expectation
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
