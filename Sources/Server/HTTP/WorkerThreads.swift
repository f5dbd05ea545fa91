import Base
import Glibc

/// The verification threads: one for each processor, fed by one queue. Every request is handled on them.
///
/// They are apart from Swift's cooperative pool, so that no other work of the process on that pool delays an answer. A
/// task that waits for a disk suspends and leaves its thread to the next request.
package final class WorkerThreads: TaskExecutor {
  /// One for the whole process and its whole life, so that a task that is resumed late still finds a thread to run on.
  package static let shared = WorkerThreads(count: HTTPServerConfiguration.processorCount)

  private let queue = JobQueue()

  private init(count: Int) {
    for _ in 0..<count {
      // Without these threads nothing would ever be answered. At process start the system has threads to give.
      let isStarted = BackgroundThread.start("mdoc-verify") { [self] in run() }
      precondition(isStarted, "no thread for verification")
    }
  }

  package func enqueue(_ job: consuming ExecutorJob) { queue.append(UnownedJob(job)) }

  private func run() {
    while true { queue.next().runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// A first-in, first-out queue between any number of threads.
// Sendable by use: `jobs` is touched only with the mutex held.
private final class JobQueue: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let isFilled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs = FirstInFirstOut<UnownedJob>()

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(isFilled, nil)
  }

  deinit {
    pthread_cond_destroy(isFilled)
    pthread_mutex_destroy(mutex)
    isFilled.deallocate()
    mutex.deallocate()
  }

  func append(_ job: UnownedJob) {
    pthread_mutex_lock(mutex)
    jobs.append(job)
    pthread_cond_signal(isFilled)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for a job and takes it.
  func next() -> UnownedJob {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let job = jobs.popFirst() { return job }
      pthread_cond_wait(isFilled, mutex)
    }
  }
}

/// A request's place among those that are handled at one time.
///
/// A request that waits for somebody outside, and uses nothing of this machine meanwhile, lends its place to another.
/// So a publisher that hangs does not hold up requests that have nothing to do with it.
package struct HandlingPlace: Sendable {
  @TaskLocal static var current: HandlingPlace?

  let leave: @Sendable () -> Void
  let comeBack: @Sendable () -> Void
  /// Hears when the request begins to wait for nothing but its peer's sake, and when it ends to.
  let hold: @Sendable (Bool) -> Void

  /// Runs the body, and meanwhile lends this request's place, if it has one, to another.
  ///
  /// - Parameter endsWithPeer: whether the body only waits. If the peer goes away meanwhile, the task is cancelled and its
  ///   answer is dropped.
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
