import Glibc

/// Work in pieces that don't need each other, done by several threads.
package enum SharedWork {
  /// Returns the results of all pieces, in their order. This thread works as well; it returns when all are done, and
  /// does more if the system has no thread to give.
  /// - Parameters:
  ///   - threads: at most as many work.
  ///   - room: makes what a thread keeps from one piece to the next.
  package static func run<Room, Result: Sendable>(
    pieces: Int, threads: Int, room: @escaping @Sendable () -> Room,
    _ piece: @escaping @Sendable (Int, inout Room) -> Result
  ) -> [Result] {
    let state = Locked(State<Result>(results: Array(repeating: nil, count: pieces)))
    let work: @Sendable () -> Void = {
      var room = room()
      while let number = state.withLock({ $0.take() }) {
        let result = piece(number, &room)
        state.withLock { $0.results[number] = result }
      }
    }
    let helpers = (1..<max(1, min(threads, pieces))).compactMap { _ in BackgroundThread.joinable("mdoc-share", work) }
    work()
    // A join rather than a signal: the last to let go of what the pieces hold frees it, and ThreadSanitizer does not see
    // the counting of references.
    for helper in helpers { pthread_join(helper, nil) }
    // Every number was taken, and whoever took it has ended.
    return state.withLock { $0.results.compactMap(\.self) }
  }

  private struct State<Result: Sendable>: Sendable {
    var next = 0
    var results: [Result?]

    /// The number of a piece that nobody has taken; nil if there is none.
    mutating func take() -> Int? {
      guard next < results.count else { return nil }
      defer { next += 1 }
      return next
    }
  }
}
