import Base
import Glibc
import Sessions

/// A few connections to one database. Each has a thread that reconnects when the connection is lost. All connections
/// share one queue, in which callers take turns (`FairTurns`). No caller can occupy all connections, and lists use at
/// most a quarter. Without a connection, the pool refuses work immediately.
// `@unchecked`, since the compiler cannot check pthread synchronisation. Every variable property is accessed only with
// `mutex` locked. A connection is used only by the thread that took it from `spare` or made it.
final class PostgreSQLPool: @unchecked Sendable {
  /// The maximum time in the queue and the maximum number of queued jobs. Beyond either limit a job is refused.
  private static let turn = Duration.seconds(5)
  private static let longestQueue = 2048

  private struct Waiting {
    let lane: Lane
    let job: StoreJob<PostgreSQLConnection>
    let deadline: Deadline
  }

  private let address: PostgreSQLAddress
  private var spare: PostgreSQLConnection?
  private var singles = FairQueue<Waiting>()
  private var longReads = FairQueue<Waiting>()
  private var connected = 0
  private var lists = 0
  private let mostLists: Int
  /// Maximum number of concurrent single jobs of one caller.
  private let share: Int
  private var threads = 0
  /// The error of the last attempt to connect, if no other connection existed; nil after a successful attempt.
  private var fault: StoreError?
  private var isClosing = false
  private var onClosed: [() -> Void] = []
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// Signalled when a job is queued, when a list may be read, and when the pool closes.
  private let filled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// When the pool closes, wakes threads that pause between attempts to connect.
  private let ended = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  /// - Parameter first: an open connection. The threads open the other connections.
  init(
    _ address: PostgreSQLAddress, size: Int, first: sending PostgreSQLConnection
  ) throws(StoreError) {
    self.address = address
    mostLists = max(1, size / 4)
    share = max(1, size - mostLists)
    spare = first
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Use a monotonic clock, since the time of day may jump during a wait.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(filled, nil)
    pthread_cond_init(ended, &attributes)
    pthread_condattr_destroy(&attributes)
    for _ in 0..<size {
      locked { threads += 1 }
      guard BackgroundThread.start("mdoc-store", { [self] in loop() }) else {
        locked { threads -= 1 }
        stop()
        throw .unavailable("no thread for the store")
      }
    }
  }

  deinit {
    pthread_cond_destroy(filled)
    pthread_cond_destroy(ended)
    pthread_mutex_destroy(mutex)
    filled.deallocate()
    ended.deallocate()
    mutex.deallocate()
  }

  func perform<Value: Sendable>(
    _ lane: Lane, _ body: @escaping @Sendable (PostgreSQLConnection) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await StoreJob.run(body) { enqueue($0, lane) }
  }

  func close() async {
    stop()
    await withCheckedContinuation { continuation in
      let isClosed = locked {
        if threads > 0 { onClosed.append { continuation.resume() } }
        return threads == 0
      }
      if isClosed { continuation.resume() }
    }
  }

  /// Tells the threads to end after the queued jobs, and returns immediately. Also called when a store is deallocated
  /// without `close`.
  func stop() {
    locked {
      isClosing = true
      pthread_cond_broadcast(filled)
      pthread_cond_broadcast(ended)
    }
  }

  func enqueue(_ job: StoreJob<PostgreSQLConnection>, _ lane: Lane = .write) {
    let refusal: StoreError? = locked {
      if isClosing { return .closed }
      if connected == 0, let fault { return fault }
      guard waiting < Self.longestQueue else { return .unavailable("too many requests wait for PostgreSQL") }
      append(Waiting(lane: lane, job: job, deadline: Deadline(in: Self.turn)))
      return nil
    }
    if let refusal { return job.finish(refusal) }
    // Signal after the unlock, since a woken thread otherwise waits for the mutex.
    pthread_cond_signal(filled)
  }

  private var waiting: Int { singles.count + longReads.count }

  private func append(_ waiting: Waiting) {
    if waiting.lane == .list {
      longReads.append(waiting, of: waiting.job.flow)
    } else {
      singles.append(waiting, of: waiting.job.flow)
    }
  }

