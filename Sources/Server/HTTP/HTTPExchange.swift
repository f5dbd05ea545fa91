import Base
import CMicrohttpd

/// One request and its reply. Its phase only advances. Only the caller that sets the phase `replied` resumes the
/// connection. The connection is thus resumed exactly once.
final class HTTPExchange: Sendable {
  enum Phase {
    /// The request line has arrived; the header fields have not.
    case opening
    case receiving
    /// The request was refused. The server reads and drops the rest of its body, since the sender reads the reply only
    /// after that.
    case dropping(HTTPResponse)
    case handling
    /// The reply waits for libmicrohttpd's thread to pick it up.
    case replied(HTTPResponse)
    /// libmicrohttpd has the reply.
    case queued
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

  /// A request that contains only the target's path. Used to refuse a request with an unreadable header.
  var bareRequest: HTTPRequest {
    HTTPRequest(method: "", path: String(decoding: target.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self))
  }

  init(connection: AcceptedConnection, target: [UInt8]) {
    self.connection = connection
    self.target = target
  }

  var phase: Phase { state.withLock { $0.phase } }

  /// True if the connection closes after this request's reply, because the start of the next request is uncertain.
  var isLast: Bool {
    get { state.withLock { $0.isLast } }
    set { state.withLock { $0.isLast = newValue } }
  }

  var isBeingHandled: Bool { if case .handling = phase { true } else { false } }

  /// True once the header has been read. A stopping server waits for such requests.
  var hasHeader: Bool { if case .opening = phase { false } else { true } }

  /// Stores the request's header. Reserves at most 64 KiB, since a peer can declare a length and never send the body.
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

  /// Refuses the request. The reply is sent after the rest of the body is read and dropped.
  func refuse(with reply: HTTPResponse) { state.withLock { $0.phase = .dropping(reply) } }

  /// Counts dropped bytes of a refused body. Returns false above `Limits.droppedBodyBytes`.
  func drop(_ count: Int) -> Bool {
    state.withLock { state in
      state.dropped += count
      return state.dropped <= Limits.droppedBodyBytes
    }
  }

  /// Releases the body's memory after the reply is written or fails.
  func end() { state.withLock { $0.hold.take() }?.release() }

  /// Takes the whole request for handling. Returns nil if it was already taken.
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

  /// Stores the task, so that it can be cancelled once its reply is no longer needed. If the reply is already
  /// unnecessary, cancels the task now.
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
  func set(_ reply: HTTPResponse) -> Bool {
    let (isFirst, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      guard case .handling = state.phase else { return (false, nil) }
      state.phase = .replied(reply)
      return (true, state.task.take())
    }
    // This is harmless if the task itself is the caller: the task has nothing left to do.
    task?.cancel()
    return isFirst
  }

  func markQueued() { state.withLock { $0.phase = .queued } }
}

/// Holds the suspended connections. Stopping libmicrohttpd while any connection is suspended is undefined behaviour.
///
/// An exchange is held from its suspension until `MHD_resume_connection` has *returned*. Once this object is closed and
/// empty, no connection is suspended and no thread uses the daemon.
final class SuspendedExchanges: Sendable {
  /// libmicrohttpd's pointer to a connection.
  // Sendable by use: the pointer is only passed to MHD_resume_connection, which any thread may call. Until that call
  // a suspended connection is neither closed nor freed.
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

  /// True once `close` has been called. `close` replies to all exchanges, so no handling needs to begin.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Adds a suspended exchange. Returns false once this object is closed; the caller must then reply.
  func add(_ exchange: HTTPExchange, _ handle: Handle, _ request: HTTPRequest) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.entries[ObjectIdentifier(exchange)] = Entry(exchange: exchange, handle: handle, request: request)
      return true
    }
  }

  /// Sets the reply and resumes the connection, unless the exchange already has a reply.
  func reply(to exchange: HTTPExchange, _ handle: Handle, with reply: HTTPResponse) {
    guard exchange.set(reply) else { return }
    MHD_resume_connection(handle.pointer)
    _ = state.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(exchange)) }
  }

  /// Ends an exchange whose peer is gone: cancels its task and drops the reply.
  func abandon(_ exchange: HTTPExchange) {
    guard let entry = state.withLock({ $0.entries[ObjectIdentifier(exchange)] }) else { return }
    reply(to: exchange, entry.handle, with: HTTPResponse(status: 503).closing(true))
  }

  /// Refuses further exchanges, and replies to each current exchange with a refusal.
  func close(_ refusal: (HTTPRequest) -> HTTPResponse) {
    let remaining = state.withLock { state in
      state.isClosed = true
      return Array(state.entries.values)
    }
    for entry in remaining { reply(to: entry.exchange, entry.handle, with: refusal(entry.request)) }
  }
}

