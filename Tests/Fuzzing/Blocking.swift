import Base
import Dispatch

/// Waits for asynchronous work: libFuzzer calls from its own thread, which is outside the pool.
func blocking(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}
