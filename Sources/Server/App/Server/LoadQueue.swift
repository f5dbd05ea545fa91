import Base
import HTTP

/// One load at a time.
///
/// Whoever asks while one is under way has changed something, perhaps, that it has read already: all of them get the
/// result of one more, which begins after it.
final class LoadQueue<Result: Sendable>: Sendable {
  private struct Loads {
    var running: Task<Result, Never>?
    /// Begins when the running one ends.
    var next: Task<Result, Never>?
  }

  private let loads = Locked(Loads())

  /// What `load` comes to, or what one that another caller asked for at the same time does.
  func run(_ load: @escaping @Sendable () async -> Result) async -> Result {
    let task = loads.withLock { loads in
      if let next = loads.next { return next }
      let running = loads.running
      // Not on the pool where anything else may be computing for long.
      let task = Task(executorPreference: WorkerThreads.shared) { () -> Result in
        if let running {
          _ = await running.value
          self.loads.withLock { $0 = Loads(running: $0.next) }
        }
        let result = await load()
        self.loads.withLock { $0.running = nil }
        return result
      }
      if running == nil { loads.running = task } else { loads.next = task }
      return task
    }
    return await task.value
  }
}
