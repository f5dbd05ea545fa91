import Base
import COpenSSL
import Cryptography
import FoundationEssentials
import Glibc
import PKIX
import Testing
import Trust

@testable import Mock

/// The identity of HTTPS servers.
@Suite(.timeLimit(.minutes(10))) struct TLSTests {
  private static let untrusted = FetchError.unavailable("the host's certificate is not trusted, or is for another name")
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
    #expect(fault == .unavailable("the TLS handshake with the host failed"))
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
    #expect(fault == .unavailable("the file of TLS authorities cannot be read"))
  }
}

/// A TLS server's key and certificate, from a certification authority made for the test.
// Unchecked, since the compiler does not see into OpenSSL. Any number of threads may use an unchanging SSL_CTX
// (openssl-threads(7)), and only the initialiser changes it.
final class ServerIdentity: @unchecked Sendable {
  private let context: OpaquePointer
  /// A file with the authority's certificate.
  let authorityFile: String
  private let folder: String

  struct Fault: Error {}

  init(
    host: String = "localhost", authority name: String = "test authority", isExpired: Bool = false,
    isSelfSigned: Bool = false
  ) throws {
    let now = Timestamp(secondsSince1970: Int64(time(nil)))
    let authority = CertificateIssuer(
      name: CertificateName(country: "US", state: nil, organization: nil, commonName: name),
      key: try PrivateKey(generatingOn: .p256))
    let key = isSelfSigned ? authority.key : try PrivateKey(generatingOn: .p256)
    let root = CertificateTemplate(
      issuer: authority.name, notBefore: now - 86_400, notAfter: now + 86_400, subject: authority.name,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: authority.key.publicKey),
      extensions: [
        .basicConstraints(isCA: true, pathLength: 0), .keyUsage(.keyCertSign),
        .subjectKeyIdentifier(authority.keyIdentifier),
      ])
    let subject = CertificateName(country: "US", state: nil, organization: nil, commonName: host)
    let names = DER.sequence(DER.implicit(2, Array(host.utf8)))
    let leaf = CertificateTemplate(
      issuer: isSelfSigned ? subject : authority.name, notBefore: now - 86_400,
      notAfter: isExpired ? now - 3_600 : now + 86_400, subject: subject,
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .keyUsage(.digitalSignature), .extendedKeyUsage(["1.3.6.1.5.5.7.3.1"], isCritical: false),
        CertificateExtension(oid: "2.5.29.17", isCritical: false, value: names),
      ])

    folder = FileManager.default.temporaryDirectory.path + "/mdoc-fetch-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    authorityFile = folder + "/authority.pem"
    try Data(PEM.encode(certificate: root.signed(by: authority.key)).utf8).write(to: URL(filePath: authorityFile))
    try Data(PEM.encode(certificate: leaf.signed(by: authority.key)).utf8)
      .write(to: URL(filePath: folder + "/server.pem"))
    try Data(key.pem()).write(to: URL(filePath: folder + "/server.key"))
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw Fault() }
    self.context = context
    guard SSL_CTX_use_certificate_file(context, folder + "/server.pem", SSL_FILETYPE_PEM) == 1,
      SSL_CTX_use_PrivateKey_file(context, folder + "/server.key", SSL_FILETYPE_PEM) == 1
    else { throw Fault() }
  }

  deinit {
    SSL_CTX_free(context)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Nil if the other end does not continue the handshake.
  func accept(_ descriptor: Int32) -> OpaquePointer? {
    guard let tls = SSL_new(context) else { return nil }
    guard SSL_set_fd(tls, descriptor) == 1, SSL_accept(tls) == 1 else {
      SSL_free(tls)
      return nil
    }
    return tls
  }
}
