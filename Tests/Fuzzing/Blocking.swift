import Base
import Dispatch

/// Waits for asynchronous work: libFuzzer calls from a thread of its own, which is none of the pool's.
func blocking(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}
