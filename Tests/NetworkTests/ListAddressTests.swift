import Base
import Testing

@testable import Trust

/// The parts of an address that are checked before any connection.
@Suite struct ListAddressTests {
  @Test(arguments: [
    ("https://lists.example/a?b=c", "https://lists.example/a?b=c"), ("HTTPS://Lists.Example", "https://lists.example/"),
    ("https://lists.example?a", "https://lists.example/?a"),
    ("https://lists.example:443/a#b", "https://lists.example/a"),
    ("https://8.8.8.8/a", "https://8.8.8.8/a"), ("https://[2606:4700::1111]/a", "https://[2606:4700::1111]/a"),
    ("https://1.example/a:b@c", "https://1.example/a:b@c"),
    ("https://a_b.xn--bcher-kva.example/%41", "https://a_b.xn--bcher-kva.example/%41"),
  ])
  func anAddressThatIsAllowed(_ text: String, _ asked: String) throws {
    #expect(try ListAddress(text, allowing: FetchRules()).text == asked)
  }

  @Test(arguments: [
    // The scheme.
    "", "lists.example/a", "//lists.example/a", "http://lists.example/a", "file:///etc/passwd", "ftp://lists.example/",
    "gopher://lists.example/", "dict://lists.example/", "data:,a", "javascript:a", "https", "https:", "https:/a",
    "https:lists.example", "https:///a", "https:////lists.example/a", "ldap://lists.example/cn=a", "unix:/a",
    " https://a.example",
    // The user.
    "https://user@lists.example/", "https://user:secret@lists.example/", "https://@lists.example/",
    "https://lists.example@127.0.0.1/", "https://lists.example:443@127.0.0.1/",
    // The port.
    "https://lists.example:80/", "https://lists.example:8443/", "https://lists.example:0/", "https://lists.example:/",
    "https://lists.example:65979/", "https://lists.example:+443/", "https://lists.example:443:443/",
    "https://lists.example:00000443/",
    // The host.
    "https://localhost/", "https://LOCALHOST/", "https://a.localhost/", "https://lists..example/",
    "https://.lists.example/", "https://lists.example./", "https://lists%2eexample/", "https://lists.example%00.a/",
    "https://lists.example\\@a.example/", "https://b\u{fc}cher.example/", "https://lists.example\u{3002}a/",
    "https://a,b.example/",
    // Numbers, whole and odd.
    "https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/", "https://2130706433/", "https://0x7f000001/",
    "https://0x7f.1/", "https://0177.0.0.1/", "https://017700000001/", "https://127.1/", "https://127.0.0.1./",
    "https://1.2.3.4.5/", "https://8.8.8.08/", "https://134744072/", "https://a.0x1/", "https://%31%32%37.0.0.1/",
    "https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/",
    "https://[2002:7f00:1::]/", "https://[64:ff9b::7f00:1]/", "https://[127.0.0.1]/", "https://[::1/", "https://[]/",
    "https://[2606:4700::1111]a/", "https://[v1.a]/", "https://::1/", "https://[2606:4700::1111/",
    "https://[2606:4700::1111]x443/", "https://[8.8.8.8]/",
    // Characters.
    "https://lists.example/a b", "https://lists.example/a\r\nHost: b", "https://lists.example/\0",
    "https://lists.example/\t",
    "https://lists.example/\u{e9}", "https://lists.example/<a>", "https://lists.example\n/",
  ])
  func anAddressThatIsNotAllowed(_ text: String) {
    #expect(throws: FetchError.self) { try ListAddress(text, allowing: FetchRules()) }
  }

