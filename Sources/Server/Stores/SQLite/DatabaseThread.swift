import Base
import Glibc
import Sessions

/// The thread of one connection. Whoever waits for the disk waits here, and never on Swift's cooperative threads.
///
/// The writer takes all writes that are queued and commits them together: one sync of the disk for as many callers as
/// came meanwhile. Where others write as well it takes its time between groups: they change the same pages, and each
/// commit costs more than what it commits. Whoever writes alone does not wait. One that fails takes no other with it; a
/// caller is resumed only after the commit, and if that fails all of them fail and nothing was done. The log is emptied
/// after an erasure when the callers have been resumed, and while nobody reads it.
// Unchecked, since the compiler does not see into pthreads: `queue` and `isClosing` are touched only with `mutex`
// held; `connection` and `paced` only by the thread itself, which is started at the end of the initialiser.
final class DatabaseThread: @unchecked Sendable {  // proof above
  /// Writes in one commit: bounds what one fault can fail and how long a caller waits.
  static let largestGroup = 256

  /// From the beginning of a group of several to the next, for each of them and at most: a commit costs as much as some
  /// writes do, and the more there are the more it is worth to wait for others.
  private static let pace = (each: 1, most: 4)

  private typealias Job = StoreJob<SQLiteConnection>

  private let role: SQLiteConnection.Role
  private var connection: SQLiteConnection?
  private var queue: [Job] = []
  private var isClosing = false
  private var onClosed: [() -> Void] = []
  /// Of the group before: when the next one may begin, where several wrote at one time. Only the thread itself knows it.
  private var paced: Deadline?
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// Milliseconds, by which the log's emptying is timed.
  private let clock: @Sendable () -> Int64

  init(
    _ connection: sending SQLiteConnection, role: SQLiteConnection.Role,
    clock: @escaping @Sendable () -> Int64 = { Deadline.now() / 1_000_000 }
  ) throws(StoreError) {
    self.role = role
    self.connection = connection
    self.clock = clock
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // The time of day may jump while somebody waits.
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

  /// Runs `body` on the thread in a transaction of its own, or in one with others; returns after the commit.
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await Job.run(body, enqueue: enqueue)
  }

  /// Does what is queued, closes the connection, and returns when that is done.
  func close() async {
    await withCheckedContinuation { continuation in
      pthread_mutex_lock(mutex)
      isClosing = true
      let isClosed = connection == nil
      if !isClosed { onClosed.append { continuation.resume() } }
      pthread_cond_signal(condition)
      pthread_mutex_unlock(mutex)
      if isClosed { continuation.resume() }
    }
  }

  /// For a store that goes away unclosed.
  func stop() {
    pthread_mutex_lock(mutex)
    isClosing = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  private func enqueue(_ job: Job) {
    pthread_mutex_lock(mutex)
    let isAccepted = !isClosing
    if isAccepted {
      queue.append(job)
      pthread_cond_signal(condition)
    }
    pthread_mutex_unlock(mutex)
    if !isAccepted { job.finish(.closed) }
  }

  // MARK: On the thread

  private func loop() {
    while let connection, let group = next(pausing: connection.log.wait(at: clock())) {
      switch role {
      case .writer:
        write(group, on: connection)
        connection.truncateLog(at: clock())
      case .reader: read(group, on: connection)
      }
    }
    pthread_mutex_lock(mutex)
    connection = nil
    let waiting = onClosed
    onClosed = []
    pthread_mutex_unlock(mutex)
    for resume in waiting { resume() }
  }

  /// The jobs of the next group; none where nothing came for so many milliseconds; or nil when closing and nothing is
  /// left.
  private func next(pausing pause: Int64?) -> [Job]? {
    var end = Deadline(in: .milliseconds(pause ?? 0)).time
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while queue.isEmpty {
      if isClosing { return nil }
      if pause == nil {
        pthread_cond_wait(condition, mutex)
      } else if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT {
        return []
      }
    }
    if role == .writer, let paced, !isClosing {
      pthread_mutex_unlock(mutex)
      paced.sleep()
      pthread_mutex_lock(mutex)
    }
    let group = Array(queue.prefix(Self.largestGroup))
    queue.removeFirst(group.count)
    paced = group.count > 1 ? Deadline(in: .milliseconds(min(group.count * Self.pace.each, Self.pace.most))) : nil
    return group
  }

  /// All in one transaction. Where one of them fails, nothing of it was done, and each is done by itself.
  private func write(_ group: [Job], on connection: SQLiteConnection) {
    guard !group.isEmpty else { return }
    var isAtWork = false
    do throws(StoreError) {
      try connection.checkInPlace()
      try connection.transaction { connection throws(StoreError) in
        isAtWork = true
        for job in group { try job.work(connection) }
        isAtWork = false
      }
      for job in group { job.finish(nil) }
    } catch {
      // Who holds the file, or a full disk, would be waited for by one after the other.
      guard isAtWork, group.count > 1 else { return group.forEach { $0.finish(error) } }
      for job in group { write([job], on: connection) }
    }
  }

  /// Each read is one snapshot, and bounded in time.
  private func read(_ group: [Job], on connection: SQLiteConnection) {
    for job in group {
      connection.allowRead(.seconds(Limits.listSeconds))
      do throws(StoreError) {
        try connection.transaction("BEGIN") { connection throws(StoreError) in try job.work(connection) }
        job.finish(nil)
      } catch {
        job.finish(error)
      }
    }
  }
}
