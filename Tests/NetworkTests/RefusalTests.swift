import Testing

@testable import Trust

/// Addresses that no request may reach, by any route (negative cases V05 and R09).
@Suite(.timeLimit(.minutes(10))) struct RefusalTests {
  @Test(arguments: [
    "file:///etc/passwd", "ftp://lists.example/list", "http://lists.example/list", "https://127.0.0.1/list",
    "https://[::1]/list", "https://localhost/list", "https://10.0.0.1/list", "https://169.254.169.254/latest",
    "https://user:secret@lists.example/list", "https://lists.example:8443/list", "https://0x7f000001/list",
  ])
  func anAddressThatIsNotAllowedIsNotAsked(_ address: String) async throws {
    let fixture = try FetchFixture()
    guard case .notAllowed(let reason) = await fixture.fault(address, FetchRules()) else {
      Issue.record("\(address) was asked")
      return
    }
    #expect(!reason.contains("secret"))
    #expect(fixture.log.counts == .init(asked: 1, notAllowed: 1))
  }

  @Test(arguments: ["10.1.2.3", "127.0.0.1", "169.254.169.254", "[fe80::1]", "[fd00::1]", "[::ffff:192.168.0.1]"])
  func aNameThatLeadsInsideIsNotFollowed(_ address: String) async throws {
    let fixture = try FetchFixture(pinnedNames: ["lists.example:443:\(address)"])
    let fault = await fixture.fault("https://lists.example/list", FetchRules())
    #expect(fault == .notAllowed("the address does not lead to a public host"))
    #expect(fixture.log.counts.connections == 0)
  }

  @Test func aPortOfItsOwnIsForThisMachineAlone() async throws {
    let fixture = try FetchFixture(pinnedNames: ["lists.example:8080:93.184.215.14"])
    let fault = await fixture.fault("http://lists.example:8080/list")
    #expect(fault == .notAllowed("the address has a port that is not allowed"))
    #expect(fixture.log.counts.connections == 0)
  }

  @Test func eachAddressOfANameIsJudgedByItself() async throws {
    let server = try LoopbackServer { _ in [.ok()] }
    defer { server.stop() }
    let fixture = try FetchFixture(pinnedNames: ["lists.example:\(server.port):10.1.2.3,127.0.0.1"])
    #expect(await fixture.fault(server.url(host: "lists.example")) == nil)
    #expect(fixture.log.counts.connections == 1)
  }

  @Test(arguments: [
    ("https://10.0.0.1/", "the address does not lead to a public host"),
    ("file:///etc/passwd", "the address is not https"),
    ("http://169.254.169.254/latest", "the address does not lead to a public host"),
    ("//inside.example/list", "the address does not lead to a public host"),
    ("https://user@lists.example/", "the address contains a user name"),
    ("http://2130706433/", "the host is a number in a non-standard form"),
    ("https://lists.example:22/", "the address does not lead to a public host"),
  ])
  func aRedirectIsCheckedLikeAFirstAddress(_ location: String, _ reason: String) async throws {
    let server = try LoopbackServer { _ in [.redirect(to: location)] }
    defer { server.stop() }
    let fixture = try FetchFixture(pinnedNames: [
      "inside.example:80:10.1.2.3", "lists.example:22:10.1.2.3",
    ])
    #expect(await fixture.fault(server.url()) == .notAllowed(reason))
    #expect(fixture.log.counts.connections == 1)
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func aRedirectThatIsAllowedIsFollowed(_ status: Int) async throws {
    let server = try LoopbackServer { target in
      switch target {
      case "/a/list": [.redirect(to: "../b/list", status: status)]
      case "/b/list": [.redirect(to: "?newest", status: status)]
      case "/b/list?newest": [.redirect(to: "/c#part", status: status)]
      default: [.ok(target)]
      }
    }
    defer { server.stop() }
    let fixture = try FetchFixture()
    #expect(try await fixture.outcome(server.url("/a/list")).get().bytes == Array("/c".utf8))
    #expect(fixture.log.counts.connections == 4)
  }

  @Test func redirectsAreCounted() async throws {
    let server = try LoopbackServer { target in [.redirect(to: target)] }
    defer { server.stop() }
    let fixture = try FetchFixture()
    #expect(await fixture.fault(server.url()) == .notAllowed("there are too many redirects"))
    #expect(server.requests.count == 4)
    let rules = FetchFixture.rules.with { $0.maximumRedirects = 0 }
    #expect(await fixture.fault(server.url(), rules) == .notAllowed("there are too many redirects"))
    #expect(server.requests.count == 5)
  }

  @Test func aRedirectSaysOnceWhereTo() async throws {
    let server = try LoopbackServer { target in
      [.status(302, headers: target == "/none" ? "" : "Location: /a\r\nLocation: /b\r\n")]
    }
    defer { server.stop() }
    let fixture = try FetchFixture()
    for target in ["/none", "/two"] {
      #expect(await fixture.fault(server.url(target)) == .unavailable("a redirect has no target"))
    }
  }
}
