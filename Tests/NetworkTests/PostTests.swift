import Base
import Testing
import Trust

@testable import Network

/// Messages to receivers: sent once, under the same guard as lists, with only the status of the reply counting.
@Suite(.timeLimit(.minutes(10))) struct PostTests {
  private static let message = WebMessage(
    headers: ["Content-Type: application/json", "webhook-id: evt_1"], body: Array("{\"a\":\"ä\"}".utf8))

  private func outcome(
    _ address: String, _ rules: FetchRules = FetchFixture.rules, pinnedNames: [String] = []
  ) async throws -> Result<WebReply, FetchError> {
    var configuration = WebListFetcher.Configuration()
    configuration.pinnedNames = pinnedNames
    let poster = try WebPoster(configuration)
    do throws(FetchError) {
      return .success(try await poster.post(Self.message, to: address, allowing: rules))
    } catch {
      return .failure(error)
    }
  }

  @Test func aMessageIsPostedOnceWithItsHeadersAndBody() async throws {
    let server = try LoopbackServer { _ in [.ok("thanks")] }
    defer { server.stop() }
    #expect(try await outcome(server.url("/hooks?a=1")) == .success(.init(status: 200)))
    #expect(server.requests.count == 1)
    let request = server.requests.first ?? ""
    #expect(request.hasPrefix("POST /hooks?a=1 HTTP/1.1\r\n"))
    #expect(request.contains("Content-Type: application/json\r\n") && request.contains("webhook-id: evt_1\r\n"))
    #expect(request.hasSuffix("\r\n\r\n{\"a\":\"ä\"}"))
  }

  @Test(arguments: [201, 204, 302, 400, 410, 500, 503])
  func everyStatusIsAnAnswerAndNoRedirectIsFollowed(_ status: Int) async throws {
    let server = try LoopbackServer { _ in [.status(status, headers: "Location: /other\r\n")] }
    defer { server.stop() }
    let location = status == 302 ? "/other" : nil
    #expect(try await outcome(server.url()) == .success(.init(status: status, location: location)))
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [
    ("120", RetryAfter.seconds(120)), ("0", .seconds(0)), ("99999999999999999999", .seconds(.max)),
    ("Sun, 06 Nov 1994 08:49:37 GMT", .date(Timestamp(secondsSince1970: 784_111_777))), ("soon", nil), ("-1", nil),
  ])
  func whenToComeAgainIsRead(_ value: String, _ expected: RetryAfter?) async throws {
    let server = try LoopbackServer { _ in [.status(503, headers: "Retry-After: \(value)\r\n")] }
    defer { server.stop() }
    #expect(try await outcome(server.url()) == .success(.init(status: 503, retryAfter: expected)))
  }

  @Test func theStatusCountsAlsoWhereTheRestIsTooLongOrBreaksOff() async throws {
    let long = String(repeating: "x", count: 100_000)
    let parts: [[LoopbackServer.Part]] = [
      [.ok(long)], [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n\(long)")],
      [.text("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nbut")],
      [.text("HTTP/1.1 200 OK\r\nContent-Encoding: x\r\nContent-Length: 2\r\n\r\nno")],
    ]
    for part in parts {
      let server = try LoopbackServer { _ in part }
      defer { server.stop() }
      let rules = FetchFixture.rules.with { $0.maximumBytes = 1_000 }
      #expect(try await outcome(server.url(), rules) == .success(.init(status: 200)))
    }
  }

  @Test func noAnswerInTimeIsNone() async throws {
    let server = try LoopbackServer { _ in [.silence] }
    defer { server.stop() }
    let rules = FetchFixture.rules.with { $0.timeLimit = .milliseconds(300) }
    #expect(try await outcome(server.url(), rules) == .failure(.unavailable("no complete reply in time")))
  }

  @Test(arguments: ["http://hooks.example/", "https://127.0.0.1/", "https://10.0.0.1/", "https://hooks.example:22/"])
  func anAddressThatIsNotAllowedIsNotAsked(_ address: String) async throws {
    guard case .failure(.notAllowed) = try await outcome(address, FetchRules()) else {
      Issue.record("\(address) was asked")
      return
    }
  }

  @Test func aNameThatLeadsInsideIsNotAsked() async throws {
    let server = try LoopbackServer { _ in [.ok()] }
    defer { server.stop() }
    for address in ["10.1.2.3", "127.0.0.1", "[fd00::1]"] {
      let outcome = try await outcome(
        "https://hooks.example/", FetchRules(), pinnedNames: ["hooks.example:443:\(address)"])
      #expect(outcome == .failure(.notAllowed("the address does not lead to a public host")))
    }
    #expect(server.requests.isEmpty)
  }

  /// The name is not checked; its address is checked when the socket is opened.
  @Test func aNameThatLeadsInsideIsReachedWhereItsNetworkIsAllowed() async throws {
    let server = try LoopbackServer { _ in [.ok()] }
    defer { server.stop() }
    let name = "hooks.internal.example"
    let pinned = ["\(name):\(server.port):127.0.0.1"]
    let address = "http://\(name):\(server.port)/"
    let port = UInt16(server.port)
    func rules(_ networks: String...) throws -> FetchRules {
      FetchRules(
        allowsPlainHTTP: true,
        internalTargets: InternalTargets(ports: [port], networks: try networks.map { try #require(AddressRange($0)) }))
    }
    let refused: Result<WebReply, FetchError> = .failure(.notAllowed("the address does not lead to a public host"))
    #expect(try await outcome(address, try rules(), pinnedNames: pinned) == refused)
    #expect(try await outcome(address, try rules("10.0.0.0/8", "0.0.0.0/0"), pinnedNames: pinned) == refused)
    #expect(server.requests.isEmpty)
    #expect(try await outcome(address, try rules("127.0.0.0/8"), pinnedNames: pinned) == .success(.init(status: 200)))
  }

  @Test func aHeaderWithALineBreakIsNotSent() async throws {
    let server = try LoopbackServer { _ in [.ok()] }
    defer { server.stop() }
    let message = WebMessage(headers: ["a: b\r\nc: d"], body: [])
    await #expect(throws: FetchError.self) {
      try await WebPoster().post(message, to: server.url(), allowing: FetchFixture.rules)
    }
    #expect(server.requests.isEmpty)
  }
}