  @discardableResult
  private func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  // MARK: On the threads

  private func loop() {
    // OpenSSL may write to a closed connection, which raises SIGPIPE.
    var broken = sigset_t()
    sigemptyset(&broken)
    sigaddset(&broken, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &broken, nil)
    while let connection = connect() {
      while let waiting = next() {
        guard connection.isInPlace else {
          // Nothing was sent yet, so another connection may run the job.
          locked {
            append(waiting)
            leave(waiting, cost: 0)
            pthread_cond_signal(filled)
          }
          break
        }
        let start = Deadline.now()
        run(waiting, on: connection)
        locked { leave(waiting, cost: Deadline.now() - start) }
        if connection.isLost { break }
      }
      locked { connected -= 1 }
    }
    end()
  }

  private func run(_ waiting: Waiting, on connection: PostgreSQLConnection) {
    if waiting.deadline.isPast { return waiting.job.finish(.unavailable("PostgreSQL is too slow for the load")) }
    do throws(StoreError) {
      try waiting.job.work(connection)
      waiting.job.finish(nil)
    } catch {
      waiting.job.finish(error)
    }
  }

  /// Tries to connect until it succeeds. Returns nil when closing.
  private func connect() -> PostgreSQLConnection? {
    var pause = Backoff()
    while !locked({ isClosing && waiting == 0 }) {
      do throws(StoreError) {
        let made = locked {
          defer { spare = nil }
          return spare
        }
        let connection = if let made { made } else { try PostgreSQLConnection(address) }
        locked {
          connected += 1
          fault = nil
        }
        return connection
      } catch {
        refuse(because: error)
        if !wait(pause.next()) { return nil }
      }
    }
    return nil
  }

  /// Refuses all waiting jobs with this error, unless another connection can run them.
  private func refuse(because error: StoreError) {
    let refused: [Waiting] = locked {
      guard connected == 0 else { return [] }
      fault = error
      return singles.removeAll() + longReads.removeAll()
    }
    for waiting in refused { waiting.job.finish(error) }
  }

  /// Pauses. Returns false when closing.
  private func wait(_ duration: Duration) -> Bool {
    var time = Deadline(in: duration).time
    return locked {
      while !isClosing {
        if pthread_cond_timedwait(ended, mutex, &time) == ETIMEDOUT { return true }
      }
      return false
    }
  }

  /// The next job: a list if fewer than `mostLists` are being read, otherwise a single job. Nil when closing and no job
  /// is left.
  private func next() -> Waiting? {
    locked {
      while true {
        if lists < mostLists, let next = longReads.popFirst() {
          lists += 1
          return next
        }
        if let next = singles.popFirst(below: share) { return next }
        if isClosing, waiting == 0 { return nil }
        pthread_cond_wait(filled, mutex)
      }
    }
  }

  /// Charges the job's time to the caller. Wakes a thread if more jobs wait. When closing, wakes all threads so that
  /// they end. Call it with the lock held.
  private func leave(_ waiting: Waiting, cost: Int64) {
    if waiting.lane == .list {
      longReads.end(waiting.job.flow, cost: cost)
      lists -= 1
    } else {
      singles.end(waiting.job.flow, cost: cost)
    }
    if isClosing {
      pthread_cond_broadcast(filled)
    } else if self.waiting > 0 {
      pthread_cond_signal(filled)
    }
  }

  private func end() {
    let (left, waiting): ([Waiting], [() -> Void]) = locked {
      threads -= 1
      guard threads == 0 else { return ([], []) }
      defer { onClosed = [] }
      return (singles.removeAll() + longReads.removeAll(), onClosed)
    }
    for waiting in left { waiting.job.finish(.closed) }
    for resume in waiting { resume() }
  }
}

/// Pauses between attempts to connect. They double from 50 ms to two seconds. Each is randomly shortened so that nodes
/// do not reconnect together.
struct Backoff {
  private var step = Duration.milliseconds(50)

  mutating func next() -> Duration {
    defer { step = min(step * 2, .seconds(2)) }
    return step * Double.random(in: 0.5...1)
  }
}
