import Base

/// Counts those who wait for publishers, and lets in so many for each and in all.
///
/// Whoever waits holds a connection and an answer in memory. A publisher that hangs must not gather them without end:
/// who finds no place is answered at once by what is known.
final class WaitingRoom: Sendable {
  private struct State {
    var all = 0
    var waiting: [String: Int] = [:]
  }

  private let state = Locked(State())
  private let placesForOne: Int
  private let places: Int

  init(placesForOne: Int = Limits.publisherWaiters, places: Int = Limits.waiters) {
    self.placesForOne = placesForOne
    self.places = places
  }

  /// Those who wait now.
  var count: Int { state.withLock { $0.all } }

  /// Runs the body, which waits for this publisher; nil, at once, where there is no place.
  func wait<R: Sendable>(for publisher: String, _ body: () async -> R) async -> R? {
    guard enter(publisher) else { return nil }
    defer { leave(publisher) }
    return await body()
  }

  private func enter(_ publisher: String) -> Bool {
    state.withLock { state in
      let waiting = state.waiting[publisher] ?? 0
      guard waiting < placesForOne, state.all < places else { return false }
      state.waiting[publisher] = waiting + 1
      state.all += 1
      return true
    }
  }

  private func leave(_ publisher: String) {
    state.withLock { state in
      let waiting = (state.waiting[publisher] ?? 1) - 1
      // The last takes the name along: names are the publishers', and there is no end of them.
      state.waiting[publisher] = waiting > 0 ? waiting : nil
      state.all -= 1
    }
  }
}