  @Test func anAddressHasABound() throws {
    let longest = "https://lists.example/" + String(repeating: "a", count: Limits.listAddressBytes - 22)
    #expect(try ListAddress(longest, allowing: FetchRules()).text == longest)
    #expect(throws: FetchError.notAllowed("the address is too long")) {
      try ListAddress(longest + "a", allowing: FetchRules())
    }
  }

  /// RFC 1035, 2.3.4: 255 octets with lengths and root.
  @Test func aNameHasABound() throws {
    let longest = String(repeating: "a.", count: 126) + "a"
    #expect(try ListAddress("https://\(longest)/", allowing: FetchRules()).host == longest)
    #expect(throws: FetchError.notAllowed("the address has no valid host")) {
      try ListAddress("https://\(longest)a/", allowing: FetchRules())
    }
  }

  @Test func noPortIsNumberZero() throws {
    let rules = FetchRules(allowsPlainHTTP: true, allowsLoopback: true)
    #expect(try ListAddress("http://localhost:1/", allowing: rules).port == 1)
    #expect(throws: FetchError.notAllowed("the address has no valid port")) {
      try ListAddress("http://localhost:0/", allowing: rules)
    }
  }

  @Test func plainHTTPNeedsTheAnchorsLeave() throws {
    let rules = FetchRules(allowsPlainHTTP: true)
    #expect(try ListAddress("http://lists.example/a", allowing: rules).text == "http://lists.example/a")
    for text in ["http://lists.example:443/", "http://lists.example:8080/", "http://127.0.0.1/", "http://localhost/"] {
      #expect(throws: FetchError.self) { try ListAddress(text, allowing: rules) }
    }
  }

  @Test func aRevocationListMayHaveAPortOfItsOwn() throws {
    let rules = FetchRules(allowsPlainHTTP: true, allowsOtherPorts: true)
    for text in ["http://lists.example/a", "https://lists.example:5443/a", "http://lists.example:8080/a"] {
      #expect(try ListAddress(text, allowing: rules).text == text)
    }
    for text in [
      "http://lists.example:25/", "https://lists.example:22/", "http://lists.example:443/",
      "http://lists.example:1023/",
      "http://10.0.0.1:8080/", "http://127.0.0.1:8080/", "http://localhost:8080/", "http://[fd00::1]:8080/",
      "https://169.254.169.254:5443/", "ftp://lists.example:2121/",
    ] { #expect(throws: FetchError.self, "\(text)") { try ListAddress(text, allowing: rules) } }
    // A permitted port without permission for plain HTTP, and the reverse.
    #expect(throws: FetchError.self) {
      try ListAddress("http://lists.example:8080/", allowing: FetchRules(allowsOtherPorts: true))
    }
  }

  @Test func aRedirectLeadsToNoOtherPortThanTheOneThatWasNamed() throws {
    let rules = FetchRules(allowsPlainHTTP: true, allowsOtherPorts: true)
    let named = try ListAddress("https://a.example:5443/x", allowing: rules)
    for location in ["/y", "https://a.example:5443/y", "https://a.example/y", "https://b.example/y"] {
      _ = try named.following(location, allowing: rules)
    }
    for location in [
      "https://a.example:5444/y", "https://b.example:5443/y", "http://a.example:5443/y", "http://a.example/y",
      "https://10.0.0.1/y", "//127.0.0.1:5443/y",
    ] { #expect(throws: FetchError.self, "\(location)") { try named.following(location, allowing: rules) } }
    let plain = try ListAddress("http://a.example/x", allowing: rules)
    #expect(try plain.following("https://b.example/y", allowing: rules).text == "https://b.example/y")
    for location in ["http://b.example:8080/", "http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest"] {
      #expect(throws: FetchError.self, "\(location)") { try plain.following(location, allowing: rules) }
    }
  }

  @Test func testModeAllowsThisMachineAlone() throws {
    let rules = FetchRules(allowsLoopback: true)
    for text in ["https://127.0.0.1:8443/a", "https://[::1]:8443/a", "https://localhost:8443/a", "https://[::1]/a"] {
      #expect(try ListAddress(text, allowing: rules).text == text)
    }
    for text in ["http://127.0.0.1/", "https://10.0.0.1/", "https://8.8.8.8:8443/", "https://0.0.0.0:8443/"] {
      #expect(throws: FetchError.self) { try ListAddress(text, allowing: rules) }
    }
  }

  @Test(arguments: [
    ("https://b.example/c", "https://b.example/c"), ("//b.example/c", "https://b.example/c"),
    ("/c", "https://a.example/c"),
    ("c?d", "https://a.example/x/c?d"), ("?c", "https://a.example/x/y?c"), ("", "https://a.example/x/y?z"),
    ("#c", "https://a.example/x/y?z"), ("../c", "https://a.example/x/../c"),
  ])
  func aRedirectIsReadAsAReference(_ location: String, _ asked: String) throws {
    let address = try ListAddress("https://a.example/x/y?z", allowing: FetchRules())
    #expect(try address.following(location, allowing: FetchRules()).text == asked)
  }

  @Test(arguments: ["http://a.example/", "//127.0.0.1/", "//u@a.example/", "https://a.example:81/", "file:///a", "a:b"])
  func aRedirectIsHeldToTheSameRules(_ location: String) throws {
    let address = try ListAddress("https://a.example/x", allowing: FetchRules(allowsPlainHTTP: true))
    #expect(throws: FetchError.self) { try address.following(location, allowing: FetchRules(allowsPlainHTTP: true)) }
  }
}

/// Lists without a network.
@Suite struct StaticListFetcherTests {
  private static let address = "https://lists.example/list"

  private func fault(_ lists: StaticListFetcher, _ address: String, _ rules: FetchRules = FetchRules()) async
    -> FetchError?
  {
    do {
      _ = try await lists.fetch(address, allowing: rules)
      return nil
    } catch {
      return error
    }
  }

  @Test func whatWasGivenIsAnswered() async throws {
    var lists = StaticListFetcher([Self.address: .success(FetchedList(bytes: [1, 2, 3]))])
    lists["https://lists.example/fault"] = .failure(.unavailable("the test says so"))
    #expect(try await lists.fetch(Self.address, allowing: FetchRules()).bytes == [1, 2, 3])
    #expect(await fault(lists, "https://lists.example/fault") == .unavailable("the test says so"))
    #expect(
      await fault(lists, "https://lists.example/other") == .unavailable("no list was given for the address"))
  }

  @Test func theRulesHoldHereToo() async {
    var lists = StaticListFetcher([Self.address: .success(FetchedList(bytes: [1, 2, 3]))])
    #expect(await fault(lists, Self.address, FetchRules(maximumBytes: 2)) == .tooLarge)
    for address in ["http://lists.example/list", "https://127.0.0.1/list", "https://lists.example:8443/list"] {
      lists[address] = .success(FetchedList(bytes: [1]))
      guard case .notAllowed = await fault(lists, address) else {
        Issue.record("\(address) was answered")
        continue
      }
    }
  }
}
