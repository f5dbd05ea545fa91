import App
import Base
import Glibc

/// Faults that are made under load, at moments that nobody chooses: a command of the shell, run again and again. A fault
/// ends when its command does, and the next one waits until every node has recovered.
struct FaultScenario: Sendable {
  let command: String
  let count: Int

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
