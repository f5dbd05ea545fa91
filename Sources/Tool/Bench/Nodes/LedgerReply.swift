import Base

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

  init(_ reply: KeptConnection.Reply?) {
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
