import Base

/// Holds the requests that are handled at one time, and those that wait for one of these to end.
///
/// Few are handled at once, so that a request which has begun ends soon: the time that it takes is their number divided
/// by the rate at which they end (Little's law). All others wait here, where refusing costs next to nothing, and never
/// longer than `DelayControl` allows. Requests that finish something go before those that begin something.
final class RequestQueue<Element: Sendable>: Sendable {
  enum Lane: Int, Sendable, CaseIterable { case finishing, beginning }

  /// What a change of the queue asks its owner to do.
  struct Due: Sendable {
    var start: [Element] = []
    /// Requests that waited too long.
    var refuse: [Element] = []
  }

  private struct Waiting {
    let element: Element
    let arrived: Int64
  }

  private struct Line {
    var waiting = FirstInFirstOut<Waiting>()
    var delay: DelayControl

    /// Whether the oldest request has waited longer than it may. One that arrives now would fare no better.
    func isOverdue(at now: Int64) -> Bool {
      waiting.first.map { now - $0.arrived > delay.bound(at: now) } ?? false
    }

    mutating func append(_ element: Element, at now: Int64) {
      if waiting.isEmpty { delay.noteEmpty(at: now) }
      waiting.append(Waiting(element: element, arrived: now))
    }

    mutating func popFirst(at now: Int64) -> Element? {
      defer { if waiting.isEmpty { delay.noteEmpty(at: now) } }
      return waiting.popFirst()?.element
    }
  }

  private struct State {
    var running = 0
    var lines: [Line]

    var waiting: Int { lines.reduce(0) { $0 + $1.waiting.count } }
  }

  private let state: Locked<State>
  private let maxRunning: Int
  private let capacity: Int
  private let gauges: TransportGauges

  /// - Parameter capacity: the most requests that are handled or wait, together.
  init(maxRunning: Int, capacity: Int, delay: DelayControl, gauges: TransportGauges) {
    self.maxRunning = max(1, min(maxRunning, capacity))
    self.capacity = capacity
    self.gauges = gauges
    state = Locked(State(lines: Lane.allCases.map { _ in Line(delay: delay) }))
  }

  /// Why a request that arrives now must not be added; nil if it may be.
  func refusal(in lane: Lane, at now: Int64) -> Overload? {
    state.withLock { state in
      if state.running + state.waiting >= capacity { return .full }
      return state.lines[lane.rawValue].isOverdue(at: now) ? .delay : nil
    }
  }

  /// Adds a request. It may be due at once.
  func add(_ element: Element, to lane: Lane, at now: Int64) -> Due {
    change(at: now) { $0.lines[lane.rawValue].append(element, at: now) }
  }

  /// Gives back the place of a request that has ended, or that waits for somebody outside.
  func leave(at now: Int64) -> Due { change(at: now) { $0.running -= 1 } }

  /// Takes a place again for a request that had left. It goes on even if no place is free: waiting would only delay its
  /// end.
  func comeBack(at now: Int64) -> Due { change(at: now) { $0.running += 1 } }

  /// Refuses requests whose time has passed. Needed when no request ends meanwhile.
  func expire(at now: Int64) -> Due { change(at: now) { _ in } }

  private func change(at now: Int64, _ body: (inout State) -> Void) -> Due {
    state.withLock { state in
      body(&state)
      var due = Due()
      for lane in state.lines.indices {
        while state.lines[lane].isOverdue(at: now), let late = state.lines[lane].popFirst(at: now) {
          due.refuse.append(late)
        }
        while state.running < maxRunning, let next = state.lines[lane].popFirst(at: now) {
          state.running += 1
          due.start.append(next)
        }
      }
      gauges.running.store(state.running, ordering: .relaxed)
      gauges.waiting.store(state.waiting, ordering: .relaxed)
      return due
    }
  }
}

/// Bounds how long a request may wait in a queue, by CoDel's idea (RFC 8289, 3.2): it matters whether a queue stands,
/// not how long it is.
///
/// A queue that empties now and then evens out bursts, and a request in it may wait a whole `interval`. A queue that
/// has not been empty for an interval stands: every request in it waits, and none is handled sooner for that. Then a
/// request may wait `target` at most. One that would wait longer is refused early, while it has cost nothing else.
/// CoDel drops packets one by one until their sender slows down; requests come from many senders, so all above the
/// bound are refused.
///
/// Times are nanoseconds of the monotonic clock.
struct DelayControl: Sendable {
  let target: Int64
  let interval: Int64
  private var lastEmpty = Int64.min

  init(target: Int64, interval: Int64) {
    self.target = target
    self.interval = max(target, interval)
  }

  mutating func noteEmpty(at now: Int64) { lastEmpty = now }

  func bound(at now: Int64) -> Int64 {
    now - max(lastEmpty, 0) < interval ? interval : target
  }
}

/// A queue that appends and removes in constant time on average.
struct FirstInFirstOut<Element> {
  private var elements: [Element] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { head == elements.count }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    head += 1
    // The taken front is dropped once it is the larger part.
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 64, head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }
}
