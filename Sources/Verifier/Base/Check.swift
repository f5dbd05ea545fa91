/// One check that was made, or could not be.
public struct Check: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case passed, failed
    /// Its premise failed or it was switched off; never the same as passed.
    case notRun = "not_run"
    /// A deviation from the profile that does not reject outside strict mode.
    case warning
  }

  public let code: Code
  public let outcome: Outcome
  /// Names of elements, certificates or limits; never an element's value.
  public let detail: String?

  public init(_ code: Code, _ outcome: Outcome, detail: String? = nil) {
    self.code = code
    self.outcome = outcome
    self.detail = detail
  }

  public var clause: String { code.entry.clause }
}

/// Why an answer was refused: a failed check and the document that it concerns.
public struct Reason: Sendable, Hashable {
  public let code: Code
  /// The document's place in the response, or nil where the fault is the whole answer's.
  public let document: Int?

  public init(_ code: Code, document: Int? = nil) {
    self.code = code
    self.document = document
  }
}
