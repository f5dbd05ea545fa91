import App
import Base
import Glibc

/// Faults that are made under load, at moments that nobody chooses: a command of the shell, run again and again. A fault
/// ends when its command does, and the next one waits until every node has recovered.
package struct FaultScenario: Sendable {
  let command: String
  let count: Int

  package init(command: String, count: Int) {
    self.command = command
    self.count = count
  }

  /// Seconds of calm before each fault.
  private static let calm = 0.5...2.5
  /// Seconds in which what was begun by a wrong clock ends.
  private static let aftermath = 1.0
  /// Seconds after which the nodes count as not recovered.
  private static let longestRecovery = 60.0

  struct Recovery: Sendable {
    let exitStatus: Int32
    let recovered: LoadWatch.Recovery
  }

  /// Ends the load when all are made. A command that fails, or nodes that do not recover, are the last.
  func run(_ watch: LoadWatch) async -> [Recovery] {
    var recoveries: [Recovery] = []
    for number in 0..<count {
      try? await Task.sleep(for: .seconds(Double.random(in: Self.calm)))
      watch.turn()
      let status = await Self.execute(command, number)
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
    // Some calm at the end as well: it shows whether all is as before.
    try? await Task.sleep(for: .seconds(Self.calm.upperBound))
    watch.end()
    return recoveries
  }

  /// The command gets the fault's number as `$1`. Its exit status; 127 where there is no shell to run it.
  static func execute(_ command: String, _ number: Int) async -> Int32 {
    let result = Locked<Int32>(127)
    await BackgroundThread.run {
      let words: [String] = ["/bin/sh", "-c", command, "fault", "\(number)"]
      var arguments = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      var process: pid_t = 0
      guard posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ) == 0 else { return }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      result.withLock { $0 = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f) }
    }
    return result.withLock { $0 }
  }
}

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
