import TestSupport
import Testing

/// The server's behaviour for exact bytes on the wire. Each case has its own server.
@Suite(.onOwnThreads) struct ConformanceTests {
  @Test(arguments: ConformanceCase.proper)
  func `a proper request is answered`(_ example: ConformanceCase) async throws { try await run(example) }

  @Test(arguments: ConformanceCase.ambiguousLengths)
  func `an ambiguous length is refused`(_ example: ConformanceCase) async throws { try await run(example) }

  @Test(arguments: ConformanceCase.chunks + ConformanceCase.brokenChunks)
  func `of a body in chunks comes one request at most`(_ example: ConformanceCase) async throws {
    try await run(example)
  }

  @Test(arguments: ConformanceCase.ambiguousHeaders)
  func `an ambiguous header is refused`(_ example: ConformanceCase) async throws { try await run(example) }

  @Test(arguments: ConformanceCase.requestLines)
  func `a request line that is none is refused`(_ example: ConformanceCase) async throws { try await run(example) }

  @Test(arguments: ConformanceCase.sizes)
  func `more than the limits allow is refused`(_ example: ConformanceCase) async throws { try await run(example) }

  /// The check compares addresses inside libmicrohttpd's buffer, so that a header in pieces must pass it too.
  @Test(arguments: [1, 7, 1000])
  func `a header that arrives in pieces is read the same`(size: Int) async throws {
    try await withServer { server in
      let port = server.port
      let filler = String(repeating: "v", count: size == 1 ? 20 : 6000)
      let text = "POST /p?a=b HTTP/1.1\r\nHost: a\r\nX-Other: \(filler)\r\nX-Test: 1\r\nContent-Length: 2\r\n\r\nhi"
      let response = try await blocking { () -> RawClient.Response in
        let client = try RawClient(port: port)
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
          client.send(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        return try client.response()
      }
      #expect(response.status == 200)
      #expect(response.body == "POST /p a=b [1] hi")
    }
  }

  @Test func `HEAD has the length of the body and no body`() async throws {
    try await withServer { server in
      let port = server.port
      let (head, next) = try await blocking { () -> (RawClient.Response, RawClient.Response) in
        let client = try RawClient(port: port)
        client.send("HEAD /p HTTP/1.1\r\nHost: a\r\n\r\nGET /p HTTP/1.1\r\nHost: a\r\n\r\n")
        return (try client.response(hasBody: false), try client.response())
      }
      #expect(head.status == 200)
      #expect(head.header("Content-Length") == String("HEAD /p  [] ".count))
      #expect(head.header("Date") != nil)
      #expect(next.body == "GET /p  [] ")
    }
  }

  @Test func `a large body comes back whole`() async throws {
    try await withServer { server in
      let port = server.port
      let body = String(repeating: "0123456789", count: 90_000)
      let response = try await blocking { () -> RawClient.Response in
        let client = try RawClient(port: port)
        client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        return try client.response()
      }
      #expect(response.body == "POST /p  [] " + body)
    }
  }

  private func run(_ example: ConformanceCase) async throws {
    try await withServer {
      $0.maxBodyBytes = ConformanceLimits.body
      $0.maxHeaderBytes = ConformanceLimits.header
      // A case that leaves the server waiting for bytes shows as a missing reply, not as a slow test.
      $0.requestDeadline = 5
    } _: { server in
      let port = server.port
      let (replies, rest) = try await blocking { () -> ([RawClient.Response], String?) in
        let client = try RawClient(port: port)
        client.send(example.bytes)
        var replies: [RawClient.Response] = []
        for _ in example.replies { replies.append(try client.response()) }
        guard case .keptAlive = example.ending else { return (replies, try client.untilClosed()) }
        client.send("GET /probe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let probe = try client.response()
        #expect(probe.body == "GET /probe  [] ")
        return (replies, nil)
      }
      #expect(replies.map(Self.kind) == example.replies)
      if case .closed = example.ending { #expect(rest == "") }
      if rest != nil, let last = replies.last { #expect(last.header("Connection")?.lowercased() == "close") }
    }
  }

  /// Every refusal is in the edge's words: libmicrohttpd's own page would have another status here.
  private static func kind(_ response: RawClient.Response) -> ConformanceCase.Reply {
    switch response.status {
    case 100: .proceed
    case 200: .handled(response.body)
    default: .refused(response.header("X-Refused-By") == "edge" ? response.status : -response.status)
    }
  }
}
