import Base
import Glibc
import Synchronization

/// Holds the requests that are being handled, and the requests that wait for a slot.
///
/// Few requests are handled at once, so that each ends soon (Little's law). The others wait here, never longer than
/// `DelayControl` allows. A refusal is cheap here. Flows take turns (`FairTurns`), and each flow has its own queues.
/// Only a flow that fills its own queues waits longer and is refused. A flow with few requests in progress gets a slot
/// beyond `maxRunning`.
final class RequestQueue<Element: Sendable>: Sendable {
  enum Lane: Int, Sendable, CaseIterable { case finishing, beginning }

  /// Requests that the owner of the queue must start or refuse after a change.
  struct Due: Sendable {
    var start: [Element] = []
    var refuse: [Element] = []
    /// Requests that are displaced because the queue is full. They belong to the flow with the most waiting requests.
    var displaced: [Element] = []
  }

  private struct Waiting {
    let element: Element
    let arrived: Int64
  }

  private struct Line {
    var waiting = FirstInFirstOut<Waiting>()
    var delay: DelayControl

    /// True if the oldest request has waited longer than allowed. A new request can expect the same wait.
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
    /// The flows that have waiting requests.
    var busy: Set<Flow> = []

    func waiting(of flow: Flow) -> Int { lines[flow]?.reduce(0) { $0 + $1.waiting.count } ?? 0 }

    var longest: Flow? { busy.max { waiting(of: $0) < waiting(of: $1) } }

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

  /// - Parameter capacity: the maximum number of running and waiting requests together.
  init(maxRunning: Int, capacity: Int, delay: DelayControl, gauges: TransportGauges) {
    self.maxRunning = max(1, min(maxRunning, capacity))
    self.capacity = capacity
    self.delay = delay
    self.gauges = gauges
  }

  /// The reason not to add a request now; nil if it may be added. If the queue is full, the flow with the most waiting
  /// requests loses one of them.
  func refusal(in lane: Lane, of flow: Flow, at now: Int64) -> Overload? {
    state.withLock { state in
      if state.running + state.waiting >= capacity {
        let longest = state.longest.map { state.waiting(of: $0) } ?? 0
        if state.waiting(of: flow) + 1 >= longest { return .full }
      }
      return state.lines[flow]?[lane.rawValue].isOverdue(at: now) ?? false ? .delay : nil
    }
  }

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

  /// Releases the slot of a request that has ended, or that waits for another host. The cost is in nanoseconds.
  func leave(_ flow: Flow, cost: Int64, at now: Int64) -> Due {
    change(at: now) { state, _ in
      state.running -= 1
      state.turns.end(flow, cost: cost)
    }
  }

  /// Takes a slot again for a request that released its slot, even if no slot is free. Waiting only delays the
  /// request's end.
  func comeBack(_ flow: Flow, at now: Int64) -> Due {
    change(at: now) { state, _ in
      state.running += 1
      state.turns.begin(flow, isNew: false)
    }
  }

  /// Refuses overdue requests. Call it regularly, since there may be long intervals in which no request ends.
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

