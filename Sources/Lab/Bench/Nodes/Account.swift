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

/// One session whose creation was acknowledged: what every submit of its answer was told, and what it is in the end.
struct LedgerEntry {
  /// What another node says of a session when the load is over.
  enum End: Hashable {
    case requiresInput
    case processing
    case verified
    /// `session.interrupted`, `session.expired`, or why the answer was not accepted.
    case ended(String)
    /// There is no such session.
    case unknown
    /// No node would say.
    case unread
  }

  let session: String
  /// The nodes that were asked, by number: another one is asked what the session is in the end.
  var nodes: [Int]
  var replies: [LedgerReply]
  /// Kept where it may still be handed in: nobody has said that it was taken.
  var answer: [UInt8]?
  var end = End.unread
  /// Whether there was a fault at any time from before its creation to the last reply.
  var isDisturbed = false
  /// Events that say that it was verified.
  var verifiedEvents = 0

  init(session: String, nodes: [Int] = [], replies: [LedgerReply] = [], answer: [UInt8]? = nil) {
    self.session = session
    self.nodes = nodes
    self.replies = replies
    self.answer = answer
  }

  var acceptances: Int { replies.count { $0 == .verified } }
  var isInDoubt: Bool { acceptances == 0 }
}

/// What a node said to an answer that was handed in.
enum LedgerReply: Hashable {
  case verified
  /// 409 `session.already_used`: another submit has the challenge.
  case alreadyUsed
  /// 503: what became of the request is not said.
  case unavailable
  /// No reply came: the node was gone, or the connection was.
  case unanswered
  /// Taken, and found too late to be given a result: the session is interrupted.
  case interrupted
  /// Taken, and not accepted for what the code says.
  case failed(code: String)
  /// None that a fault excuses.
  case wrong(String)

  init(_ reply: ClientConnection.Reply?) {
    guard let reply else {
      self = .unanswered
      return
    }
    let body = try? JSON(parsing: reply.body)
    switch (reply.status, body?["status"]?.string, body?["code"]?.string) {
    case (503, _, _): self = .unavailable
    case (409, _, Code.sessionAlreadyUsed.rawValue): self = .alreadyUsed
    case (200, "verified", _): self = .verified
    case (200, "failed", _):
      let code = body?["last_error"]?["code"]?.string ?? "without a code"
      self = code == Code.sessionInterrupted.rawValue ? .interrupted : .failed(code: code)
    case (200, let status, _): self = .wrong("HTTP 200 \(status ?? "without a status")")
    case (let status, _, let code): self = .wrong("HTTP \(status) \(code ?? "without a code")")
    }
  }

  /// Whether the session may be verified without our having been told.
  var leavesInDoubt: Bool { self == .unavailable || self == .unanswered }

  var name: String {
    switch self {
    case .verified: "verified"
    case .alreadyUsed: "session.already_used"
    case .unavailable: "HTTP 503"
    case .unanswered: "no reply"
    case .interrupted: "failed: session.interrupted"
    case .failed(let code): "failed: \(code)"
    case .wrong(let what): what
    }
  }
}
