import Base
import Glibc
import HTTP
import Sessions

package struct Log: Sendable {
  enum Level: String, Sendable { case info, warning, error }

  private let sink: @Sendable (String) -> Void

  /// - Parameter sink: receives whole lines without the line end. It is called on any thread and must not block.
  package init(sink: @escaping @Sendable (String) -> Void) { self.sink = sink }

  func write(_ record: RequestRecord, at now: Timestamp) {
    let level: Level = record.status >= 500 ? .error : .info
    write(
      level, "request", at: now,
      [
        "request_id": .string(record.id), "trace_id": record.trace.map { .string($0.traceID) },
        "span_id": record.trace.map { .string($0.spanID) }, "method": .string(record.method),
        "route": .string(record.route), "status": .integer(Int64(record.status)),
        "duration_ms": .double((record.seconds * 1_000_000).rounded() / 1_000),
        "relying_party": record.relyingParty.map { .string($0) }, "api_key": record.apiKey.map { .string($0) },
        "session": record.session.map { .string($0) }, "code": record.code.map { .string($0.rawValue) },
      ])
  }

  func warn(_ event: String, at now: Timestamp, _ messages: [String]) {
    for message in messages { write(.warning, event, at: now, ["message": .string(message)]) }
  }

  /// Writes an event other than a request, such as a start, a stop or a warning about the configuration.
  func write(_ level: Level, _ event: String, at now: Timestamp, _ members: KeyValuePairs<String, JSON?> = [:]) {
    let head: [JSON.Member] = [
      .init("time", .string(now.description)), .init("level", .string(level.rawValue)),
      .init("event", .string(event)),
    ]
    sink(JSON.object(head + (JSON.members(members).object ?? [])).text())
  }
}

/// Writes requests to the log, except routine requests that succeed. For each code, it logs only a few refusals a
/// second. The log counts the others, and the metrics count all.
final class RequestLog: Sendable {
  private struct State {
    /// The number of refusals logged in `second`, by code.
    var lines: [Code: Int] = [:]
    var second: Timestamp?
    /// The number of unlogged refusals by code, and the time at which these numbers were last logged.
    var leftOut: [Code: Int64] = [:]
    var said: Timestamp?

    mutating func takesLine(_ record: RequestRecord, _ code: Code, at now: Timestamp) -> Bool {
      if second != now { (second, lines) = (now, [:]) }
      guard !record.isUnread, lines[code, default: 0] < Limits.refusalLines else {
        leftOut[code, default: 0] += 1
        return false
      }
      lines[code, default: 0] += 1
      return true
    }

    /// The counts of unlogged requests that are due for logging. The first count is due at once, later counts once a
    /// second.
    mutating func due(at now: Timestamp) -> [Code: Int64] {
      guard !leftOut.isEmpty, said != now else { return [:] }
      said = now
      defer { leftOut = [:] }
      return leftOut
    }
  }

  private let state = Locked(State())
  private let log: Log

  init(_ log: Log) { self.log = log }

  func write(_ record: RequestRecord, at now: Timestamp) {
    let (hasLine, due) = state.withLock { state in
      let code = record.isRefused ? record.code : nil
      let hasLine = code.map { state.takesLine(record, $0, at: now) } ?? !record.isRoutine
      return (hasLine, state.due(at: now))
    }
    if hasLine { log.write(record, at: now) }
    for (code, count) in due {
      log.write(
        .warning, "requests.refused", at: now, ["code": .string(code.rawValue), "requests": .integer(count)])
    }
  }
}

/// One request, for the log and the metrics. Omits path, query, headers and body: these must not be logged.
struct RequestRecord: Sendable {
  static let unmatchedRoute = "unmatched"
  /// The route of a request that the transport refused before routing.
  static let refusedRoute = "refused"

  let id: String
  /// The trace; nil if the caller sent none, or if the request was refused unread.
  var trace: TraceContext?
  /// A method of the API, or `other`. A client must not be able to choose a label.
  let method: String
  var route = unmatchedRoute
  /// True if the route is served under any load. For such a route, a reply with `api.overloaded` only reports the load.
  /// It does not refuse the request.
  var isEssential = false
  /// True for health checks and preflight requests of pages. If they succeed, they are not logged.
  var isRoutine = false
  var relyingParty: String?
  /// The id of the caller's API key in the configuration; nil if there is none.
  var apiKey: String?
  var session: String?
  private(set) var status = 0
  private(set) var code: Code?
  private(set) var verification: Reply.Verification?
  private(set) var seconds = 0.0

  init(id: String, method: String) {
    self.id = id
    self.method = ["GET", "HEAD", "POST", "OPTIONS"].contains(method) ? method : "other"
  }

  var isRefused: Bool { status >= 400 && code != nil }

  /// True if the request created a session. No other operation replies 201.
  var isCreation: Bool { status == 201 }

  /// True if the request was refused unread because of the load or the caller's rate.
  var isUnread: Bool { route == Self.refusedRoute && (code == .apiOverloaded || code == .apiRateLimited) }

  mutating func note(_ reply: Reply, seconds: Double) {
    status = reply.status
    code = reply.code
    verification = reply.verification
    session = reply.session?.text ?? session
    self.seconds = seconds
  }
}

/// Writes log lines to a file descriptor on a separate thread, so that a slow reader delays no request. Lines that
/// do not fit into the buffer are dropped, and their number is logged.
final class LogWriter: Sendable {
  private static let capacity = 1 << 20
  /// The maximum time that `close` waits for a stalled reader.
  private static let closingGrace = Duration.seconds(2)
  /// Microseconds that a line waits for further lines, so that all are written together. Waking the thread costs more
  /// than writing.
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
  // Safe to share: any thread may call sem_post and sem_wait. The thread holds a reference until it ends.
  nonisolated(unsafe) private let wake = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  /// Starts the thread. It runs until `close`.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    // If the log's reader goes away, the server must continue.
    signal(SIGPIPE, SIG_IGN)
    sem_init(wake, 0, 0)
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

  /// Returns once all lines are written, or after `closingGrace`.
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

  /// Writes the bytes. Lines are lost if the reader has closed its end.
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

extension Timestamp {
  package static func systemNow() -> Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
