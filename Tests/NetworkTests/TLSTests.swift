import Testing
import Trust

/// Who answers over HTTPS.
@Suite(.timeLimit(.minutes(10))) struct TLSTests {
  private static let untrusted = FetchError.unavailable("the host's certificate is not trusted, or another's")
  private static let rules = FetchRules(allowsLoopback: true)

  @Test func aTrustedHostIsBelieved() async throws {
    let identity = try ServerIdentity()
    let server = try LoopbackServer(identity) { _ in [.ok()] }
    defer { server.stop() }
    let fixture = try FetchFixture(authorities: identity.authorityFile)
    let list = try await fixture.outcome(server.url(scheme: "https", host: "localhost"), Self.rules).get()
    #expect(list.bytes == Array("a list".utf8))
  }

  @Test func aHostOfAnotherAuthorityIsNot() async throws {
    let identity = try ServerIdentity()
    let other = try ServerIdentity(authority: "another")
    let lookalike = try ServerIdentity()
    let server = try LoopbackServer(identity) { _ in [.ok()] }
    defer { server.stop() }
    let url = server.url(scheme: "https", host: "localhost")
    #expect(try await FetchFixture(authorities: other.authorityFile).fault(url, Self.rules) == Self.untrusted)
    #expect(try await FetchFixture().fault(url, Self.rules) == Self.untrusted)
    let fault = try await FetchFixture(authorities: lookalike.authorityFile).fault(url, Self.rules)
    #expect(fault == .unavailable("TLS can't be agreed on with the host"))
    #expect(server.requests.isEmpty)
  }

  @Test func aCertificateMustBeTheHosts() async throws {
    let identity = try ServerIdentity(host: "lists.example")
    let server = try LoopbackServer(identity) { _ in [.ok()] }
    defer { server.stop() }
    let names = ["lists.example", "other.example"].map { "\($0):\(server.port):127.0.0.1" }
    let fixture = try FetchFixture(authorities: identity.authorityFile, pinnedNames: names)
    #expect(await fixture.fault(server.url(scheme: "https", host: "lists.example"), Self.rules) == nil)
    for host in ["other.example", "127.0.0.1"] {
      #expect(await fixture.fault(server.url(scheme: "https", host: host), Self.rules) == Self.untrusted)
    }
    #expect(server.requests.count == 1)
  }

  @Test func anExpiredOrSelfSignedCertificateIsNotBelieved() async throws {
    for identity in [try ServerIdentity(isExpired: true), try ServerIdentity(isSelfSigned: true)] {
      let server = try LoopbackServer(identity) { _ in [.ok()] }
      defer { server.stop() }
      let fixture = try FetchFixture(authorities: identity.authorityFile)
      let fault = await fixture.fault(server.url(scheme: "https", host: "localhost"), Self.rules)
      #expect(fault == Self.untrusted)
    }
  }

  @Test func httpsIsNeverLeftForHTTP() async throws {
    let identity = try ServerIdentity()
    let plain = try LoopbackServer { _ in [.ok()] }
    defer { plain.stop() }
    let secure = try LoopbackServer(identity) { _ in [.redirect(to: plain.url())] }
    defer { secure.stop() }
    let url = secure.url(scheme: "https", host: "localhost")
    let fixture = try FetchFixture(authorities: identity.authorityFile)
    #expect(await fixture.fault(url, Self.rules) == .notAllowed("the address is not https"))
    #expect(
      await fixture.fault(url, FetchFixture.rules) == .notAllowed("a redirect leads from https to http"))
    #expect(plain.requests.isEmpty)
  }

  @Test func httpMayBecomeHTTPS() async throws {
    let identity = try ServerIdentity()
    let secure = try LoopbackServer(identity) { _ in [.ok()] }
    defer { secure.stop() }
    let target = secure.url(scheme: "https", host: "localhost")
    let plain = try LoopbackServer { _ in [.redirect(to: target)] }
    defer { plain.stop() }
    #expect(try await FetchFixture(authorities: identity.authorityFile).fault(plain.url()) == nil)
  }

  @Test func aServerWithoutTLSIsNoAnswer() async throws {
    let server = try LoopbackServer { _ in [.ok()] }
    defer { server.stop() }
    let rules = Self.rules.with { $0.timeLimit = .seconds(2) }
    guard case .unavailable = try await FetchFixture().fault(server.url(scheme: "https"), rules) else {
      Issue.record("an answer without TLS was taken")
      return
    }
  }

  @Test func authoritiesThatCannotBeReadBelieveNobody() async throws {
    let identity = try ServerIdentity()
    let server = try LoopbackServer(identity) { _ in [.ok()] }
    defer { server.stop() }
    let fault = try await FetchFixture(authorities: "/nowhere/authorities.pem")
      .fault(server.url(scheme: "https", host: "localhost"), Self.rules)
    #expect(fault == .unavailable("the authorities of TLS can't be read"))
  }
}
