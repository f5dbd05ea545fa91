import Base
import TestMode

/// Counts what became of all sessions, and checks the rules that hold whatever the fault.
struct Account {
  /// The rules. `broken` counts the sessions or replies that break each.
  enum Rule: String, CaseIterable {
    /// One response was accepted by two submits.
    case acceptedTwice = "accepted twice"
    /// The session was acknowledged as verified, and is not verified in the end.
    case lost = "verified and lost"
    /// The session's creation was acknowledged, and the session does not exist.
    case vanished = "created and lost"
    /// All submits were told that another one had taken the session.
    case takenByNobody = "taken by nobody"
    /// The session is still open although every node has been well for longer than an attempt may take.
    case unsettled = "never settled"
    /// The session is verified without exactly one event that says so, or has such an event without being verified.
    case wrongEvents = "wrong events"
    /// A reply was neither one of the flow nor a 503.
    case wrongReply = "wrong replies"
  }

  private(set) var sessions = 0
  /// Sessions with two replies: verified for one submit, and `session.already_used` for the other.
  private(set) var verifiedOnce = 0
  private(set) var acknowledged = 0
  private(set) var replies: [String: Int] = [:]
  /// The ends of the sessions that no reply acknowledged as verified, counted by name.
  private(set) var inDoubt: [String: Int] = [:]
  private(set) var broken: [Rule: Int] = [:]
  /// The id of one session that breaks each rule, to look for in the nodes' logs.
  private(set) var examples: [Rule: String] = [:]

  /// - Parameter mayFail: whether the faults are wrong clocks, which may make a response too early or too late.
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

/// One session whose creation was acknowledged: the replies to every submit of its response, and its final state.
struct LedgerEntry {
  /// The session's state after the load, read from another node if there is one.
  enum End: Hashable {
    case requiresInput
    case processing
    case verified
    /// The session ended with `session.interrupted`, `session.expired` or the code of the response's rejection.
    case ended(String)
    /// The node replied that the session does not exist.
    case unknown
    /// No node replied.
    case unread
  }

  let session: String
  /// The numbers of the nodes that were called. The final state is read from another one.
  var nodes: [Int]
  var replies: [LedgerReply]
  /// The response while its outcome is unknown, so that it can be submitted again; otherwise nil.
  var answer: [UInt8]?
  var end = End.unread
  /// Whether there was a fault between the session's creation and the last reply.
  var isDisturbed = false
  /// How many events say that the session was verified.
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

/// A node's reply to a submitted response.
enum LedgerReply: Hashable {
  case verified
  /// 409 `session.already_used`: another submit has the challenge.
  case alreadyUsed
  /// 503: the reply does not tell what became of the request.
  case unavailable
  /// No reply came, because the node or the connection was gone.
  case unanswered
  /// The response was submitted, but its result came too late: the session is interrupted.
  case interrupted
  /// The response was submitted and rejected, for the reason in the code.
  case failed(code: String)
  /// Any other reply. No fault excuses it.
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

  /// Whether the session may be verified although this reply does not say so.
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
