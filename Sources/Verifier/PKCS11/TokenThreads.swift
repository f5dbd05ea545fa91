import Base

/// The threads of one module. A PKCS #11 call blocks and cannot be cancelled. Its caller therefore waits for a bounded
/// time. A call that hangs occupies only a thread of its module.
final class TokenThreads: Sendable {
  /// Work with its caller. The caller is told once: either the work has ended, or its time is over.
  private final class Job: Sendable {
    private struct State {
      var hasBegun = false
      var isOver = false
      var caller: CheckedContinuation<Bool, Never>?
    }

    let work: @Sendable () -> Void
    private let state = Locked(State())

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Returns false if the caller has gone.
    func begin() -> Bool {
      state.withLock { state in
        state.hasBegun = true
        return !state.isOver
      }
    }

    func wait(_ caller: CheckedContinuation<Bool, Never>) { state.withLock { $0.caller = caller } }

    func end(inTime: Bool) {
      let caller = state.withLock { state in
        defer { state.isOver = true }
        return state.caller.take()
      }
      caller?.resume(returning: inTime)
    }
  }

  private struct State {
    var threads = 0
    var waiting: [Job] = []
    /// The end of the turn that began when a thread last took work.
    var turn: Deadline?
  }

  private let state = Locked(State())

  /// Runs the work, and waits without blocking. Returns false if it has not begun or ended in time, or if too much work
  /// waits.
  func run(_ work: @escaping @Sendable () -> Void) async -> Bool {
    let job = Job(work)
    let timer = Task {
      try? await Task.sleep(for: Limits.tokenTurn)
      if job.hasBegun { try? await Task.sleep(for: Limits.tokenWait - Limits.tokenTurn) }
      job.end(inTime: false)
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { caller in
      job.wait(caller)
      if !add(job) { job.end(inTime: false) }
    }
  }

  /// Runs the work, and blocks this thread until it ends. Returns false if it does not end in time.
  func wait(for work: @escaping @Sendable () -> Void) -> Bool {
    let hasEnded = Locked(false)
    let job = Job {
      work()
      hasEnded.withLock { $0 = true }
    }
    guard add(job) else { return false }
    let end = Deadline(in: Limits.tokenStart)
    while !hasEnded.withLock({ $0 }) {
      guard !end.isPast else {
        job.end(inTime: false)
        return false
      }
      Deadline(in: .milliseconds(1)).sleep()
    }
    return true
  }

  private func add(_ job: Job) -> Bool {
    let (isAdded, needsThread) = state.withLock { state in
      let isBusy = state.threads >= Limits.tokenThreads
      // While all threads hang, work is refused at once. Otherwise waiting requests would block those that need no
      // token.
      let isHanging = isBusy && state.turn?.isPast == true
      guard state.waiting.count < Limits.tokenQueue, !isHanging else { return (false, false) }
      state.waiting.append(job)
      guard !isBusy else { return (true, false) }
      state.threads += 1
      return (true, true)
    }
    if needsThread, !BackgroundThread.start("mdoc-token", { [self] in loop() }) {
      state.withLock { $0.threads -= 1 }
      return false
    }
    return isAdded
  }

  /// Does the waiting work and then ends. Skips work whose callers have gone.
  private func loop() {
    while let job = state.withLock({ state in
      if state.waiting.isEmpty { state.threads -= 1 }
      state.turn = Deadline(in: Limits.tokenTurn)
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }) {
      guard job.begin() else { continue }
      job.work()
      job.end(inTime: true)
    }
  }
}
