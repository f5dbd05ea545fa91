import Glibc

/// A value behind a POSIX mutex.
///
/// In place of `Synchronization.Mutex` because ThreadSanitizer cannot see that one: its futex sits in a library without
/// instrumentation, and Swift 6.3.1 on Linux then reports every pair of properly locked accesses as a race. It knows
/// POSIX mutexes, so that a real race here is found.
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
