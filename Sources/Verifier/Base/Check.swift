/// One check. Its outcome says whether it was made.
public struct Check: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case passed, failed
    /// The check's premise failed or it was switched off; this is never the same as passed.
    case notRun = "not_run"
    /// A deviation from the profile that does not reject outside strict mode.
    case warning
  }

  public let code: Code
  public let outcome: Outcome
  /// Nil for most checks, of which a document has a hundred: they are copied without counting references.
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

  /// - Parameter clause: of the protocol at hand, where several protocols share the code.
  public init(_ code: Code, _ outcome: Outcome, detail: String? = nil, clause: String? = nil) {
    self.code = code
    self.outcome = outcome
    let own = clause.flatMap { $0 == code.entry.clause ? nil : $0 }
    words = detail == nil && own == nil ? nil : Words(detail: detail, clause: own)
  }

  /// Names of elements, certificates or limits; never an element's value.
  public var detail: String? { words?.detail }
  /// The clause of the protocol at hand, where several protocols share the code; nil for the registry's.
  package var ownClause: String? { words?.clause }
  public var clause: String { ownClause ?? code.entry.clause }
}

/// Why an answer was refused: a failed check and the document that it concerns.
public struct Reason: Sendable, Hashable {
  public let code: Code
  /// The document's index in the response; nil if the fault is in the answer as a whole.
  public let document: Int?
  public let clause: String
  /// The failed check's; never an element's value.
  public let detail: String?

  /// - Parameter clause: that of the check; nil for the registry's.
  public init(_ code: Code, document: Int? = nil, clause: String? = nil, detail: String? = nil) {
    self.code = code
    self.document = document
    self.clause = clause ?? code.entry.clause
    self.detail = detail
  }

  /// - Parameter check: one that failed.
  public init(_ check: Check, document: Int? = nil) {
    self.init(check.code, document: document, clause: check.ownClause, detail: check.detail)
  }
}

/// The checks of one document or one answer, noted in the order in which they are made.
///
/// Each code is in the list once. The worst outcome noted for it counts, with the details of all.
public struct CheckList: Sendable {
  public private(set) var checks: [Check] = []
  /// The codes in the list. Most codes are noted once, and a code that is not in this set need not be searched for.
  private var noted = CodeSet()
  private let clauses: [Code: String]

  /// - Parameters:
  ///   - expected: about how many checks there will be; the default suits one document.
  ///   - clauses: the protocol's own clauses of codes that it shares with others.
  public init(expecting expected: Int = 80, clauses: [Code: String] = [:]) {
    self.clauses = clauses
    checks.reserveCapacity(expected)
  }

  public mutating func passed(_ code: Code) { note(Check(code, .passed)) }

  public mutating func failed(_ code: Code, _ detail: String? = nil) { note(Check(code, .failed, detail: detail)) }

  public mutating func warned(_ code: Code, _ detail: String? = nil) { note(Check(code, .warning, detail: detail)) }

  public mutating func notRun(_ codes: Code...) {
    for code in codes { note(Check(code, .notRun)) }
  }

  /// Notes a check that had nothing to look at, with the reason.
  public mutating func notRun(_ code: Code, _ detail: String?) { note(Check(code, .notRun, detail: detail)) }

  /// Notes that the check passed or failed.
  public mutating func require(_ condition: Bool, _ code: Code, _ detail: @autoclosure () -> String? = nil) {
    if condition { passed(code) } else { failed(code, detail()) }
  }

  /// Notes whether a profile rule is kept.
  public mutating func expect(_ condition: Bool, _ code: Code, _ detail: @autoclosure () -> String? = nil) {
    if condition { passed(code) } else { warned(code, detail()) }
  }

  public mutating func append(_ others: [Check]) {
    for check in others { note(check) }
  }

  public var hasFailed: Bool { checks.contains { $0.outcome == .failed } }

  public func outcome(of code: Code) -> Check.Outcome? {
    noted.contains(code) ? checks.first { $0.code == code }?.outcome : nil
  }

  /// Notes each of these checks as not run, unless it was made.
  public mutating func skipRest(of codes: [Code]) {
    for code in codes where !noted.contains(code) { notRun(code) }
  }

  private mutating func note(_ check: Check) {
    guard noted.contains(check.code), let index = checks.firstIndex(where: { $0.code == check.code }) else {
      noted.insert(check.code)
      let clause = clauses.isEmpty ? nil : clauses[check.code]
      checks.append(clause.map { Check(check.code, check.outcome, detail: check.detail, clause: $0) } ?? check)
      return
    }
    let earlier = checks[index]
    let details = [earlier.detail, check.detail].compactMap { $0 }
    checks[index] = Check(
      check.code, earlier.outcome.worse(than: check.outcome) ? earlier.outcome : check.outcome,
      detail: details.isEmpty ? nil : details.joined(separator: "; "), clause: earlier.ownClause)
  }
}

/// A set of codes: one bit for each, by its place. `CodeTests` holds the registry within its capacity.
struct CodeSet {
  static let capacity = 512

  private var bits = InlineArray<8, UInt64>(repeating: 0)

  func contains(_ code: Code) -> Bool { bits[code.place >> 6] & Self.bit(of: code) != 0 }

  mutating func insert(_ code: Code) { bits[code.place >> 6] |= Self.bit(of: code) }

  private static func bit(of code: Code) -> UInt64 { 1 << UInt64(code.place & 63) }
}

extension Check.Outcome {
  fileprivate func worse(than other: Check.Outcome) -> Bool { rank > other.rank }

  private var rank: Int {
    switch self {
    case .passed: 0
    case .notRun: 1
    case .warning: 2
    case .failed: 3
    }
  }
}
