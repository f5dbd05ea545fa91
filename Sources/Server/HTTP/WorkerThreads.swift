import Base
import Glibc
import Synchronization

/// The verification threads, fed by one queue. Every request is handled on them.
///
/// They are apart from Swift's cooperative pool, so that no other work of the process on that pool delays an answer. A
/// task that waits for a disk suspends and leaves its thread to the next request.
///
/// The flows take turns (`FairTurns`), charged with the measured time of each job. There is one thread more than
/// processors, and one flow never has all of them: a job of another flow begins at once, and the system shares the
/// processors between the two.
package final class WorkerThreads: TaskExecutor {
  /// One for the whole process and its whole life, so that a task that is resumed late still finds a thread to run on.
  package static let shared = WorkerThreads(processors: HTTPServerConfiguration.processorCount)

  fileprivate let queue: JobQueue

  private init(processors: Int) {
    queue = JobQueue(limit: processors)
    for _ in 0...processors {
      // Without these threads nothing would ever be answered. At process start the system has threads to give.
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

/// The work of one request on the verification threads: in its flow's turns, and measured.
final class RequestWork: TaskExecutor {
  let flow: Flow
  /// Nanoseconds of the jobs that have ended.
  private let ended = Atomic<Int64>(0)
  /// When the job under way began.
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

  /// Nanoseconds of its jobs until now. Called by the request itself.
  func cost(at now: Int64) -> Int64 { ended.load(ordering: .relaxed) + now - began.load(ordering: .relaxed) }
}

private struct Job {
  let job: UnownedJob
  /// Nil for the server's own work. Kept until the job has ended, after which its task may be gone.
  let work: RequestWork?

  var flow: Flow { work?.flow ?? .house }
}

/// A queue between any number of threads, in which flows take turns.
// Sendable by use: `jobs` is touched only with the mutex held.
private final class JobQueue: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let isFilled = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs = FairQueue<Job>()
  private let limit: Int

  /// - Parameter limit: the most jobs of one flow that run at one time.
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
    pthread_cond_signal(isFilled)
    pthread_mutex_unlock(mutex)
  }

  /// Notes the end of a job, waits for the next one and takes it.
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
