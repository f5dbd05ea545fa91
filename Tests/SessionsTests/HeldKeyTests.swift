import Base
import Cryptography
import PKIX
import Presentation
import Testing

@testable import Sessions

/// Relying parties' keys in a token that is there, away or silent.
@Suite struct HeldKeyTests {
  /// A key of such a token. It only agrees on secrets.
  private final class Token: HeldKey {
    enum State { case there, away, silent }

    let state = Locked(State.there)
    let holder = "mdoc"
    private let key: PrivateKey

    init(_ key: PrivateKey) { self.key = key }

    var publicKey: PublicKey { key.publicKey }

    func signature(ofDigest digest: [UInt8]) throws(CryptoError) -> [UInt8] { throw .keyUnavailable }

    func sharedSecret(with peer: PublicKey) throws(CryptoError) -> SecretBytes {
      try check()
      return try key.sharedSecret(with: peer)
    }

    func check() throws(CryptoError) {
      if state.withLock({ $0 }) == .away { throw .keyUnavailable }
    }

    func run(_ work: @escaping @Sendable () -> Void) async -> Bool {
      if state.withLock({ $0 }) == .silent { return false }
      work()
      return true
    }
  }

  @Test(arguments: [false, true])
  func `a response to a merchant whose token does not work now is refused, and verified when it does`(
    isSilent: Bool
  ) async throws {
    let token = try Token(PrivateKey(generatingOn: .p256))
    let fixture = try AppleServiceFixture { _ in PrivateKey(token) }
    let session = try await fixture.create(Fixture.creation)
    let id = try #require(session["id"]?.string)
    let nonce = try #require(session["requests"]?.array?.first?["data"]?["nonce"]?.string.flatMap(Base64.decode))
    let envelope = try fixture.envelope(nonce: nonce, ["given_name", "birth_date"])
    let response: JSON = ["protocol": "apple-in-app", "data": ["encrypted_data": .string(Base64.encode(envelope))]]

    token.state.withLock { $0 = isSilent ? .silent : .away }
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.service.submit(response, to: id, as: fixture.caller)
    }
    #expect(error?.code == .apiKeyUnavailable && error?.retryAfter != nil)
    #expect(try await fixture.service.session(id, as: fixture.caller).body.status == "requires_input")
    #expect(await code { try await fixture.service.checkReadiness() } == .apiKeyUnavailable)
    #expect(await fixture.service.heldKeys().map(\.isAvailable) == [false])

    token.state.withLock { $0 = .there }
    #expect(try await fixture.service.submit(response, to: id, as: fixture.caller).body.status == "verified")
    try await fixture.service.checkReadiness()
  }

  @Test func `a request is not made without its reader's signature`() async throws {
    let key = try PrivateKey(generatingOn: .p256)
    let certificate = try ReaderCertificate.make(for: key, until: FakeClock().now + 60)
    let reader = try ReaderIdentity(
      key: PrivateKey(Token(key)), certificates: [try Certificate(der: certificate)])
    let fixture = try WebFixture([AnnexCProtocol()], readers: [reader])
    #expect(await code { _ = try await fixture.create("org-iso-mdoc") } == .apiKeyUnavailable)
    #expect(try await fixture.service.sessions(as: fixture.full).body["data"] == [])
  }
}
