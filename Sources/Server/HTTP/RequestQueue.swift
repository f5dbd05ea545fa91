import Base

/// Holds the requests that are handled at one time, and those that wait for one of these to end.
///
/// Few are handled at once, so that a request which has begun ends soon: the time that it takes is their number divided
/// by the rate at which they end (Little's law). All others wait here, where refusing costs next to nothing, and never
/// longer than `DelayControl` allows.
///
/// The places go to the flows in turns (`FairTurns`), and each flow has lines of its own: who fills them waits longer and
/// is refused, and nobody else. A flow with little under way finds a place beyond `maxRunning`, also while requests of
/// others that had lent their places come back in numbers. Within a flow, requests that finish something go before those
/// that begin something.
final class RequestQueue<Element: Sendable>: Sendable {
  enum Lane: Int, Sendable, CaseIterable { case finishing, beginning }

  /// What a change of the queue asks its owner to do.
  struct Due: Sendable {
    var start: [Element] = []
    /// Requests that waited too long.
    var refuse: [Element] = []
    /// Requests of the flow with the most, which give way to another's because the queue is full.
    var displaced: [Element] = []
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
    var waiting = 0
    var turns = FairTurns()
    var lines: [Flow: [Line]] = [:]
    /// The flows with requests that wait.
    var busy: Set<Flow> = []

    func waiting(of flow: Flow) -> Int { lines[flow]?.reduce(0) { $0 + $1.waiting.count } ?? 0 }

    /// The flow with the most requests that wait.
    var longest: Flow? { busy.max { waiting(of: $0) < waiting(of: $1) } }

    /// Takes a request out of a line. Nil if the line is empty.
    mutating func pop(_ lane: Int, of flow: Flow, at now: Int64) -> Element? {
      guard let element = lines[flow]?[lane].popFirst(at: now) else { return nil }
      waiting -= 1
      if waiting(of: flow) == 0 {
        busy.remove(flow)
        turns.rest(flow)
      }
      return element
    }
  }

  private let state = Locked(State())
  private let maxRunning: Int
  private let capacity: Int
  private let delay: DelayControl
  private let gauges: TransportGauges

  /// - Parameter capacity: the most requests that are handled or wait, together.
  init(maxRunning: Int, capacity: Int, delay: DelayControl, gauges: TransportGauges) {
    self.maxRunning = max(1, min(maxRunning, capacity))
    self.capacity = capacity
    self.delay = delay
    self.gauges = gauges
  }

  /// Why a request that arrives now must not be added; nil if it may be. If the queue is full, the flow with the most
  /// gives way to the others.
  func refusal(in lane: Lane, of flow: Flow, at now: Int64) -> Overload? {
    state.withLock { state in
      if state.running + state.waiting >= capacity {
        let longest = state.longest.map { state.waiting(of: $0) } ?? 0
        if state.waiting(of: flow) + 1 >= longest { return .full }
      }
      return state.lines[flow]?[lane.rawValue].isOverdue(at: now) ?? false ? .delay : nil
    }
  }

  /// Adds a request. It may be due at once.
  func add(_ element: Element, to lane: Lane, of flow: Flow, at now: Int64) -> Due {
    change(at: now) { state, due in
      if state.running + state.waiting >= capacity, let longest = state.longest,
        let displaced = state.pop(1, of: longest, at: now) ?? state.pop(0, of: longest, at: now)
      {
        due.displaced.append(displaced)
      }
      state.lines[flow, default: Lane.allCases.map { _ in Line(delay: delay) }][lane.rawValue].append(element, at: now)
      state.waiting += 1
      state.busy.insert(flow)
      state.turns.wait(flow)
    }
  }

  /// Gives back the place of a request that has ended, or that waits for somebody outside.
  ///
  /// - Parameter cost: the nanoseconds that its handling took since it got the place.
  func leave(_ flow: Flow, cost: Int64, at now: Int64) -> Due {
    change(at: now) { state, _ in
      state.running -= 1
      state.turns.end(flow, cost: cost)
    }
  }

  /// Takes a place again for a request that had left. It goes on even if no place is free: waiting would only delay its
  /// end.
  func comeBack(_ flow: Flow, at now: Int64) -> Due {
    change(at: now) { state, _ in
      state.running += 1
      state.turns.begin(flow, isNew: false)
    }
  }

  /// Refuses requests whose time has passed. Needed when no request ends meanwhile.
  func expire(at now: Int64) -> Due { change(at: now) { _, _ in } }

  private func change(at now: Int64, _ body: (inout State, inout Due) -> Void) -> Due {
    state.withLock { state in
      var due = Due()
      body(&state, &due)
      for flow in state.busy {
        for lane in Lane.allCases.map(\.rawValue) {
          while state.lines[flow]?[lane].isOverdue(at: now) ?? false, let late = state.pop(lane, of: flow, at: now) {
            due.refuse.append(late)
          }
        }
      }
      while let flow = next(state) {
        guard let element = state.pop(0, of: flow, at: now) ?? state.pop(1, of: flow, at: now) else { break }
        state.running += 1
        state.turns.begin(flow)
        due.start.append(element)
      }
      gauges.running.store(state.running, ordering: .relaxed)
      gauges.waiting.store(state.waiting, ordering: .relaxed)
      return due
    }
  }

  /// The flow whose request gets a place now; nil if none is free.
  private func next(_ state: State) -> Flow? {
    let few = state.turns.busy < 2 * maxRunning ? max(1, maxRunning / 8) : 0
    return state.turns.next(below: state.running < maxRunning ? .max : few)
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
