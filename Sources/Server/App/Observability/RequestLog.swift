import Base

/// What the log says of requests: a line for each that was served, but for what is asked all the time; of those that were
/// refused a few lines a second for each code, since a line for each would be load itself, and how many were left out.
/// How many there were exactly is in the metrics.
final class RequestLog: Sendable {
  private struct State {
    /// Lines of this second.
    var lines: [Code: Int] = [:]
    var second: Timestamp?
    /// Refused without a line, and when that was last said.
    var leftOut: [Code: Int64] = [:]
    var said: Timestamp?

    mutating func takesLine(_ record: RequestRecord, _ code: Code, at now: Timestamp) -> Bool {
      if second != now { (second, lines) = (now, [:]) }
      guard !record.isUnread, lines[code, default: 0] < Limits.refusalLines else {
        leftOut[code, default: 0] += 1
        return false
      }
      lines[code, default: 0] += 1
      return true
    }

    /// What is to be said of those without a line: at once, and then once a second.
    mutating func due(at now: Timestamp) -> [Code: Int64] {
      guard !leftOut.isEmpty, said != now else { return [:] }
      said = now
      defer { leftOut = [:] }
      return leftOut
    }
  }

  private let state = Locked(State())
  private let log: Log

  init(_ log: Log) { self.log = log }

  func write(_ record: RequestRecord, at now: Timestamp) {
    let (hasLine, due) = state.withLock { state in
      let code = record.isRefused ? record.code : nil
      let hasLine = code.map { state.takesLine(record, $0, at: now) } ?? !record.isRoutine
      return (hasLine, state.due(at: now))
    }
    if hasLine { log.write(record, at: now) }
    for (code, count) in due {
      log.write(
        .warning, "requests.refused", at: now, ["code": .string(code.rawValue), "requests": .integer(count)])
    }
  }
}
