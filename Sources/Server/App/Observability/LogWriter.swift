import Base
import Glibc
import HTTP

/// Writes log lines to a file descriptor on a thread of its own, so that a slow reader of our log holds up no request.
///
/// Lines that do not fit into the buffer are dropped, and their number is logged as soon as there is room.
final class LogWriter: Sendable {
  private static let capacity = 1 << 20
  /// How long a close waits for a reader that does not read, so that a stop does not hang on it.
  private static let closingGrace = Duration.seconds(2)
  /// Microseconds that the first of several lines waits for the others: waking the thread for each line would cost more
  /// than writing the lines.
  private static let gathering: UInt32 = 10_000

  private struct State {
    var pending: [UInt8] = []
    var dropped = 0
    var isClosing = false
    var onEnd: [CheckedContinuation<Void, Never>] = []
    var hasEnded = false
  }

  private let state = Locked(State())
  private let descriptor: Int32
  // Sendable by use: any thread may call sem_post and sem_wait. The semaphore is freed with the last reference, and the
  // thread holds one.
  nonisolated(unsafe) private let wake = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  /// Starts the thread, which lives until `close`.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    // The reader of our log may go away. That must not end the server.
    signal(SIGPIPE, SIG_IGN)
    sem_init(wake, 0, 0)
    // If there is no thread to give, the process has worse faults than a missing log.
    if !BackgroundThread.start("mdoc-log", { [self] in run() }) { state.withLock { $0.hasEnded = true } }
  }

  deinit {
    sem_destroy(wake)
    wake.deallocate()
  }

  func write(_ line: String) {
    let isFirst = state.withLock { state in
      let isFirst = state.pending.isEmpty && state.dropped == 0
      guard state.pending.count + line.utf8.count < Self.capacity else {
        state.dropped += 1
        return isFirst
      }
      state.pending += line.utf8
      state.pending.append(UInt8(ascii: "\n"))
      return isFirst
    }
    if isFirst { sem_post(wake) }
  }

  /// Returns when everything written so far is out, or after `closingGrace`.
  func close() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state -> Bool in
        state.isClosing = true
        if !state.hasEnded { state.onEnd.append(continuation) }
        return state.hasEnded
      }
      if isOver { return continuation.resume() }
      sem_post(wake)
      Task.detached(executorPreference: WorkerThreads.shared) { [self] in
        try? await Task.sleep(for: Self.closingGrace)
        release()
      }
    }
  }

  /// Resumes the callers that wait for the end.
  private func release() {
    let waiting = state.withLock { state in
      defer { state.onEnd = [] }
      return state.onEnd
    }
    for continuation in waiting { continuation.resume() }
  }

  private func run() {
    while true {
      while sem_wait(wake) != 0 {}
      if !state.withLock({ $0.isClosing }) { usleep(Self.gathering) }
      let (bytes, isClosing) = state.withLock { state -> ([UInt8], Bool) in
        var bytes = state.pending
        state.pending = []
        if state.dropped > 0 {
          bytes += Array("{\"level\":\"error\",\"event\":\"log.dropped\",\"lines\":\(state.dropped)}\n".utf8)
          state.dropped = 0
        }
        return (bytes, state.isClosing)
      }
      put(bytes)
      guard !isClosing || !bytes.isEmpty else { break }
      if isClosing { sem_post(wake) }
    }
    state.withLock { $0.hasEnded = true }
    release()
  }

  /// Writes the bytes. If the reader has closed its end they are lost, and the server goes on.
  private func put(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
