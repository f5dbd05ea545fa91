import Base
import Glibc
import Sessions

/// The thread of one connection. Disk waits block this thread, never Swift's cooperative threads.
///
/// The writer commits the writes of a few milliseconds together. One disk sync then serves many callers, who take turns
/// (`FairTurns`). A commit costs more than its writes. While several callers write, the writer therefore pauses between
/// groups.
///
/// A failed write does not affect other writes. If a commit fails, nothing changes and all callers of the group get the
/// error. After an erasure, the writer empties the log once no reader uses it.
// `@unchecked`, since the compiler cannot check pthread synchronisation. `queue` and `isClosing` are accessed only with
// `mutex` locked. Only the thread itself accesses `connection` and `paced`. The initialiser starts the thread last.
final class DatabaseThread: @unchecked Sendable {  // proof above
  /// Maximum number of writes in one commit. Limits a caller's wait, and the writes that one error can undo.
  static let largestGroup = 256

  /// Nanoseconds after which a group accepts no further write.
  private static let longestGroup: Int64 = 5_000_000

  /// Maximum milliseconds between the beginnings of two groups, if the first has several writes. The pause is one
  /// millisecond for each write.
  private static let longestPace = 4

  private typealias Job = StoreJob<SQLiteConnection>

  private let role: SQLiteConnection.Role
  private var connection: SQLiteConnection?
  private var queue = FairQueue<Job>()
  private var isClosing = false
  private var onClosed: [() -> Void] = []
  /// The time at which the next group may begin; nil if the last group had only one write.
  private var paced: Deadline?
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// The time in milliseconds, for emptying the log.
  private let clock: @Sendable () -> Int64

  init(
    _ connection: sending SQLiteConnection,
    clock: @escaping @Sendable () -> Int64 = { Deadline.now() / 1_000_000 }
  ) throws(StoreError) {
    role = connection.role
    self.connection = connection
    self.clock = clock
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Use a monotonic clock, since the time of day may jump during a wait.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    guard BackgroundThread.start("mdoc-store", { [self] in loop() }) else {
      throw .unavailable("no thread for the store")
    }
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` on the thread, in a separate transaction or together with other writes. Returns after the commit.
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await Job.run(body, enqueue: enqueue)
  }

  func close() async {
    await withCheckedContinuation { continuation in
      stop()
      let isClosed = locked {
        if connection != nil { onClosed.append { continuation.resume() } }
        return connection == nil
      }
      if isClosed { continuation.resume() }
    }
  }

  /// Tells the thread to end after its queued jobs, and returns immediately. Also called when a store is deallocated
  /// without `close`.
  func stop() {
    locked { isClosing = true }
    pthread_cond_signal(condition)
  }

  private func enqueue(_ job: Job) {
    let isAccepted = locked {
      guard !isClosing else { return false }
      queue.append(job, of: job.flow)
      return true
    }
    guard isAccepted else { return job.finish(.closed) }
    // Signal after the unlock, since a woken thread otherwise waits for the mutex.
    pthread_cond_signal(condition)
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  // MARK: On the thread

  private func loop() {
    while let connection, let isFilled = wait(pausing: connection.log.wait(at: clock())) {
      switch role {
      case .writer:
        if isFilled { write(on: connection) }
        connection.truncateLog(at: clock())
      case .reader: if isFilled { read(on: connection) }
      }
    }
    let waiting = locked {
      connection = nil
      defer { onClosed = [] }
      return onClosed
    }
    for resume in waiting { resume() }
  }

  /// Waits for a job. Returns true once a job is queued, false if none arrives within `pause` milliseconds, and nil
  /// when closing with no job left.
  private func wait(pausing pause: Int64?) -> Bool? {
    var end = Deadline(in: .milliseconds(pause ?? 0)).time
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while queue.isEmpty {
      if isClosing { return nil }
      if pause == nil {
        pthread_cond_wait(condition, mutex)
      } else if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT {
        return false
      }
    }
    if role == .writer, let paced, !isClosing {
      pthread_mutex_unlock(mutex)
      paced.sleep()
      pthread_mutex_lock(mutex)
    }
    return true
  }

  private func work(_ job: Job, on connection: SQLiteConnection) throws(StoreError) {
    let start = Deadline.now()
    defer { locked { queue.end(job.flow, cost: Deadline.now() - start) } }
    try job.work(connection)
  }

  /// Runs the next jobs in one transaction. If one fails, the transaction is rolled back and each job runs by itself.
  private func write(on connection: SQLiteConnection) {
    var group: [Job] = []
    var isAtWork = false
    let start = Deadline.now()
    do throws(StoreError) {
      try connection.checkInPlace()
      try connection.transaction { connection throws(StoreError) in
        isAtWork = true
        while group.count < Self.largestGroup, group.isEmpty || Deadline.now() - start < Self.longestGroup,
          let job = locked({ queue.popFirst() })
        {
          group.append(job)
          try work(job, on: connection)
        }
        isAtWork = false
      }
      for job in group { job.finish(nil) }
    } catch {
      // If the transaction could not begin, its jobs are still queued.
      if group.isEmpty { group = locked { queue.removeAll() } }
      // An error before or after the jobs' own work, such as a full disk, also affects each single job.
      let runsEach = isAtWork && group.count > 1
      for job in group { if runsEach { run(job, in: "BEGIN IMMEDIATE", on: connection) } else { job.finish(error) } }
    }
    let pace = Int64(min(group.count, Self.longestPace)) * 1_000_000
    paced = group.count > 1 ? Deadline(in: .nanoseconds(max(0, start + pace - Deadline.now()))) : nil
  }

  /// Runs the next read for at most `Limits.listSeconds`. A separate transaction gives it one snapshot.
  private func read(on connection: SQLiteConnection) {
    guard let job = locked({ queue.popFirst() }) else { return }
    connection.allowRead(.seconds(Limits.listSeconds))
    run(job, in: "BEGIN", on: connection)
  }

  private func run(_ job: Job, in begin: String, on connection: SQLiteConnection) {
    do throws(StoreError) {
      if role == .writer { try connection.checkInPlace() }
      try connection.transaction(begin) { connection throws(StoreError) in try work(job, on: connection) }
      job.finish(nil)
    } catch {
      job.finish(error)
    }
  }
}
