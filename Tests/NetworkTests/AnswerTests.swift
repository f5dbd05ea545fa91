import Base
import Testing

@testable import Trust

/// A publisher's replies, and their effects.
@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
  @Test func aListComesWithWhatItsServerSaysOfIt() async throws {
    let server = try LoopbackServer { _ in
      let headers =
        "Content-Type: Application/StatusList+CWT; charset=x\r\nCache-Control: public, max-age=300\r\n"
        + "Expires: Fri, 20 Nov 2026 10:00:00 GMT\r\n"
      return [.ok("a list", headers: headers)]
    }
    defer { server.stop() }
    let fixture = try FetchFixture()
    let list = try await fixture.outcome(server.url("/a/list?b=c#fragment")).get()
    #expect(list.bytes == Array("a list".utf8))
    #expect(list.mediaType == "application/statuslist+cwt")
    #expect(list.maxAge == 300)
    #expect(list.expires == Timestamp(rfc3339: "2026-11-20T10:00:00Z"))
    #expect(fixture.log.counts == .init(asked: 1, connections: 1, fetched: 1, fetchedBytes: 6))
  }

  @Test func theRequestSaysNothingThatNeedNotBeSaid() async throws {
    let server = try LoopbackServer { _ in [.ok()] }
    defer { server.stop() }
    let rules = FetchFixture.rules.with { $0.mediaTypes = ["application/statuslist+cwt", "*/*;q=0.1"] }
    _ = try await FetchFixture().outcome(server.url("/list#part"), rules).get()
    let request = try #require(server.requests.first)
    #expect(
      request == """
        GET /list HTTP/1.1\r
        Host: 127.0.0.1:\(server.port)\r
        User-Agent: mdoc\r
        Accept-Encoding: identity\r
        Accept: application/statuslist+cwt, */*;q=0.1\r
        \r\n
        """)
  }

  @Test func aHeaderIsNeverWrittenByAMediaType() async throws {
    let server = try LoopbackServer { _ in [.ok()] }
    defer { server.stop() }
    let rules = FetchFixture.rules.with { $0.mediaTypes = ["a/b\r\nHost: other.example"] }
    #expect(try await FetchFixture().fault(server.url(), rules) != nil)
    #expect(server.requests.isEmpty)
  }

  @Test func onlyStatus200IsAList() async throws {
    let server = try LoopbackServer { target in [.status(Int(target.dropFirst()) ?? 0)] }
    defer { server.stop() }
    let fixture = try FetchFixture()
    for status in [201, 204, 206, 304, 400, 401, 404, 410, 429, 500, 503] {
      let fault = await fixture.fault(server.url("/\(status)"))
      #expect(fault == .unavailable("the reply's status is \(status)"))
    }
  }

  @Test func anInterimAnswerIsPassedOver() async throws {
    let server = try LoopbackServer { _ in
      [.text("HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\n\r\n"), .ok()]
    }
    defer { server.stop() }
    let list = try await FetchFixture().outcome(server.url()).get()
    #expect(list == FetchedList(bytes: Array("a list".utf8)))
  }

  @Test func aListInPiecesComesWhole() async throws {
    let server = try LoopbackServer { _ in
      [
        .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na \r\n"), .pause(milliseconds: 20),
        .text("4\r\nlist\r\n0\r\nContent-Type: text/trailer\r\n\r\n"),
      ]
    }
    defer { server.stop() }
    let list = try await FetchFixture().outcome(server.url()).get()
    #expect(list == FetchedList(bytes: Array("a list".utf8)))
  }

  @Test func aListThatBreaksOffIsNone() async throws {
    let server = try LoopbackServer { target in
      target == "/length"
        ? [.text("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na list")]
        : [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\na list\r\n")]
    }
    defer { server.stop() }
    let fixture = try FetchFixture()
    #expect(await fixture.fault(server.url("/length")) == .unavailable("the reply broke off"))
    #expect(await fixture.fault(server.url("/chunks")) == .unavailable("the reply broke off"))
  }

  @Test func whatIsNoHTTPIsNoAnswer() async throws {
    let server = try LoopbackServer { target in target == "/nothing" ? [] : [.text("a list\r\n\r\na list")] }
    defer { server.stop() }
    let fixture = try FetchFixture()
    #expect(await fixture.fault(server.url("/nothing")) == .unavailable("the reply broke off"))
    #expect(await fixture.fault(server.url("/noise")) == .unavailable("the reply is not HTTP"))
  }

  @Test func anEndlessHeaderIsCutOff() async throws {
    let line = "X-Filler: " + String(repeating: "x", count: 4_000) + "\r\n"
    let server = try LoopbackServer { _ in
      [.text("HTTP/1.1 200 OK\r\n")] + Array(repeating: .text(line), count: 40) + [.silence]
    }
    defer { server.stop() }
    #expect(try await FetchFixture().fault(server.url()) == .unavailable("the reply's header is too long"))
  }
}
