import COpenSSL
import Cryptography
import TestSupport
import Testing

@testable import HTTP

/// TLS by the transport: the presented certificates and the supported versions.
@Suite(.onOwnThreads) struct TLSTests {
  private static let request = "GET /p HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

  private static func withTLS(
    _ fixture: TLSFixture, _ body: (HTTPServer, TLSIdentities) async throws -> Void
  ) async throws {
    let identities = try TLSIdentities(certificate: fixture.certificate, key: SecretBytes(copying: fixture.key))
    try await withServer {
      $0.tls = identities
    } _: { server in
      try await body(server, identities)
    }
  }

  private static func ask(
    _ server: HTTPServer, trusting fixture: TLSFixture, versions: ClosedRange<Int32> = TLS1_2_VERSION...TLS1_3_VERSION
  ) async throws -> TLSClient.Answer {
    let client = TLSClient(port: server.port, authority: fixture.authority, versions: versions)
    return try await blocking { try client.ask(request) }
  }

  @Test(arguments: [(TLS1_2_VERSION, "TLSv1.2"), (TLS1_3_VERSION, "TLSv1.3")])
  func `both versions are spoken, with authenticated ciphers`(version: Int32, name: String) async throws {
    let fixture = try TLSFixture()
    try await Self.withTLS(fixture) { server, _ in
      let answer = try await Self.ask(server, trusting: fixture, versions: version...version)
      #expect(answer.version == name)
      #expect(answer.cipher.contains("GCM") || answer.cipher.contains("CHACHA20"))
      #expect(answer.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.text.hasSuffix("GET /p  [] "))
    }
  }

  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
  func `a key is agreed on by X25519 where the client can, whatever it prefers`(version: Int32) async throws {
    let fixture = try TLSFixture()
    try await Self.withTLS(fixture) { server, _ in
      for (groups, agreed) in [
        ("P-521:P-256:P-384:X25519", NID_X25519), ("P-384:P-256", NID_X9_62_prime256v1),
      ] {
        var client = TLSClient(port: server.port, authority: fixture.authority, versions: version...version)
        client.groups = groups
        let answer = try await blocking { [client] in try client.ask(Self.request) }
        #expect(answer.group == agreed, "\(groups)")
      }
    }
  }

  @Test(arguments: [TLS1_VERSION, TLS1_1_VERSION])
  func `older versions are refused`(version: Int32) async throws {
    let fixture = try TLSFixture()
    try await Self.withTLS(fixture) { server, _ in
      await #expect(throws: TLSClient.Failure.noHandshake) {
        try await Self.ask(server, trusting: fixture, versions: version...version)
      }
    }
  }

  /// Scanners that rely on their own exit status report otherwise.
  @Test func `a client that asks to renegotiate is answered no more`() async throws {
    let fixture = try TLSFixture()
    try await Self.withTLS(fixture) { server, _ in
      var client = TLSClient(port: server.port, authority: fixture.authority, versions: TLS1_2_VERSION...TLS1_2_VERSION)
      client.renegotiates = true
      let answer = try? await blocking { [client] in try client.ask(Self.request) }
      #expect(answer.map(\.text.isEmpty) ?? true)
      // Another connection is served as before.
      let next = try await Self.ask(server, trusting: fixture)
      #expect(next.text.hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test func `a body of many records arrives whole`() async throws {
    let fixture = try TLSFixture()
    try await Self.withTLS(fixture) { server, _ in
      let body = String(repeating: "0123456789", count: 20_000)
      let client = TLSClient(port: server.port, authority: fixture.authority)
      let answer = try await blocking {
        try client.ask(
          "POST /p HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
      }
      #expect(answer.text.hasSuffix("POST /p  [] " + body))
    }
  }

  @Test func `framing is checked under TLS as without`() async throws {
    let fixture = try TLSFixture()
    try await Self.withTLS(fixture) { server, _ in
      let client = TLSClient(port: server.port, authority: fixture.authority)
      let answer = try await blocking {
        try client.ask(
          "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
      }
      #expect(answer.text.hasPrefix("HTTP/1.1 400 "))
      // libmicrohttpd's own refusals also have the server's wording.
      for request in ["GET /p HTTP/2.0\r\n\r\n", "GET /p\r\n\r\n", "GET /p HTTP/1.1\r\nno colon\r\n\r\n"] {
        let refused = try await blocking { try client.ask(request) }
        #expect(refused.text.hasPrefix("HTTP/1.1 400 ") && refused.text.contains("X-Refused-By: edge\r\n"))
      }
    }
  }

  @Test func `plain HTTP on a TLS port is no request`() async throws {
    let fixture = try TLSFixture()
    try await Self.withTLS(fixture) { server, _ in
      let port = server.port
      let rest = try await blocking { () -> String in
        let client = try RawClient(port: port)
        client.send(Self.request)
        return try client.untilClosed()
      }
      #expect(!rest.contains("HTTP/1.1 200"))
    }
  }

  @Test func `a renewed certificate is shown from then on`() async throws {
    let old = try TLSFixture(name: "old")
    let new = try TLSFixture(name: "new", days: 90)
    try await Self.withTLS(old) { server, identities in
      _ = try await Self.ask(server, trusting: old)
      #expect(identities.expiry == old.notAfter)
      try identities.replace(certificate: new.certificate, key: SecretBytes(copying: new.key))
      _ = try await Self.ask(server, trusting: new)
      #expect(identities.expiry == new.notAfter)
      await #expect(throws: TLSClient.Failure.noHandshake) { try await Self.ask(server, trusting: old) }
      // An unusable identity changes nothing.
      #expect(throws: TLSIdentities.LoadError.self) {
        try identities.replace(certificate: new.certificate, key: SecretBytes(copying: old.key))
      }
      _ = try await Self.ask(server, trusting: new)
    }
  }

  @Test func `two servers of one process each show their own`() async throws {
    let (a, b) = (try TLSFixture(name: "a"), try TLSFixture(name: "b"))
    try await Self.withTLS(a) { first, _ in
      try await Self.withTLS(b) { second, _ in
        for _ in 0..<5 {
          _ = try await Self.ask(first, trusting: a)
          _ = try await Self.ask(second, trusting: b)
        }
      }
    }
  }

  @Test func `a key that is another's, or none, cannot be shown`() throws {
    let (a, b) = (try TLSFixture(), try TLSFixture())
    let mismatch = #expect(throws: TLSIdentities.LoadError.self) {
      try TLSIdentities(certificate: a.certificate, key: SecretBytes(copying: b.key))
    }
    #expect(mismatch?.reason == "The certificate and the given key do not match.")
    for (certificate, key) in [(a.certificate, a.certificate), (a.key, a.key), ([], a.key), (a.certificate, [])] {
      #expect(throws: TLSIdentities.LoadError.self) {
        try TLSIdentities(certificate: certificate, key: SecretBytes(copying: key))
      }
    }
  }
}
