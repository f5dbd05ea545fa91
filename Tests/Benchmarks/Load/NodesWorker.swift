import Base
import Glibc
import TestMode

/// One client of all nodes: creates a session at one of them, and posts its response to two at the same moment.
// Sendable by use: one thread at a time runs it, and the benchmark waits for all of them before the next step.
final class NodesWorker: @unchecked Sendable {
  private let nodes: [NodeConnection]
  private let wallet: LoadWallet
  private let watch: LoadWatch
  private(set) var entries: [LedgerEntry] = []
  /// Creations that were not acknowledged, counted by the reply.
  private(set) var notCreated: [LedgerReply: Int] = [:]

  /// Microseconds to wait after a creation was not acknowledged.
  private static let pause: UInt32 = 20_000

  /// - Parameter ports: at least two; the same node may be named twice.
  init(ports: [UInt16], token: String, wallet: LoadWallet, watch: LoadWatch) {
    nodes = ports.map { NodeConnection(port: $0, token: token) }
    self.wallet = wallet
    self.watch = watch
  }

  /// Creates sessions and posts their responses until the load is over.
  func load() {
    while watch.begin() {
      let turns = watch.turns
      guard var entry = createSession() else {
        watch.giveBack()
        usleep(Self.pause)
        continue
      }
      entry = submitTwice(entry)
      entry.isDisturbed = !turns.isMultiple(of: 2) || watch.turns != turns
      entries.append(entry)
    }
    close()
  }

  func close() { for node in nodes { node.close() } }

  // MARK: Steps

  private func createSession() -> LedgerEntry? {
    let node = Int.random(in: nodes.indices)
    let sent = watch.now
    let reply = nodes[node].call("POST", "/v1/verification_sessions", ServerBenchmarkWorker.requestBytes)
    watch.note(node, sentAt: sent, answers: reply?.status == 201, verified: false)
    guard let reply, reply.status == 201, let session = try? JSON(parsing: reply.body), let id = session["id"]?.string,
      let answer = wallet.answer(session)
    else {
      let said = LedgerReply(reply)
      notCreated[said, default: 0] += 1
      // A reply that no fault excuses, such as one to an unknown key, would recur for ever.
      if !said.leavesInDoubt { watch.end() }
      return nil
    }
    return LedgerEntry(session: id, nodes: [node], answer: answer)
  }

  /// Posts the response to two nodes. Both requests are sent before the first reply is read.
  private func submitTwice(_ entry: LedgerEntry) -> LedgerEntry {
    guard let answer = entry.answer else { return entry }
    let order = Array(nodes.indices.shuffled().prefix(2))
    let path = "/v1/verification_sessions/\(entry.session)/submit"
    let sent = watch.now
    let isSent = order.map { nodes[$0].send("POST", path, answer) }
    let replies = zip(order, isSent).map { node, isSent in
      note(isSent ? nodes[node].receive() : nil, from: node, sentAt: sent)
    }
    var entry = entry
    entry.nodes += order
    entry.replies += replies
    if !entry.replies.allSatisfy(\.leavesInDoubt) { entry.answer = nil }
    return entry
  }

  private func note(_ reply: ClientConnection.Reply?, from node: Int, sentAt sent: Double) -> LedgerReply {
    let said = LedgerReply(reply)
    watch.note(node, sentAt: sent, answers: !said.leavesInDoubt, verified: said == .verified)
    return said
  }

  // MARK: Settling

  /// Reads every session that has not ended, from a node that has not been called for it. If its challenge is still
  /// open, the response is submitted once more.
  func settle() {
    for index in entries.indices where !entries[index].end.isFinal {
      entries[index].end = end(of: entries[index])
      guard entries[index].end == .requiresInput, entries[index].answer != nil else { continue }
      entries[index] = submitTwice(entries[index])
      entries[index].end = end(of: entries[index])
    }
    close()
  }

  private func end(of entry: LedgerEntry) -> LedgerEntry.End {
    // First a node that was not called for the session, then any.
    let others = nodes.indices.filter { !entry.nodes.contains($0) }
    for node in others.shuffled() + nodes.indices.shuffled() {
      guard let reply = nodes[node].call("GET", "/v1/verification_sessions/\(entry.session)") else { continue }
      if reply.status == 404 { return .unknown }
      guard reply.status == 200, let session = try? JSON(parsing: reply.body) else { continue }
      return LedgerEntry.End(
        status: session["status"]?.string, code: session["last_error"]?["code"]?.string)
    }
    return .unread
  }

  func noteEvents(_ verified: [String: Int]) {
    for index in entries.indices { entries[index].verifiedEvents = verified[entries[index].session] ?? 0 }
  }
}

extension LedgerEntry.End {
  var isFinal: Bool {
    switch self {
    case .requiresInput, .processing, .unread: false
    case .verified, .ended, .unknown: true
    }
  }
}

/// A kept connection to one node. It is opened again after each fault, so that a node's fault does not end the load.
// Used by one thread.
final class NodeConnection {
  private let port: UInt16
  private let token: String
  private var connection: ClientConnection?

  init(port: UInt16, token: String) {
    self.port = port
    self.token = token
  }

  /// Nil if no reply came. The request may have been handled nevertheless.
  func call(_ method: String, _ path: String, _ body: [UInt8] = []) -> ClientConnection.Reply? {
    send(method, path, body) ? receive() : nil
  }

  /// False if the request could not be sent as a whole.
  func send(_ method: String, _ path: String, _ body: [UInt8]) -> Bool {
    do {
      let open = if let connection { connection } else { try ClientConnection(port: port, token: token) }
      connection = open
      try open.send(method, path, body)
      return true
    } catch {
      connection = nil
      return false
    }
  }

  func receive() -> ClientConnection.Reply? {
    guard let reply = try? connection?.receive() else {
      connection = nil
      return nil
    }
    // After this reply the server takes no further request on the connection.
    if reply.closes { connection = nil }
    return reply
  }

  /// Closes the connection before a pause in which the node might close it.
  func close() { connection = nil }
}
