import Base

/// What a ledger comes to, judged by the rules that no fault excuses.
struct Account {
  /// The rules; the number of sessions, replies or events that break each.
  enum Rule: String, CaseIterable {
    /// One answer was accepted by two submits.
    case acceptedTwice = "accepted twice"
    /// It was acknowledged as verified, and is not.
    case lost = "verified and lost"
    /// Its creation was acknowledged, and there is no such session.
    case vanished = "created and lost"
    /// All submits were told that another had taken it.
    case takenByNobody = "taken by nobody"
    /// It is still open when every node has been well for longer than an attempt may take.
    case unsettled = "never settled"
    /// It is verified, and there is no event that says so, or more than one.
    case wrongEvents = "wrong events"
    /// A reply was neither of the flow nor a 503.
    case wrongReply = "wrong replies"
  }

  private(set) var sessions = 0
  /// Verified for one submit, and `session.already_used` for the other.
  private(set) var verifiedOnce = 0
  private(set) var acknowledged = 0
  private(set) var replies: [String: Int] = [:]
  /// What became of the sessions whose verification nobody acknowledged.
  private(set) var inDoubt: [String: Int] = [:]
  private(set) var broken: [Rule: Int] = [:]
  /// A session that breaks each rule, to look for in the nodes' logs.
  private(set) var examples: [Rule: String] = [:]

  /// - Parameter mayFail: whether the faults are wrong clocks, by which an answer may be too early or too late.
  init(_ entries: [LedgerEntry], mayFail: Bool = false) {
    for entry in entries { add(entry, mayFail: mayFail) }
  }

  var isKept: Bool { broken.isEmpty }

  private mutating func add(_ entry: LedgerEntry, mayFail: Bool) {
    sessions += 1
    for reply in entry.replies {
      replies[reply.name, default: 0] += 1
      switch reply {
      case .failed, .wrong(Self.expired): if !(mayFail && entry.isDisturbed) { note(.wrongReply, entry) }
      case .wrong: note(.wrongReply, entry)
      case .verified, .alreadyUsed, .unavailable, .unanswered, .interrupted: break
      }
    }
    if entry.replies.count == 2, Set(entry.replies) == [.verified, .alreadyUsed] { verifiedOnce += 1 }
    if entry.acceptances > 0 { acknowledged += 1 }
    if entry.isInDoubt { inDoubt[entry.end.name, default: 0] += 1 }
    if entry.acceptances > 1 { note(.acceptedTwice, entry) }
    if entry.acceptances > 0, entry.end != .verified { note(.lost, entry) }
    if !entry.replies.isEmpty, entry.replies.allSatisfy({ $0 == .alreadyUsed }) { note(.takenByNobody, entry) }
    switch entry.end {
    case .unknown: note(.vanished, entry)
    case .requiresInput, .processing, .unread: note(.unsettled, entry)
    case .verified, .ended: break
    }
    if entry.verifiedEvents != (entry.end == .verified ? 1 : 0) { note(.wrongEvents, entry) }
  }

  private static let expired = "HTTP \(Code.sessionExpired.httpStatus) \(Code.sessionExpired.rawValue)"

  private mutating func note(_ rule: Rule, _ entry: LedgerEntry) {
    broken[rule, default: 0] += 1
    examples[rule] = entry.session
  }
}

extension LedgerEntry.End {
  init(status: String?, code: String?) {
    switch status {
    case "requires_input": self = .requiresInput
    case "processing": self = .processing
    case "verified": self = .verified
    default: self = .ended([status, code].compactMap { $0 }.joined(separator: ": "))
    }
  }

  var name: String {
    switch self {
    case .requiresInput: "requires_input"
    case .processing: "processing"
    case .verified: "verified"
    case .ended(let how): how
    case .unknown: "unknown"
    case .unread: "not read"
    }
  }
}