/// The sender to which a body's memory is charged.
package enum BodyOwner: Hashable, Sendable {
  case relyingParty(Flow)
  /// Any other sender, identified by its address; nil if the proxy does not state the address.
  case address(ClientAddress?)

  package var hasKey: Bool { if case .relyingParty = self { true } else { false } }
}

/// Bounds the memory for bodies and their decoded forms: in total, for each sender, and for all senders without an API
/// key.
///
/// A sender's share counts declared lengths, so that the server can refuse a body before it arrives. The total counts
/// only bytes that arrived.
final class BodyBudget: Sendable {
  private struct State {
    var held = 0
    var heldWithoutKey = 0
    var reserved: [BodyOwner: Int] = [:]
  }

  private let state = Locked(State())
  private let limit: Int
  /// The maximum size of one body in bytes. Every share has at least this size. One body therefore always fits into its
  /// sender's share.
  private let largestBody: Int
  private let gauges: TransportGauges

  init(limit: Int, largestBody: Int, gauges: TransportGauges) {
    self.limit = limit
    self.largestBody = largestBody
    self.gauges = gauges
  }

  func hold(_ length: Int, for owner: BodyOwner) throws(BodyBudgetError) -> BodyHold {
    let error: BodyBudgetError? = state.withLock { state in
      guard hasRoom(length, for: owner, in: state) else { return .memory }
      return reserve(length, for: owner, in: &state) ? nil : .share
    }
    if let error { throw error }
    return BodyHold(self, owner, reserved: length)
  }

  /// Charges the memory for bytes that have arrived. Returns false and charges nothing if the bytes exceed a limit.
  fileprivate func take(_ bytes: Int, beyondReserved excess: Int, for owner: BodyOwner) -> Bool {
    state.withLock { state in
      guard hasRoom(bytes, for: owner, in: state), reserve(excess, for: owner, in: &state) else { return false }
      change(&state, by: bytes, owner)
      return true
    }
  }

  fileprivate func release(_ bytes: Int, reserved: Int, of owner: BodyOwner) {
    state.withLock { state in
      change(&state, by: -bytes, owner)
      let rest = (state.reserved[owner] ?? 0) - reserved
      state.reserved[owner] = rest > 0 ? rest : nil
    }
  }

  private func hasRoom(_ bytes: Int, for owner: BodyOwner, in state: State) -> Bool {
    state.held + bytes <= limit
      && (owner.hasKey || state.heldWithoutKey + bytes <= max(limit / 4 * 3, min(largestBody, limit)))
  }

  private func reserve(_ bytes: Int, for owner: BodyOwner, in state: inout State) -> Bool {
    // If the proxy does not state its clients' addresses, all clients look like one sender. Do not limit this sender.
    if case .address(nil) = owner { return true }
    let reserved = (state.reserved[owner] ?? 0) + bytes
    guard bytes == 0 || reserved <= max(limit / (owner.hasKey ? 2 : 8), largestBody) else { return false }
    state.reserved[owner] = reserved > 0 ? reserved : nil
    return true
  }

  private func change(_ state: inout State, by bytes: Int, _ owner: BodyOwner) {
    state.held += bytes
    if !owner.hasKey { state.heldWithoutKey += bytes }
    gauges.bodyBytes.store(state.held, ordering: .relaxed)
  }
}

/// The body is refused: no memory is left for bodies, or the sender has used up its share.
enum BodyBudgetError: Error, Sendable { case memory, share }

/// The memory that one request holds, from the header to the last byte of the reply.
package final class BodyHold: Sendable {
  private struct State {
    var reserved: Int
    var taken = 0
    var isOver = false
  }

  private let budget: BodyBudget
  private let owner: BodyOwner
  private let state: Locked<State>

  fileprivate init(_ budget: BodyBudget, _ owner: BodyOwner, reserved: Int) {
    self.budget = budget
    self.owner = owner
    state = Locked(State(reserved: reserved))
  }

  deinit { release() }

  /// Reserves memory for the body or its decoded form. Returns false and reserves nothing if the bytes exceed a limit.
  package func take(_ bytes: Int) -> Bool {
    // The body of a `Locked` call must not take another lock. Compute the sum first. The sum cannot change meanwhile.
    // Only one thread at a time reads a request, and its handling begins after the last read.
    let (excess, isOver) = state.withLock { (max(0, $0.taken + bytes - $0.reserved), $0.isOver) }
    guard !isOver, budget.take(bytes, beyondReserved: excess, for: owner) else { return false }
    state.withLock { state in
      state.taken += bytes
      state.reserved += excess
    }
    return true
  }

  /// Releases all memory. Further calls do nothing.
  package func release() {
    let (taken, reserved) = state.withLock { state in
      defer { state = State(reserved: 0, isOver: true) }
      return (state.taken, state.reserved)
    }
    guard taken > 0 || reserved > 0 else { return }
    budget.release(taken, reserved: reserved, of: owner)
  }
}
