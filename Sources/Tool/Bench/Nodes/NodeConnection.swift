/// A kept connection to one node, made again after each fault: no fault of a node is one of the load's.
// Used by one thread.
final class NodeConnection {
  private let port: UInt16
  private let token: String
  private var connection: KeptConnection?

  init(port: UInt16, token: String) {
    self.port = port
    self.token = token
  }

  /// Nil where no reply came: the request may have been carried out or not.
  func call(_ method: String, _ path: String, _ body: [UInt8] = []) -> KeptConnection.Reply? {
    send(method, path, body) ? receive() : nil
  }

  /// False where not all of the request could be sent.
  func send(_ method: String, _ path: String, _ body: [UInt8]) -> Bool {
    do {
      let open = if let connection { connection } else { try KeptConnection(port: port, token: token) }
      connection = open
      try open.send(method, path, body)
      return true
    } catch {
      connection = nil
      return false
    }
  }

  func receive() -> KeptConnection.Reply? {
    guard let reply = try? connection?.receiveReply() else {
      connection = nil
      return nil
    }
    // What the server sends before it closes is its last word on this connection.
    if reply.closes { connection = nil }
    return reply
  }

  /// Before a pause in which the node may close it.
  func close() { connection = nil }
}
