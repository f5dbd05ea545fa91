import Glibc

/// A value behind a POSIX mutex.
///
/// It does not use `Synchronization.Mutex`: ThreadSanitizer does not see that mutex's futex, and reports locked
/// accesses as races (Swift 6.3.1 on Linux).
// Sendable by use: `value` is private, and only `withLock` accesses it, under the lock. Arguments and results are
// `sending`.
public final class Locked<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  public init(_ value: sending Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs the body under the lock. The body must neither block nor take another lock.
  public func withLock<R>(_ body: (inout sending Value) throws -> sending R) rethrows -> sending R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}

/// A deadline on the monotonic clock.
package struct Deadline: Sendable {
  package let nanoseconds: Int64

  package init(in duration: Duration) {
    let (seconds, attoseconds) = duration.components
    nanoseconds = Self.now() + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  package var isPast: Bool { Self.now() >= nanoseconds }

  /// The remaining milliseconds, rounded up for `poll`; 0 after the deadline.
  package var milliseconds: Int32 { Int32(clamping: max(0, (nanoseconds - Self.now() + 999_999) / 1_000_000)) }

  /// The deadline for `pthread_cond_timedwait` on a condition variable that uses the monotonic clock.
  package var time: timespec {
    timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }

  /// Sleeps until the deadline.
  package func sleep() {
    var time = time
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }

  /// The time of the monotonic clock, in nanoseconds.
  package static func now() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
  }
}

/// Runs blocking work on a separate thread. In Swift's cooperative pool, blocking work would take a thread from other
/// tasks.
package enum BackgroundThread {
  /// Stops this thread, and the threads and processes that it starts later, from interrupting another thread when they
  /// wake. On a busy processor, threads then switch less often and find more work at each turn. On an idle processor
  /// nothing changes, nor where the system forbids it, nor if the operator has set another policy. All background
  /// threads have this policy.
  package static func avoidInterrupting() {
    let batch: Int32 = 3  // SCHED_BATCH, which Swift does not import.
    guard sched_getscheduler(0) == SCHED_OTHER else { return }
    var parameters = sched_param()
    _ = sched_setscheduler(0, batch, &parameters)
  }

  /// Runs the body on a new thread, which ends with the body. Returns false if the system provides no thread.
  /// - Parameter name: the thread's name in `top -H`, profilers and processor times; at most 15 bytes.
  package static func start(_ name: String = "mdoc-wait", _ body: @escaping @Sendable () -> Void) -> Bool {
    guard let thread = joinable(name, body) else { return false }
    pthread_detach(thread)
    return true
  }

  /// Runs the body on a new joinable thread (`pthread_join`). Returns nil if the system provides no thread. Joining
  /// also waits until the thread has released the body.
  static func joinable(_ name: String, _ body: @escaping @Sendable () -> Void) -> pthread_t? {
    let box = Unmanaged.passRetained(Box(name, body))
    var thread = pthread_t()
    if pthread_create(&thread, nil, entry, box.toOpaque()) == 0 { return thread }
    box.release()
    return nil
  }

  /// Runs the body on a new thread, or on this thread if the system provides none. Waits without blocking.
  package static func run(_ body: @escaping @Sendable () -> Void) async {
    // ThreadSanitizer does not know that a continuation orders the accesses before and after it. It recognises the
    // order of locked accesses.
    let isDone = Locked(false)
    await withCheckedContinuation { continuation in
      let whole: @Sendable () -> Void = {
        body()
        isDone.withLock { $0 = true }
        continuation.resume()
      }
      if !start("mdoc-wait", whole) { whole() }
    }
    isDone.withLock { assert($0) }
  }

  private final class Box: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private static let entry: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { raw in
    if let raw {
      let box = Unmanaged<Box>.fromOpaque(raw).takeRetainedValue()
      setName(box.name)
      avoidInterrupting()
      box.body()
    }
    return nil
  }

  private static func setName(_ name: String) {
    // Swift does not import glibc's `pthread_setname_np`. Without /proc a thread keeps its creator's name.
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
  }
}

/// Independent pieces of work, done by several threads.
package enum SharedWork {
  /// Runs all pieces and returns their results in order. The calling thread also runs pieces.
  /// - Parameters:
  ///   - threads: the maximum number of threads. Fewer threads run if the system provides no more.
  ///   - scratch: makes the working memory of one thread, which the thread keeps between pieces.
  package static func run<Scratch, Result: Sendable>(
    pieces: Int, threads: Int, scratch: @escaping @Sendable () -> Scratch,
    _ piece: @escaping @Sendable (Int, inout Scratch) -> Result
  ) -> [Result] {
    let state = Locked(State<Result>(results: Array(repeating: nil, count: pieces)))
    let work: @Sendable () -> Void = {
      var scratch = scratch()
      while let number = state.withLock({ $0.take() }) {
        let result = piece(number, &scratch)
        state.withLock { $0.results[number] = result }
      }
    }
    let helpers = (1..<max(1, min(threads, pieces))).compactMap { _ in BackgroundThread.joinable("mdoc-share", work) }
    work()
    // Joins the threads instead of waiting for a signal, because ThreadSanitizer does not see reference counts. The
    // last thread to release the pieces' objects frees them.
    for helper in helpers { pthread_join(helper, nil) }
    // All pieces are done, since all threads have ended.
    return state.withLock { $0.results.compactMap(\.self) }
  }

  private struct State<Result: Sendable>: Sendable {
    var next = 0
    var results: [Result?]

    /// Takes the number of the next piece; nil if all are taken.
    mutating func take() -> Int? {
      guard next < results.count else { return nil }
      defer { next += 1 }
      return next
    }
  }
}