  /// The flow that gets the next slot; nil if no slot is free.
  private func next(_ state: State) -> Flow? {
    let few = state.turns.busy < 2 * maxRunning ? max(1, maxRunning / 8) : 0
    return state.turns.next(below: state.running < maxRunning ? .max : few)
  }
}

/// Bounds how long a request may wait in a queue, after CoDel (RFC 8289, 3.2). The bound is `interval` if the queue was
/// empty within the last `interval` (a burst), otherwise `target`. Times are nanoseconds of the monotonic clock.
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

/// The verification threads, which are separate from Swift's cooperative pool. Flows take turns (`FairTurns`). The time
/// of each job is charged to its flow. The number of threads is one more than the number of processors. No flow can
/// occupy all threads. A job of another flow therefore begins at once.
package final class WorkerThreads: TaskExecutor {
  /// The process keeps this instance until it exits, so that a late task still has a thread to run on.
  package static let shared = WorkerThreads(processors: HTTPServerConfiguration.processorCount)

  fileprivate let queue: JobQueue

  private init(processors: Int) {
    queue = JobQueue(limit: processors)
    for _ in 0...processors {
      // Without these threads no request gets a reply. At the start of the process, the system can provide these
      // threads.
      let isStarted = BackgroundThread.start("mdoc-verify") { [self] in run() }
      precondition(isStarted, "no thread for verification")
    }
  }

  package func enqueue(_ job: consuming ExecutorJob) { queue.append(Job(job: UnownedJob(job), work: nil)) }

  private func run() {
    var done: (flow: Flow, cost: Int64)?
    while true {
      let job = queue.next(after: done)
      let start = Deadline.now()
      if let work = job.work {
        work.run(job.job, at: start)
      } else {
        job.job.runSynchronously(on: asUnownedTaskExecutor())
      }
      done = (job.flow, Deadline.now() - start)
    }
  }
}

/// The work of one request on the verification threads. It runs in its flow's turns and measures its own time.
final class RequestWork: TaskExecutor {
  let flow: Flow
  /// The total time of the ended jobs in nanoseconds.
  private let ended = Atomic<Int64>(0)
  /// The time at which the running job began.
  private let began = Atomic<Int64>(0)

  init(_ flow: Flow) { self.flow = flow }

  func enqueue(_ job: consuming ExecutorJob) {
    WorkerThreads.shared.queue.append(Job(job: UnownedJob(job), work: self))
  }

  fileprivate func run(_ job: UnownedJob, at start: Int64) {
    began.store(start, ordering: .relaxed)
    job.runSynchronously(on: asUnownedTaskExecutor())
    ended.add(Deadline.now() - start, ordering: .relaxed)
  }

  /// The total time of this request's jobs until now, in nanoseconds. Called by the request itself.
  func cost(at now: Int64) -> Int64 { ended.load(ordering: .relaxed) + now - began.load(ordering: .relaxed) }
}

private struct Job {
  let job: UnownedJob
  /// The request's work; nil for a job of the server itself. The job retains the work until the job ends, because the
  /// task may end earlier.
  let work: RequestWork?

  var flow: Flow { work?.flow ?? .house }
}

/// A queue for any number of threads, in which flows take turns.
// Sendable by use: `jobs` is accessed only while the mutex is locked.
private final class JobQueue: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let isFilled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs = FairQueue<Job>()
  private let limit: Int

  /// - Parameter limit: the maximum number of concurrent jobs of one flow.
  init(limit: Int) {
    self.limit = limit
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(isFilled, nil)
  }

  deinit {
    pthread_cond_destroy(isFilled)
    pthread_mutex_destroy(mutex)
    isFilled.deallocate()
    mutex.deallocate()
  }

  func append(_ job: Job) {
    pthread_mutex_lock(mutex)
    jobs.append(job, of: job.flow)
    pthread_mutex_unlock(mutex)
    // Signal after the unlock: a thread that wakes earlier only waits for the mutex.
    pthread_cond_signal(isFilled)
  }

  func next(after done: (flow: Flow, cost: Int64)?) -> Job {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if let done { jobs.end(done.flow, cost: done.cost) }
    while true {
      if let job = jobs.popFirst(below: limit) { return job }
      pthread_cond_wait(isFilled, mutex)
    }
  }
}

/// A request's slot. The request lends its slot while it waits for another host, so that a hanging publisher delays no
/// other request.
package struct HandlingPlace: Sendable {
  @TaskLocal static var current: HandlingPlace?

  let leave: @Sendable () -> Void
  let comeBack: @Sendable () -> Void
  /// Called with true before a wait that ends when the peer disconnects, and with false after the wait.
  let hold: @Sendable (Bool) -> Void

  /// Runs the body, and lends this request's slot to other requests until the body returns. If `endsWithPeer` is true,
  /// the task is cancelled when the peer goes away.
  package static func lend<R: Sendable>(endsWithPeer: Bool = false, while body: () async -> R) async -> R {
    guard let place = current else { return await body() }
    place.leave()
    place.hold(endsWithPeer)
    let result = await body()
    place.hold(false)
    place.comeBack()
    return result
  }
}
