/// When the log is to be emptied after an erasure: it still holds the pages as they were.
///
/// A reader, a backup say, keeps the log as long as it reads. It is then tried again after ever longer pauses, and never
/// waited for.
struct LogTruncation {
  private static let pauses: ClosedRange<Int64> = 100...5_000

  /// Set by what erases data, until the log is empty.
  var isDue = false { didSet { if isDue, !oldValue { reset() } } }
  private(set) var tries = 0
  private var pause = pauses.lowerBound
  private var next = Int64.min

  /// Milliseconds until it is to be tried, 0 where that is now; nil where nothing is due.
  func wait(at now: Int64) -> Int64? { isDue ? max(0, next == .min ? 0 : next - now) : nil }

  /// - Parameter isBusy: whether somebody read the log.
  mutating func tried(isBusy: Bool, at now: Int64) {
    tries += 1
    guard isBusy else {
      isDue = false
      return
    }
    next = now + pause
    pause = min(pause * 2, Self.pauses.upperBound)
  }

  private mutating func reset() {
    pause = Self.pauses.lowerBound
    next = .min
  }
}
