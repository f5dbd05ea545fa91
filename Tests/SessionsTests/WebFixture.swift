import Base
import CBOR
import COSE
import Cryptography
import Longfellow
import Mock
import PKIX
import Presentation
import TestStores
import Testing
import Trust

@testable import Mdoc
@testable import Sessions

/// A service with real protocols, a shop with two origins, and a mock wallet whose documents it trusts.
struct WebFixture: Sendable {
  static let origin = "https://shop.example"
  static let otherOrigin = "https://other.example"

  let clock = FakeClock()
  let service: VerificationService
  let shop: RelyingParty
  let wallet: MockWallet

  /// - Parameters:
  ///   - circuits: those by which the service verifies proofs.
  ///   - makesProofs: whether the wallet makes proofs by them.
  ///   - acceptsEndOfDay: whether the service accepts proofs of a later time of the day.
  ///   - evidenceKey: that of the relying party's bundles.
  ///   - isEncrypted: whether responses of OpenID4VP are.
  init(
    _ protocols: [any WalletProtocol], readers: [ReaderIdentity] = [], circuits: CircuitLibrary? = nil,
    makesProofs: Bool = true, acceptsEndOfDay: Bool = false, evidenceKey: EvidenceKey? = nil,
    revocation: RevocationPolicy = .off, isEncrypted: Bool = true
  ) throws {
    let now = clock.now
    let authority = try MockAuthority(seed: Array("service tests".utf8))
    wallet = MockWallet(
      authority: authority, prover: makesProofs ? circuits.map(MockProver.init) : nil)
    shop = RelyingParty(
      id: "shop", origins: [Self.origin, Self.otherOrigin],
      apiKeys: [APIKey(sha256: APIKey.hash(of: "shop-key"), scopes: [.sessionsWrite, .resultsRead])],
      readers: readers, openID4VP: OpenID4VPConfiguration(encryptsResponses: isEncrypted),
      policies: .init(revocation: revocation, evidenceKey: evidenceKey))
    let anchors = try authority.anchors(at: now).map { anchor in
      TrustAnchor(
        certificate: try Certificate(der: anchor.certificate), docTypes: anchor.docTypes,
        extendedKeyUsages: Set(anchor.extendedKeyUsages), maxPathLength: anchor.maxPathLength, tier: .test)
    }
    var configuration = ServiceConfiguration(
      mode: .test, relyingParties: try RelyingParties([shop]), protocols: protocols,
      trust: CurrentTrust(try TrustStore(anchors: anchors, allowsTestCertificates: true)),
      revocation: NoRevocationSource(),
      sealingKeys: [try SealingKey(id: "2026-11", key: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))])
    configuration.publicURL = "https://verifier.example"
    configuration.proofs = circuits.map { ProofPolicy(circuits: $0, acceptsEndOfDay: acceptsEndOfDay) }
    let clock = clock
    service = try VerificationService(configuration, store: InMemoryStore(mode: .test)) { clock.now }
  }

  var full: Caller { .apiKey(shop, scopes: [.sessionsWrite, .resultsRead]) }

  struct Session {
    let id: String
    /// `data` of its one request.
    let data: JSON
    let holder: Caller
  }

  func create(_ protocolName: String, origin: String? = WebFixture.origin) async throws -> Session {
    let body = try await service.createSession(creation(protocolName, origin), as: full).body
    let secret = try #require(body["client_secret"]?.string)
    return Session(
      id: try #require(body["id"]?.string), data: try #require(body["requests"]?.array?.first?["data"]),
      holder: try await service.authenticate(bearer: secret))
  }

  private func creation(_ protocolName: String, _ origin: String?) -> JSON {
    let elements = MockRequest.standard.documents[0].elements.map { element -> JSON in
      ["namespace": .string(element.namespace), "identifier": .string(element.identifier)]
    }
    let document: JSON = [
      "doc_type": .string(DocType.mDL), "elements": .array(elements), "age_over": [21],
    ]
    return .members(["protocols": [.string(protocolName)], "origin": origin.map(JSON.string), "documents": [document]])
  }

  func submit(_ data: JSON, _ protocolName: String, to session: Session, as caller: Caller? = nil) async throws -> JSON
  {
    try await service.submit(
      ["protocol": .string(protocolName), "data": data], to: session.id, as: caller ?? full
    ).body
  }

  func status(_ session: Session) async throws -> String? {
    try await service.session(session.id, as: full).body.status
  }
}
