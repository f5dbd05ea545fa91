import Base
import Glibc

/// Ends the process when a stop takes longer than it may: a thread that computes or waits in a library cannot be told to
/// return, and a graceful stop would wait for it for good.
enum StopWatchdog {
  /// An internal fault, as of every verb (`mdoc help`).
  static let status: Int32 = 70
  /// How long the log's thread has for the last line.
  private static let lastLine: UInt32 = 500_000  // microseconds

  /// On a thread of its own, since all others may be what hangs. The process's end ends it.
  static func start(after seconds: Int64, log: Log) {
    _ = BackgroundThread.start("mdoc-stop") {
      var rest = UInt32(clamping: seconds)
      // A signal that is handled cuts it short.
      while rest > 0 { rest = sleep(rest) }
      log.write(
        .error, "server.stop_overdue", at: .systemNow(),
        [
          "seconds": .integer(seconds),
          "message": "what was under way did not end; nothing was lost that had been acknowledged",
        ])
      usleep(lastLine)
      // Not `exit`, which waits for locks that the hanging thread may hold.
      _exit(status)
    }
  }
}
