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
