import Glibc

/// A value behind a POSIX mutex.
///
/// It replaces `Synchronization.Mutex`, which ThreadSanitizer cannot see: the futex of that mutex is in a library
/// without instrumentation, and Swift 6.3.1 on Linux then reports every pair of properly locked accesses as a race.
/// ThreadSanitizer knows POSIX mutexes, so that it finds a real race here.
// Sendable by use: `value` is private and touched in `withLock` only, between lock and unlock, and what crosses that
// border is `sending`.
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

  /// Runs the body alone. It must neither block nor take another lock.
  public func withLock<R>(_ body: (inout sending Value) throws -> sending R) rethrows -> sending R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}

/// A moment of the monotonic clock, until which to wait.
package struct Deadline: Sendable {
  package let nanoseconds: Int64

  package init(in duration: Duration) {
    let (seconds, attoseconds) = duration.components
    nanoseconds = Self.now() + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  package var isPast: Bool { Self.now() >= nanoseconds }

  /// The time that is left, for `poll`, rounded up; 0 once the deadline is past.
  package var milliseconds: Int32 { Int32(clamping: max(0, (nanoseconds - Self.now() + 999_999) / 1_000_000)) }

  /// The deadline for `pthread_cond_timedwait`, on a condition that uses the monotonic clock.
  package var time: timespec {
    timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }

  /// Returns when the deadline is past.
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

/// Runs work that blocks on a thread of its own: a disk, a network, a join, a wait for the time of day.
///
/// Work that blocks a thread of Swift's cooperative pool would take it from other tasks.
package enum BackgroundThread {
  /// Runs the body on a new thread, which ends with it; false when the system has no thread to give.
  /// - Parameter name: the thread's name in `top -H`, in profilers and in counts of processor time; at most 15 bytes.
  package static func start(_ name: String = "mdoc-wait", _ body: @escaping @Sendable () -> Void) -> Bool {
    guard let thread = joinable(name, body) else { return false }
    pthread_detach(thread)
    return true
  }

  /// Runs the body on a new thread, for `pthread_join`; nil when the system has no thread to give.
  ///
  /// Once joined, the thread has also let go of what the body holds.
  static func joinable(_ name: String, _ body: @escaping @Sendable () -> Void) -> pthread_t? {
    let box = Unmanaged.passRetained(Box(name, body))
    var thread = pthread_t()
    if pthread_create(&thread, nil, entry, box.toOpaque()) == 0 { return thread }
    box.release()
    return nil
  }

  /// Runs the body on a new thread, or on this one if there is none, and waits for it without blocking.
  package static func run(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      let whole: @Sendable () -> Void = {
        body()
        continuation.resume()
      }
      if !start("mdoc-wait", whole) { whole() }
    }
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
      // Takes over the reference made for the thread.
      let box = Unmanaged<Box>.fromOpaque(raw).takeRetainedValue()
      setName(box.name)
      box.body()
    }
    return nil
  }

  private static func setName(_ name: String) {
    // Swift does not see glibc's function for a thread's name. Without /proc a thread keeps its creator's name.
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
  }
}
