/// One check with its outcome.
public struct Check: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case passed, failed
    /// The check's premise failed, or the check is off. This is never the same as passed.
    case notRun = "not_run"
    /// A deviation from the profile that only strict mode rejects.
    case warning
  }

  public let code: Code
  public let outcome: Outcome
  /// The detail and the protocol's own clause. Nil for most of a document's hundred checks, since copying nil updates
  /// no reference count.
  private let words: Words?

  private final class Words: Sendable, Hashable {
    let detail: String?
    let clause: String?

    init(detail: String?, clause: String?) {
      self.detail = detail
      self.clause = clause
    }

    static func == (left: Words, right: Words) -> Bool { left.detail == right.detail && left.clause == right.clause }

    func hash(into hasher: inout Hasher) {
      hasher.combine(detail)
      hasher.combine(clause)
    }
  }

  /// - Parameter clause: the protocol's own clause, if several protocols share the code.
  public init(_ code: Code, _ outcome: Outcome, detail: String? = nil, clause: String? = nil) {
    self.code = code
    self.outcome = outcome
    let own = clause.flatMap { $0 == code.entry.clause ? nil : $0 }
    words = detail == nil && own == nil ? nil : Words(detail: detail, clause: own)
  }

  /// Names of elements, certificates or limits; never an element's value.
  public var detail: String? { words?.detail }
  /// The protocol's own clause; nil for the registry's.
  package var ownClause: String? { words?.clause }
  public var clause: String { ownClause ?? code.entry.clause }
}

/// The reason for a rejection: a failed check and its document.
public struct Reason: Sendable, Hashable {
  public let code: Code
  /// The document's index in the response; nil for a fault of the whole response.
  public let document: Int?
  public let clause: String
  /// The failed check's detail; never an element's value.
  public let detail: String?

  /// - Parameter clause: the check's clause; nil for the registry's.
  public init(_ code: Code, document: Int? = nil, clause: String? = nil, detail: String? = nil) {
    self.code = code
    self.document = document
    self.clause = clause ?? code.entry.clause
    self.detail = detail
  }

  /// - Parameter check: a failed check.
  public init(_ check: Check, document: Int? = nil) {
    self.init(check.code, document: document, clause: check.ownClause, detail: check.detail)
  }
}

/// The checks of one document or one response, in execution order.
///
/// Each code is listed once, with its worst outcome and all its details.
public struct CheckList: Sendable {
  public private(set) var checks: [Check] = []
  /// The listed codes. They avoid a search of the list for an absent code.
  private var noted = CodeSet()
  private let clauses: [Code: String]

  /// - Parameters:
  ///   - expected: the approximate number of checks; the default suits one document.
  ///   - clauses: the protocol's own clauses, for codes that it shares with other protocols.
  public init(expecting expected: Int = 128, clauses: [Code: String] = [:]) {
    self.clauses = clauses
    checks.reserveCapacity(expected)
  }

  public mutating func passed(_ code: Code) { note(Check(code, .passed)) }

  public mutating func failed(_ code: Code, _ detail: String? = nil) { note(Check(code, .failed, detail: detail)) }

  public mutating func warned(_ code: Code, _ detail: String? = nil) { note(Check(code, .warning, detail: detail)) }

  public mutating func notRun(_ codes: Code...) {
    for code in codes { note(Check(code, .notRun)) }
  }

  /// Records that there was nothing to check, with the reason.
  public mutating func notRun(_ code: Code, _ detail: String?) { note(Check(code, .notRun, detail: detail)) }

  /// Records the check as passed or failed.
  public mutating func require(_ condition: Bool, _ code: Code, _ detail: @autoclosure () -> String? = nil) {
    if condition { passed(code) } else { failed(code, detail()) }
  }

  /// Records a profile rule as passed, or as a warning.
  public mutating func expect(_ condition: Bool, _ code: Code, _ detail: @autoclosure () -> String? = nil) {
    if condition { passed(code) } else { warned(code, detail()) }
  }

  public mutating func append(_ others: [Check]) {
    for check in others { note(check) }
  }

  public var hasFailed: Bool { checks.contains { $0.outcome == .failed } }

  public func outcome(of code: Code) -> Check.Outcome? {
    isNoted(code) ? checks.first { $0.code == code }?.outcome : nil
  }

  /// Records these checks as not run, except those already listed.
  public mutating func skipRest(of codes: [Code]) {
    for code in codes where !isNoted(code) { notRun(code) }
  }

  private func isNoted(_ code: Code) -> Bool { noted.contains(code) ?? checks.contains { $0.code == code } }

  private mutating func note(_ check: Check) {
    guard !noted.insert(check.code), let index = checks.firstIndex(where: { $0.code == check.code }) else {
      let clause = clauses.isEmpty ? nil : clauses[check.code]
      checks.append(clause.map { Check(check.code, check.outcome, detail: check.detail, clause: $0) } ?? check)
      return
    }
    let earlier = checks[index]
    let details = [earlier.detail, check.detail].compactMap { $0 }
    checks[index] = Check(
      check.code, earlier.outcome.rank > check.outcome.rank ? earlier.outcome : check.outcome,
      detail: details.isEmpty ? nil : details.joined(separator: "; "), clause: earlier.ownClause)
  }
}

/// A set of codes: one bit for each, by its index.
private struct CodeSet {
  private var bits = InlineArray<8, UInt64>(repeating: 0)

  /// Whether the set has the code; nil for a code beyond the set's capacity.
  func contains(_ code: Code) -> Bool? {
    let index = code.index
    return index < 512 ? bits[index >> 6] & 1 << UInt64(index & 63) != 0 : nil
  }

  /// Adds a code. Returns false if the set may already contain it.
  mutating func insert(_ code: Code) -> Bool {
    let index = code.index
    guard index < 512 else { return false }
    let bit: UInt64 = 1 << UInt64(index & 63)
    defer { bits[index >> 6] |= bit }
    return bits[index >> 6] & bit == 0
  }
}

extension Check.Outcome {
  fileprivate var rank: Int {
    switch self {
    case .passed: 0
    case .notRun: 1
    case .warning: 2
    case .failed: 3
    }
  }
}
