import Base
import Testing
import Trust

/// Bytes are counted as declared, as received and as unpacked.
@Suite(.timeLimit(.minutes(10))) struct SizeTests {
  private static let rules = FetchFixture.rules.with { $0.maximumBytes = 10_000 }

  @Test func theLargestListIsTaken() async throws {
    let body = [UInt8](repeating: 7, count: 10_000)
    let server = try LoopbackServer { _ in LoopbackServer.Part.ok(body, headers: "") }
    defer { server.stop() }
    #expect(try await FetchFixture().outcome(server.url(), Self.rules).get().bytes == body)
  }

  @Test func aListThatDeclaresMoreIsNotRead() async throws {
    let server = try LoopbackServer { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 10001\r\n\r\n"), .silence] }
    defer { server.stop() }
    #expect(try await FetchFixture().fault(server.url(), Self.rules) == .tooLarge)
  }

  @Test func aListThatDeclaresNothingIsCutOff() async throws {
    let chunk = "1000\r\n" + String(repeating: "x", count: 0x1000) + "\r\n"
    let server = try LoopbackServer { target in
      target == "/chunks"
        ? [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)\(chunk)\(chunk)"), .silence]
        : [.text("HTTP/1.1 200 OK\r\n\r\n\(chunk)\(chunk)\(chunk)"), .silence]
    }
    defer { server.stop() }
    let fixture = try FetchFixture()
    #expect(await fixture.fault(server.url("/chunks"), Self.rules) == .tooLarge)
    #expect(await fixture.fault(server.url("/toTheEnd"), Self.rules) == .tooLarge)
    #expect(fixture.log.counts.tooLarge == 2)
  }

  @Test func aPackedListIsUnpacked() async throws {
    let packed = try #require(Base64.decode("H4sIAAAAAAACA0tUyMksLgEAXHUn1gYAAAA="))
    let server = try LoopbackServer { _ in LoopbackServer.Part.ok(packed, headers: "Content-Encoding: gzip\r\n") }
    defer { server.stop() }
    #expect(try await FetchFixture().outcome(server.url(), Self.rules).get().bytes == Array("a list".utf8))
  }

  /// 256 KiB of zeros in 295 bytes.
  @Test func aPackedListIsCountedUnpacked() async throws {
    let zeros = "H4sIAAAAAAACA+3BMQEAAADCoPVP7W0HoAAA" + String(repeating: "A", count: 340) + "AADeACLqDuIAAAQA"
    let packed = try #require(Base64.decode(zeros))
    let server = try LoopbackServer { _ in LoopbackServer.Part.ok(packed, headers: "Content-Encoding: gzip\r\n") }
    defer { server.stop() }
    #expect(try await FetchFixture().fault(server.url(), Self.rules) == .tooLarge)
  }

  @Test func anEncodingThatWasNotAskedForIsRefused() async throws {
    let server = try LoopbackServer { target in
      LoopbackServer.Part.ok([1, 2, 3], headers: "Content-Encoding: \(target.dropFirst())\r\n")
    }
    defer { server.stop() }
    let fixture = try FetchFixture()
    for encoding in ["br", "zstd", "deflate", "gzip,gzip", "unheard-of"] {
      let fault = await fixture.fault(server.url("/\(encoding)"))
      #expect(fault == .unavailable("the reply's encoding is unsupported"))
    }
    guard case .unavailable = await fixture.fault(server.url("/gzip")) else {
      Issue.record("bytes that no gzip wrote were taken")
      return
    }
  }
}
