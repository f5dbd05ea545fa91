import Base

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
    /// The request is refused, and the rest of its body read and dropped, so that its sender reads the reply.
    case dropping(Reply)
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
    var hold: BodyHold?
    var dropped = 0
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

  /// False until the header was looked at; a stopping server waits for those that have one.
  var hasHeader: Bool {
    if case .opening = phase { return false }
    return true
  }

  /// Takes the header; reserves for the declared body only what a peer may claim without sending it.
  /// - Parameter hold: what the body will take of the memory for bodies, where there is to be one.
  func accept(_ request: HTTPRequest, contentLength: Int, hold: BodyHold?) {
    state.withLock { state in
      state.phase = .receiving
      state.request = request
      state.hold = hold
      state.body.reserveCapacity(min(contentLength, 64 << 10))
    }
  }

  /// Adds bytes of the body; false when that makes it larger than the limit, or than there is memory for.
  func append(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
    let (count, hold) = state.withLock { ($0.body.count, $0.hold) }
    guard bytes.count <= limit - count, hold?.take(bytes.count) ?? true else { return false }
    state.withLock { $0.body.append(contentsOf: bytes) }
    return true
  }

  /// Refuses the request with this reply, which follows its body.
  func refuse(with reply: Reply) {
    state.withLock { $0.phase = .dropping(reply) }
  }

  /// Passes over bytes of a refused body; false when they are more than that is worth.
  func drop(_ count: Int) -> Bool {
    state.withLock { state in
      state.dropped += count
      return state.dropped <= Limits.droppedBodyBytes
    }
  }

  /// The reply was written, or nobody takes it any more.
  func end() { state.withLock { $0.hold.take() }?.release() }

  /// Hands the whole request over to be handled.
  func beginHandling() -> HTTPRequest? {
    state.withLock { state in
      guard var request = state.request.take() else { return nil }
      state.phase = .handling
      request.body = state.body
      request.hold = state.hold
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
