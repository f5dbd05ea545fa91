import Base

/// What all workers of a load share: whether it goes on, and how the nodes come back from a fault.
final class LoadWatch: Sendable {
  /// Seconds, of one fault.
  struct Recovery {
    /// From the fault's end to the first verified answer.
    var verified: Double?
    /// To the first answer but 503, of the node that was the last to give one.
    var allNodes: Double?

    var isComplete: Bool { verified != nil && allNodes != nil }
  }

  private struct State {
    var created = 0
    var isEnding = false
    /// The fault's end, where one is watched.
    var mark: Double?
    /// Odd while a fault lasts or has left something behind.
    var turns = 0
    var answering: Set<Int> = []
    var recovery = Recovery()
    /// When answers were acknowledged as verified: seconds from the start.
    var verified: [Double] = []
  }

  private let nodes: Int
  /// Nil while a scenario of faults lasts.
  private let sessions: Int?
  private let start = CPUClock.wall()
  private let state = Locked(State())

  /// - Parameter sessions: how many are to be created; nil to go on until `end`.
  init(nodes: Int, sessions: Int?) {
    self.nodes = nodes
    self.sessions = sessions
  }

  /// Seconds from the start.
  var now: Double { (CPUClock.wall() - start) / 1e6 }

  /// Whether one more session is wanted; it then counts as begun.
  func begin() -> Bool {
    state.withLock { state in
      guard !state.isEnding, sessions.map({ state.created < $0 }) ?? true else { return false }
      state.created += 1
      return true
    }
  }

  /// For a session that was not created after all.
  func giveBack() { state.withLock { $0.created -= 1 } }

  func end() { state.withLock { $0.isEnding = true } }

  /// Sorted.
  var verified: [Double] { state.withLock { $0.verified }.sorted() }

  // MARK: Faults

  /// What is the same before and after something, and even, was disturbed by no fault.
  var turns: Int { state.withLock { $0.turns } }

  /// A fault begins, or is forgotten.
  func turn() { state.withLock { $0.turns += 1 } }

  /// A fault has ended now.
  func mark() {
    let now = now
    state.withLock { state in
      state.mark = now
      state.answering = []
      state.recovery = Recovery()
    }
  }

  var recovery: Recovery { state.withLock { $0.recovery } }

  /// A node replied; what was sent before the fault's end says nothing of what came after.
  func note(_ node: Int, sentAt sent: Double, answers: Bool, verified: Bool) {
    let now = now
    state.withLock { state in
      if verified { state.verified.append(now) }
      guard let mark = state.mark, sent > mark, answers else { return }
      if verified, state.recovery.verified == nil { state.recovery.verified = now - mark }
      guard state.answering.insert(node).inserted, state.answering.count == nodes else { return }
      state.recovery.allNodes = now - mark
    }
  }
}
