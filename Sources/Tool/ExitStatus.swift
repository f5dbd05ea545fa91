/// What the program's exit status means; the numbers above 63 are those of sysexits.h.
enum ExitStatus: Int32, Sendable {
  /// Verified, or done.
  case done = 0
  /// The wallet's answer was rejected or declined, however garbled it was.
  case rejected = 1
  /// The answer is genuine and holds nothing: no element that was asked for, and no answer about an age.
  case nothingDisclosed = 3
  case usage = 64
  /// One of the caller's own files cannot be read or is not what it should be.
  case unreadable = 65
  case `internal` = 70
  /// The same call may succeed later.
  case temporary = 75
  case configuration = 78
}

/// Why a verb could not do its work: one clear line, and the exit status.
struct Failure: Error, Sendable, Equatable {
  let status: ExitStatus
  let message: String

  static func usage(_ message: String) -> Failure { Failure(status: .usage, message: message) }
  static func unreadable(_ message: String) -> Failure { Failure(status: .unreadable, message: message) }
  static func `internal`(_ message: String) -> Failure { Failure(status: .internal, message: message) }
  static func temporary(_ message: String) -> Failure { Failure(status: .temporary, message: message) }
  static func configuration(_ message: String) -> Failure { Failure(status: .configuration, message: message) }
}
