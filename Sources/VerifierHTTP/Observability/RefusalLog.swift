import Primitives

/// Says that requests are refused for load or for their rate: one line a second at most, since a line for each would be
/// load itself. How many there were exactly is in the metrics.
final class RefusalLog: Sendable {
  private struct State {
    var counts: [Code: Int64] = [:]
    var written: Timestamp?
  }

  private let state = Locked(State())
  private let log: Log

  init(_ log: Log) { self.log = log }

  func note(_ code: Code, at now: Timestamp) {
    let due = state.withLock { state -> [Code: Int64] in
      state.counts[code, default: 0] += 1
      guard state.written != now else { return [:] }
      state.written = now
      defer { state.counts = [:] }
      return state.counts
    }
    for (code, count) in due {
      log.write(
        .warning, "requests.refused", at: now, ["code": .string(code.rawValue), "requests": .integer(count)])
    }
  }
}
