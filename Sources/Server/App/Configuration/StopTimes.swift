/// How a live server stops: first `/readyz` says so, for `notice` seconds, so that whoever balances load sends its
/// requests elsewhere; then requests under way have `drain` seconds to finish.
struct StopTimes: Sendable, Hashable {
  static let noticeSeconds: ClosedRange<Int64> = 0...300
  static let drainSeconds: ClosedRange<Int64> = 1...300
  /// Seconds for what comes after both: the last replies, deliveries under way, the store, the log.
  static let closing: Int64 = 10
  static let standard = StopTimes(notice: 5, drain: 20)

  var notice: Int64
  var drain: Int64

  /// Seconds after which the process has ended, whatever its threads do (`StopWatchdog`).
  var total: Int64 { notice + drain + Self.closing }
}
