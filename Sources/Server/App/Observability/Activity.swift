/// What happened in each of the last sixty minutes, for a look at a server that nothing else watches.
struct Activity: Sendable {
  struct Minute: Sendable, Hashable {
    var created = 0
    var verified = 0
    var failed = 0
    var canceled = 0

    var ended: Int { verified + failed + canceled }
  }

  static let length = 60

  /// Minute `n` of the server stands at `n % length`.
  private var minutes = [Minute](repeating: Minute(), count: length)
  /// The newest minute that was counted.
  private var newest = 0

  mutating func note(minute: Int, _ change: (inout Minute) -> Void) {
    forget(before: minute)
    change(&minutes[minute % Self.length])
  }

  /// The minutes up to this one, oldest first.
  func last(at minute: Int) -> [Minute] {
    var seen = self
    seen.forget(before: minute)
    return (1...Self.length).map { seen.minutes[(minute + $0) % Self.length] }
  }

  /// Clears what is older than an hour. A clock that does not go on changes nothing.
  private mutating func forget(before minute: Int) {
    guard minute > newest else { return }
    for passed in max(newest + 1, minute - Self.length + 1)...minute { minutes[passed % Self.length] = Minute() }
    newest = minute
  }
}
