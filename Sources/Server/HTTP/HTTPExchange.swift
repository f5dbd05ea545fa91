import Base
import CMicrohttpd

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

  let connection: AcceptedConnection
  /// As received, query included; libmicrohttpd decodes its own copy in place right after.
  let target: [UInt8]
  private let state = Locked(State())

  init(connection: AcceptedConnection, target: [UInt8]) {
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

/// The suspended connections, because stopping libmicrohttpd while it has any is undefined behaviour.
///
/// An exchange is in here from its suspension until `MHD_resume_connection` has *returned*; once closed and empty there
/// is nothing suspended and no call under way that touches the daemon.
final class SuspendedExchanges: Sendable {
  /// A connection as libmicrohttpd names it.
  // Sendable by use: the pointer is only passed to MHD_resume_connection, which may be called from any thread, and a
  // suspended connection is neither closed nor freed until that call.
  struct Handle: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private struct Entry {
    let exchange: HTTPExchange
    let handle: Handle
    let request: HTTPRequest
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

  /// Whether whoever closed it answers all there are, so that nobody else needs to begin.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// False when the server takes no more; the caller then answers and resumes by itself.
  func add(_ exchange: HTTPExchange, _ handle: Handle, _ request: HTTPRequest) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.entries[ObjectIdentifier(exchange)] = Entry(exchange: exchange, handle: handle, request: request)
      return true
    }
  }

  /// Sets the reply and resumes, unless somebody else has answered before.
  func answer(_ exchange: HTTPExchange, _ handle: Handle, with reply: HTTPExchange.Reply) {
    guard exchange.answer(reply) else { return }
    MHD_resume_connection(handle.pointer)
    _ = state.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(exchange)) }
  }

  /// Takes no more, and answers all there are, each with a reply of its own.
  func close(answering reply: (HTTPRequest) -> HTTPExchange.Reply) {
    let remaining = state.withLock { state in
      state.isClosed = true
      return Array(state.entries.values)
    }
    for entry in remaining { answer(entry.exchange, entry.handle, with: reply(entry.request)) }
  }
}
