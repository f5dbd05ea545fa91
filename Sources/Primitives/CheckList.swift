/// The checks of one document or one answer, noted in the order in which they are made.
///
/// A code stands in the list once; the worst outcome noted for it counts, with the details of all.
public struct CheckList: Sendable {
  public private(set) var checks: [Check] = []

  public init() { checks.reserveCapacity(64) }

  public mutating func passed(_ code: Code) { note(Check(code, .passed)) }

  public mutating func failed(_ code: Code, _ detail: String? = nil) { note(Check(code, .failed, detail: detail)) }

  public mutating func warned(_ code: Code, _ detail: String? = nil) { note(Check(code, .warning, detail: detail)) }

  public mutating func notRun(_ codes: Code...) {
    for code in codes { note(Check(code, .notRun)) }
  }

  /// Notes a check that found nothing to look at, which is worth saying.
  public mutating func notRun(_ code: Code, _ detail: String?) { note(Check(code, .notRun, detail: detail)) }

  /// Notes that the check passed or failed.
  public mutating func require(_ condition: Bool, _ code: Code, _ detail: @autoclosure () -> String? = nil) {
    if condition { passed(code) } else { failed(code, detail()) }
  }

  /// Notes that a profile rule is kept or not.
  public mutating func expect(_ condition: Bool, _ code: Code, _ detail: @autoclosure () -> String? = nil) {
    if condition { passed(code) } else { warned(code, detail()) }
  }

  public mutating func append(_ others: [Check]) {
    for check in others { note(check) }
  }

  public var hasFailed: Bool { checks.contains { $0.outcome == .failed } }

  public func outcome(of code: Code) -> Check.Outcome? { checks.first { $0.code == code }?.outcome }

  private mutating func note(_ check: Check) {
    guard let index = checks.firstIndex(where: { $0.code == check.code }) else {
      checks.append(check)
      return
    }
    let earlier = checks[index]
    let details = [earlier.detail, check.detail].compactMap { $0 }
    checks[index] = Check(
      check.code, earlier.outcome.worse(than: check.outcome) ? earlier.outcome : check.outcome,
      detail: details.isEmpty ? nil : details.joined(separator: "; "))
  }
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
