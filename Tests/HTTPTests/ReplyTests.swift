import TestSupport
import Testing

@testable import HTTP

private let request = "GET /p HTTP/1.1\r\nHost: a\r\n\r\n"

/// The fate of the handler's reply, and the handler's input.
@Suite(.onOwnThreads) struct ReplyTests {
  @Test(arguments: [
    HTTPResponse(status: 99), HTTPResponse(status: 600), HTTPResponse(status: 200, headers: [("X-A", "1\r\nX-B: 2")]),
    HTTPResponse(status: 200, headers: [("X A", "1")]), HTTPResponse(status: 200, headers: [("X-A", "")]),
    HTTPResponse(status: 200, headers: [("X-A:", "1")]), HTTPResponse(status: 200, headers: [("X-A", "1\u{0}2")]),
  ])
  func `a reply that cannot be sent becomes an empty 500`(reply: HTTPResponse) async throws {
    try await withServer(handler: Fixed(reply: reply)) { server in
      let response = try await ask(server.port, request)
      #expect(response.status == 500)
      #expect(response.body == "")
    }
  }

  @Test func `the transport alone says how long a reply is`() async throws {
    let reply = HTTPResponse(
      status: 200, headers: [("content-length", "99"), ("Transfer-Encoding", "chunked")], body: [0x61])
    try await withServer(handler: Fixed(reply: reply)) { server in
      let response = try await ask(server.port, request)
      #expect(response.header("Content-Length") == "1")
      #expect(response.header("Transfer-Encoding") == nil)
      #expect(response.body == "a")
    }
  }

  @Test(arguments: [204, 304])
  func `a reply without content has neither body nor length of one`(status: Int) async throws {
    try await withServer(handler: Fixed(reply: HTTPResponse(status: status))) { server in
      let port = server.port
      let (first, second) = try await blocking { () -> (RawClient.Response, RawClient.Response) in
        let client = try RawClient(port: port)
        client.send(request + request)
        return (try client.response(), try client.response())
      }
      #expect([first.status, second.status] == [status, status])
      #expect(first.header("Content-Length") == nil || status == 304)
    }
  }

  @Test func `a handler may close the connection`() async throws {
    let reply = HTTPResponse(status: 200, headers: [("Connection", "close")], body: [0x61])
    try await withServer(handler: Fixed(reply: reply)) { server in
      let port = server.port
      let rest = try await blocking { () -> String in
        let client = try RawClient(port: port)
        client.send(request)
        _ = try client.response()
        return try client.untilClosed()
      }
      #expect(rest == "")
    }
  }

  @Test func `the peer's address is numeric, on a dual-stack socket too`() async throws {
    for address in ["127.0.0.1", "::"] {
      try await withServer(handler: Address()) {
        $0.address = address
      } _: { server in
        let response = try await ask(server.port, request)
        #expect(response.body == "127.0.0.1")
      }
    }
  }

  private struct Fixed: HTTPHandler {
    let reply: HTTPResponse
    func respond(to request: HTTPRequest) async -> HTTPResponse { reply }
    func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse { HTTPResponse(status: error.status) }
  }

  private struct Address: HTTPHandler {
    func respond(to request: HTTPRequest) async -> HTTPResponse {
      HTTPResponse(status: 200, body: Array(request.remoteAddress.utf8))
    }
    func refusal(_ error: HTTPError, of request: HTTPRequest?) -> HTTPResponse { HTTPResponse(status: error.status) }
  }
}
