import App
import Base
import Glibc
import TestSupport
import Vectors

/// Faults under load, at random moments. Each is one run of a shell command and ends with it. The next one waits until
/// every node has recovered.
struct FaultScenario: Sendable {
  let command: String
  let count: Int

  /// Seconds of calm before each fault.
  private static let calm = 0.5...2.5
  /// Seconds after the recovery in which sessions that began under a wrong clock end. They still count as disturbed.
  private static let aftermath = 1.0
  /// Seconds after which nodes count as not recovered.
  private static let longestRecovery = 60.0

  struct Recovery: Sendable {
    let exitStatus: Int32
    let recovered: LoadWatch.Recovery
  }

  /// Makes the faults, and then ends the load. Stops early if a command fails or the nodes do not recover.
  func run(_ watch: LoadWatch) async -> [Recovery] {
    var recoveries: [Recovery] = []
    for number in 0..<count {
      try? await Task.sleep(for: .seconds(Double.random(in: Self.calm)))
      watch.turn()
      let status = await Shell.run(command, "\(number)")
      watch.mark()
      let end = watch.now + Self.longestRecovery
      while !watch.recovery.isComplete, watch.now < end, status == 0 {
        try? await Task.sleep(for: .milliseconds(10))
      }
      let recovery = Recovery(exitStatus: status, recovered: watch.recovery)
      recoveries.append(recovery)
      if !recovery.recovered.isComplete { break }
      try? await Task.sleep(for: .seconds(Self.aftermath))
      watch.turn()
    }
    // A last calm shows whether the system works as before.
    try? await Task.sleep(for: .seconds(Self.calm.upperBound))
    watch.end()
    return recoveries
  }
}

/// The state that all workers of a load share: whether the load goes on, and how the nodes recover from a fault.
final class LoadWatch: Sendable {
  /// How long the recovery from one fault took, in seconds.
  struct Recovery {
    /// From the fault's end to the first verified response; nil before that.
    var verified: Double?
    /// From the fault's end until every node has given a reply other than 503; nil before that.
    var allNodes: Double?

    var isComplete: Bool { verified != nil && allNodes != nil }
  }

  private struct State {
    var created = 0
    var isEnding = false
    /// When the last fault ended; nil before the first.
    var mark: Double?
    /// Odd while a fault or its aftermath lasts.
    var turns = 0
    var answering: Set<Int> = []
    var recovery = Recovery()
    /// When responses were acknowledged as verified, in seconds from the start.
    var verified: [Double] = []
  }

  private let nodes: Int
  /// How many sessions to create; nil with a scenario of faults, which ends the load itself.
  private let sessions: Int?
  private let start = CPUClock.wall()
  private let state = Locked(State())

  /// - Parameter sessions: how many to create; nil to go on until `end`.
  init(nodes: Int, sessions: Int?) {
    self.nodes = nodes
    self.sessions = sessions
  }

  /// Seconds from the start.
  var now: Double { (CPUClock.wall() - start) / 1e6 }

  /// Whether one more session is to be created. If so, it counts as created.
  func begin() -> Bool {
    state.withLock { state in
      guard !state.isEnding, sessions.map({ state.created < $0 }) ?? true else { return false }
      state.created += 1
      return true
    }
  }

  /// Takes back the count of a session whose creation failed.
  func giveBack() { state.withLock { $0.created -= 1 } }

  func end() { state.withLock { $0.isEnding = true } }

  /// When responses were acknowledged as verified: seconds from the start, sorted.
  var verified: [Double] { state.withLock { $0.verified }.sorted() }

  // MARK: Faults

  /// If this is even before an action and the same afterwards, no fault disturbed the action.
  var turns: Int { state.withLock { $0.turns } }

  /// Notes that a fault begins, or that its aftermath is over.
  func turn() { state.withLock { $0.turns += 1 } }

  /// Notes that a fault has ended now.
  func mark() {
    let now = now
    state.withLock { state in
      state.mark = now
      state.answering = []
      state.recovery = Recovery()
    }
  }

  var recovery: Recovery { state.withLock { $0.recovery } }

  /// Notes a node's reply. A reply to a request that was sent before the fault's end does not count for the recovery.
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
