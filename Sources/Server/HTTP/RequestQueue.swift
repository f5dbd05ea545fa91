import Base

/// The requests that are handled at one time, and those that wait for one of these to end.
///
/// So few are handled at once that a request which has begun ends soon: the time that it takes is their number over the
/// rate at which they end (Little's law). All others wait here, where refusing costs next to nothing, and never longer
/// than `DelayControl` allows. What finishes something goes before what begins something.
final class RequestQueue<Element: Sendable>: Sendable {
  enum Lane: Int, Sendable, CaseIterable { case finishing, beginning }

  /// What a change of the queue asks its owner to do.
  struct Due: Sendable {
    var start: [Element] = []
    /// They waited too long.
    var refuse: [Element] = []
  }

  private struct Waiting {
    let element: Element
    let arrived: Int64
  }

  private struct Line {
    var waiting = FirstInFirstOut<Waiting>()
    var delay: DelayControl

    /// Whether the oldest has waited longer than anybody may: who came now would fare no better.
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

  /// - Parameter capacity: of those that are handled and those that wait.
  init(maxRunning: Int, capacity: Int, delay: DelayControl, gauges: TransportGauges) {
    self.maxRunning = max(1, min(maxRunning, capacity))
    self.capacity = capacity
    self.gauges = gauges
    state = Locked(State(lines: Lane.allCases.map { _ in Line(delay: delay) }))
  }

  /// Why a request that arrives now is not to be added, or nil.
  func refusal(in lane: Lane, at now: Int64) -> Overload? {
    state.withLock { state in
      if state.running + state.waiting >= capacity { return .full }
      return state.lines[lane.rawValue].isOverdue(at: now) ? .delay : nil
    }
  }

  /// Takes a request, which may be due at once.
  func add(_ element: Element, to lane: Lane, at now: Int64) -> Due {
    change(at: now) { $0.lines[lane.rawValue].append(element, at: now) }
  }

  /// One of those handled has ended, or waits for somebody outside.
  func leave(at now: Int64) -> Due { change(at: now) { $0.running -= 1 } }

  /// One that had left goes on, whether or not there is a place: it would only hold up its own end.
  func comeBack(at now: Int64) -> Due { change(at: now) { $0.running += 1 } }

  /// Where nothing ends, time passes all the same.
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

/// How long a request may wait in a queue, by CoDel's idea (RFC 8289, 3.2): what matters is not how long a queue is, but
/// whether it stands.
///
/// A queue that empties now and then evens out bursts, and a request in it may wait a whole `interval`. One that has not
/// been empty for an interval stands: everybody in it waits, and nobody is handled sooner for it. Then a request waits
/// `target` at most; whatever would wait longer is refused while refusing is all that it costs. Packets can be dropped
/// one by one until their sender slows down; requests come from many, so that all above the bound are refused.
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

/// A queue whose both ends are cheap.
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
