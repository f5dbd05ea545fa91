import TestSupport
import Testing

@testable import HTTP

private let request = "GET /p HTTP/1.1\r\nHost: a\r\n\r\n"

/// Peers that leave before they should.
@Suite(.onOwnThreads) struct DisconnectTests {
  @Test func `clients that leave while their request is handled do no harm`() async throws {
    let handler = GateHandler()
    try await withServer(handler: handler) { server in
      let port = server.port
      let clients = try await blocking { () -> Held<[RawClient]> in
        Held(
          try (0..<20).map { _ in
            let client = try RawClient(port: port)
            client.send(request)
            return client
          })
      }
      #expect(await eventually { handler.arrived == 20 })
      clients.value.removeAll()
      handler.open()
      #expect(await eventually { handler.answered == 20 })
      #expect(await eventually { server.core.unfinished.load(ordering: .acquiring) == 0 })
      #expect(server.core.inFlight.load(ordering: .acquiring) == 0)
      let status = try await ask(port, request).status
      #expect(status == 200)
    }
  }

  @Test func `a held request ends with its peer, and frees its connection`() async throws {
    let handler = GateHandler(holds: true)
    try await withServer(handler: handler) { server in
      let port = server.port
      let clients = try await blocking { () -> Held<[RawClient]> in
        Held(
          try (0..<20).map { _ in
            let client = try RawClient(port: port)
            client.send(request)
            return client
          })
      }
      #expect(await eventually { handler.arrived == 20 })
      clients.value.removeLast(19)
      // The gate stays closed: only the loss of the peers ends their requests.
      #expect(await eventually { handler.cancelled == 19 && server.connectionCount == 1 })
      #expect(handler.answered == 19 && server.core.inFlight.load(ordering: .acquiring) == 1)
      handler.open()
      let status = try await blocking { try clients.value.first?.response().status }
      #expect(status == 200)
    }
  }

  /// An HTTP/1.1 client has no reason to close its side early, and a full close looks the same.
  @Test func `a half-closed connection counts as closed while its request is held`() async throws {
    let handler = GateHandler(holds: true)
    try await withServer(handler: handler) { server in
      let port = server.port
      let received = try await blocking {
        let client = try RawClient(port: port)
        client.send(request)
        client.finishSending()
        return try client.untilClosed()
      }
      #expect(received == "")
      #expect(await eventually { handler.cancelled == handler.arrived && server.connectionCount == 0 })
    }
  }

  @Test func `clients that leave within a body are forgotten by the deadline`() async throws {
    try await withServer {
      $0.requestDeadline = 1
    } _: { server in
      let port = server.port
      try await blocking {
        for _ in 0..<20 {
          let client = try RawClient(port: port)
          client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
        }
      }
      #expect(await eventually { server.core.unfinished.load(ordering: .acquiring) == 0 })
    }
  }

  /// The query exhausts libmicrohttpd's memory. It then waits, and reports nothing when the connection ends.
  @Test func `a request whose end is not announced is freed with its connection`() async throws {
    try await withServer {
      $0.requestDeadline = 5
    } _: { server in
      let port = server.port
      let members = String(repeating: "a&", count: 1000)
      let client = try await blocking { () -> Held<RawClient?> in
        let client = try RawClient(port: port)
        client.send("GET /?\(members) HTTP/1.1\r\nHost: a\r\n\r\n")
        return Held(client)
      }
      #expect(await eventually { server.core.sweeper.connections.first?.exchange != nil })
      weak let exchange = server.core.sweeper.connections.first?.exchange
      #expect(exchange != nil)
      client.value = nil
      #expect(await eventually(within: 20) { server.connectionCount == 0 })
      // An enumeration of the connections may hold it a little longer.
      #expect(await eventually { exchange == nil })
    }
  }
}
