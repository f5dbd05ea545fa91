import Base
import CMicrohttpd

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
