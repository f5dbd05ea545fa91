import Base
import CMicrohttpd

/// One request and its reply, from the request line to the last byte sent.
///
/// libmicrohttpd's thread and the handler's task both hold it. Its phases only go forwards. The caller that moves it
/// from `handling` to `answered` resumes the connection, so that it is resumed exactly once.
final class HTTPExchange: Sendable {
  enum Phase {
    /// The request line has arrived, the header fields have not.
    case opening
    /// The header was accepted and the body is arriving.
    case receiving
    /// The request is refused. The rest of its body is read and dropped, so that the sender reads the reply.
    case dropping(Reply)
    /// The connection is suspended and the handler runs.
    case handling
    /// The reply waits for libmicrohttpd's thread to pick it up.
    case answered(Reply)
    /// libmicrohttpd has the reply.
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
    var isLast = false
    var task: Task<Void, Never>?
  }

  let connection: AcceptedConnection
  /// The target as received, with its query. libmicrohttpd decodes its own copy in place right afterwards.
  let target: [UInt8]
  private let state = Locked(State())

  /// The request as far as its target tells it, for the refusal of one whose header cannot be read.
  var bareRequest: HTTPRequest {
    HTTPRequest(method: "", path: String(decoding: target.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self))
  }

  init(connection: AcceptedConnection, target: [UInt8]) {
    self.connection = connection
    self.target = target
  }

  var phase: Phase { state.withLock { $0.phase } }

  /// Whether the connection closes behind this request's reply: it is uncertain where another request would begin.
  var isLast: Bool {
    get { state.withLock { $0.isLast } }
    set { state.withLock { $0.isLast = newValue } }
  }

  /// Whether the handler's answer is still awaited.
  var isBeingHandled: Bool {
    if case .handling = phase { return true }
    return false
  }

  /// Whether the header has been read. A stopping server waits for the requests that have one.
  var hasHeader: Bool {
    if case .opening = phase { return false }
    return true
  }

  /// Takes the header. Reserves at most 64 KiB for the declared body, since a peer can declare a length and never send
  /// it.
  ///
  /// - Parameter hold: the body's part of the memory for bodies; nil if there is no body.
  func accept(_ request: HTTPRequest, contentLength: Int, hold: BodyHold?) {
    state.withLock { state in
      state.phase = .receiving
      state.request = request
      state.hold = hold
      state.body.reserveCapacity(min(contentLength, 64 << 10))
    }
  }

  /// Adds bytes of the body. Returns false if the body would exceed `limit` or the memory for bodies.
  func append(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
    let (count, hold) = state.withLock { ($0.body.count, $0.hold) }
    guard bytes.count <= limit - count, hold?.take(bytes.count) ?? true else { return false }
    state.withLock { $0.body.append(contentsOf: bytes) }
    return true
  }

  /// Refuses the request. The reply is sent after the body, which is dropped.
  func refuse(with reply: Reply) {
    state.withLock { $0.phase = .dropping(reply) }
  }

  /// Counts dropped bytes of a refused body. Returns false if there are more of them than a reply is worth.
  func drop(_ count: Int) -> Bool {
    state.withLock { state in
      state.dropped += count
      return state.dropped <= Limits.droppedBodyBytes
    }
  }

  /// Releases the body's memory. Called when the reply was written or can no longer be sent.
  func end() { state.withLock { $0.hold.take() }?.release() }

  /// Hands the whole request over for handling; nil if it was handed over before.
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

  /// Keeps the task, so that it can be cancelled if its answer is no longer needed. If that is so already, cancels it
  /// at once.
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

  /// Sets the reply. Returns true for the first caller only, which must then resume the connection.
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

/// Holds the suspended connections: stopping libmicrohttpd while it has any is undefined behaviour.
///
/// An exchange is in here from its suspension until `MHD_resume_connection` has *returned*. Once this is closed and
/// empty, no connection is suspended and no call that touches the daemon is under way.
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

  /// Whether `close` was called. It answers all exchanges, so that no handling needs to begin.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Adds a suspended exchange. Returns false if the server takes no more; the caller then answers and resumes it
  /// itself.
  func add(_ exchange: HTTPExchange, _ handle: Handle, _ request: HTTPRequest) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.entries[ObjectIdentifier(exchange)] = Entry(exchange: exchange, handle: handle, request: request)
      return true
    }
  }

  /// Sets the reply and resumes the connection, unless the exchange was answered before.
  func answer(_ exchange: HTTPExchange, _ handle: Handle, with reply: HTTPExchange.Reply) {
    guard exchange.answer(reply) else { return }
    MHD_resume_connection(handle.pointer)
    _ = state.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(exchange)) }
  }

  /// Ends an exchange whose peer is gone: its task is cancelled, and the reply goes nowhere.
  func abandon(_ exchange: HTTPExchange) {
    guard let entry = state.withLock({ $0.entries[ObjectIdentifier(exchange)] }) else { return }
    answer(exchange, entry.handle, with: .init(response: HTTPResponse(status: 503), closes: true))
  }

  /// Takes no more exchanges, and answers all that there are, each with a reply of its own.
  func close(answering reply: (HTTPRequest) -> HTTPExchange.Reply) {
    let remaining = state.withLock { state in
      state.isClosed = true
      return Array(state.entries.values)
    }
    for entry in remaining { answer(entry.exchange, entry.handle, with: reply(entry.request)) }
  }
}
