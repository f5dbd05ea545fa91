import Glibc
import TestSupport
import Testing

@testable import HTTP

private let request = "GET /p HTTP/1.1\r\nHost: a\r\n\r\n"

/// A server that cannot start says why.
@Suite(.onOwnThreads) struct StartTests {
  @Test func `what cannot be listened on is said`() async throws {
    try await withServer { server in
      var configuration = HTTPServerConfiguration()
      configuration.port = server.port
      #expect(throws: HTTPServerError.cannotListen(address: "127.0.0.1", port: server.port, errno: EADDRINUSE)) {
        try HTTPServer(configuration: configuration, handler: EchoHandler())
      }
      configuration.address = "localhost"
      #expect(throws: HTTPServerError.invalidAddress("localhost")) {
        try HTTPServer(configuration: configuration, handler: EchoHandler())
      }
      configuration.idleTimeout = 0
      #expect(throws: HTTPServerError.invalidLimit("idleTimeout")) {
        try HTTPServer(configuration: configuration, handler: EchoHandler())
      }
    }
  }

  /// Without it the process would end at the first reply to a client that has left.
  @Test func `a broken pipe is an error and not a signal`() async throws {
    try await withServer { _ in
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      close(ends[0])
      var byte: UInt8 = 0
      #expect(write(ends[1], &byte, 1) == -1)
      #expect(errno == EPIPE)
      close(ends[1])
    }
  }
}
