import Primitives

/// One request and its reply, from the request line to the last byte sent.
///
/// libmicrohttpd's thread and the handler's task both hold it. Its phases only go forwards, and whoever moves it from
/// `handling` to `answered` is the one that resumes the connection, so that this happens exactly once.
final class HTTPExchange: Sendable {
  enum Phase {
    /// The request line is here, the header fields not yet.
    case opening
    /// The header was accepted and the body is arriving.
    case receiving
    /// The connection is suspended and the handler runs.
    case handling
    /// The reply waits for libmicrohttpd's thread to pick it up.
    case answered(Reply)
    /// The reply is libmicrohttpd's.
    case queued
  }

  struct Reply: Sendable {
    let response: HTTPResponse
    let closes: Bool
  }

  private struct State {
    var phase = Phase.opening
    var request: HTTPRequest?
    var body: [UInt8] = []
    /// Of the body, also after it was handed over.
    var received = 0
    var task: Task<Void, Never>?
  }

  let connection: ClientConnection
  /// As received, query included; libmicrohttpd decodes its own copy in place right after.
  let target: [UInt8]
  private let state = Locked(State())

  init(connection: ClientConnection, target: [UInt8]) {
    self.connection = connection
    self.target = target
  }

  var phase: Phase { state.withLock { $0.phase } }

  /// Whether its answer is still waited for.
  var isBeingHandled: Bool {
    if case .handling = phase { return true }
    return false
  }

  /// Bytes of its body that have come.
  var receivedBytes: Int { state.withLock { $0.received } }

  /// False until the header was looked at; a stopping server waits for those that have one.
  var hasHeader: Bool {
    if case .opening = phase { return false }
    return true
  }

  /// Takes the header; reserves for the declared body only what a peer may claim without sending it.
  func accept(_ request: HTTPRequest, contentLength: Int) {
    state.withLock { state in
      state.phase = .receiving
      state.request = request
      state.body.reserveCapacity(min(contentLength, 64 << 10))
    }
  }

  /// Adds bytes of the body; false when that makes it larger than the limit.
  func append(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
    state.withLock { state in
      guard bytes.count <= limit - state.body.count else { return false }
      state.body.append(contentsOf: bytes)
      state.received += bytes.count
      return true
    }
  }

  /// Hands the whole request over to be handled.
  func beginHandling() -> HTTPRequest? {
    state.withLock { state in
      guard var request = state.request.take() else { return nil }
      state.phase = .handling
      request.body = state.body
      state.body = []
      return request
    }
  }

  /// Lets the task be cancelled once nobody waits for its answer.
  func attach(_ task: Task<Void, Never>) {
    let isLate = state.withLock { state in
      if case .handling = state.phase {
        state.task = task
        return false
      }
      return true
    }
    if isLate { task.cancel() }
  }

  /// Sets the reply; true for the one caller that must now resume the connection.
  func answer(_ reply: Reply) -> Bool {
    let (isFirst, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      guard case .handling = state.phase else { return (false, nil) }
      state.phase = .answered(reply)
      return (true, state.task.take())
    }
    // Harmless when the task itself is the caller: it has nothing left to do.
    task?.cancel()
    return isFirst
  }

  func markQueued() {
    state.withLock { $0.phase = .queued }
  }
}
