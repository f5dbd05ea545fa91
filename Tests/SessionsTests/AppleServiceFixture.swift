import Base
import Cryptography
import Mock
import PKIX
import Presentation
import TestStores
import Testing
import Trust

@testable import Sessions

/// A service with Apple's in-app protocol, and a mock wallet that it trusts.
struct AppleServiceFixture {
  let clock = FakeClock()
  let keys: [String: PrivateKey]
  let service: VerificationService
  private let authority: MockAuthority
  private let party: RelyingParty

  init(
    merchants: [String] = ["merchant.one"], policies: RelyingParty.Policies = .init(revocation: .off),
    store: any SessionStore = InMemoryStore(mode: .test), held: (PrivateKey) -> PrivateKey = { $0 }
  ) throws {
    authority = try MockAuthority(seed: Array("merchants".utf8))
    var keys: [String: PrivateKey] = [:]
    for name in merchants { keys[name] = held(try PrivateKey(generatingOn: .p256)) }
    self.keys = keys
    party = RelyingParty(
      id: "shop",
      apple: merchants.map {
        AppleConfiguration(merchantID: $0, teamID: "ABCDE12345", encryptionKeys: keys[$0].map { [$0] } ?? [])
      }, policies: policies)
    let anchors = try authority.anchors(at: clock.now).map {
      TrustAnchor(certificate: try Certificate(der: $0.certificate), docTypes: $0.docTypes, tier: .test)
    }
    let clock = clock
    service = try VerificationService(
      ServiceConfiguration(
        mode: .test, relyingParties: try RelyingParties([party]), protocols: [AppleInAppProtocol()],
        trust: CurrentTrust(try TrustStore(anchors: anchors, allowsTestCertificates: true)),
        revocation: NoRevocationSource(), sealingKeys: []), store: store
    ) { clock.now }
  }

  var caller: Caller { .apiKey(party, scopes: [.sessionsWrite, .resultsRead]) }

  func create(_ body: JSON) async throws -> JSON { try await service.createSession(body, as: caller).body }

  /// Submits the wallet's response to `merchant`, with the key of `recipient`: these elements and an age.
  func submit(
    _ session: JSON, _ elements: [String], ageOver: [Int] = [21], to merchant: String = "merchant.one",
    recipient: String = "merchant.one"
  ) async throws -> JSON {
    let nonce = session["requests"]?.array?.first?["data"]?["nonce"]?.string.flatMap(Base64.decode)
    let bytes = try envelope(nonce: #require(nonce), elements, ageOver: ageOver, to: merchant, recipient: recipient)
    let body: JSON = ["protocol": "apple-in-app", "data": ["encrypted_data": .string(Base64.encode(bytes))]]
    return try await service.submit(body, to: session["id"]?.string ?? "", as: caller).body
  }

  /// The wallet's response to a request with this nonce.
  func envelope(
    nonce: [UInt8], _ elements: [String] = ["given_name"], ageOver: [Int] = [21], to merchant: String = "merchant.one",
    recipient: String = "merchant.one"
  ) throws -> [UInt8] {
    let mock = MockAppleSession(
      nonce: nonce, merchantID: merchant, teamID: "ABCDE12345", recipientKey: try #require(keys[recipient]).publicKey)
    let request = MockRequest(documents: [
      .init(docType: MockDocType.mDL, elements: elements.map { (MockNamespace.mDL, $0) }, ageOver: ageOver)
    ])
    return try MockWallet(authority: authority).answerApple(request, session: mock, at: clock.now).bytes
  }
}
