import Base
import Cryptography
import Mdoc
import Mock
import PKIX
import Presentation
import TestStores
import Trust

@testable import Sessions

/// A service with OpenID4VP's protocols and one relying party that signs, and a mock wallet that it trusts.
struct OpenID4VPServiceFixture {
  let clock = FakeClock()
  let authority: MockAuthority
  let wallet: MockWallet
  let shop: RelyingParty
  let service: VerificationService

  /// - Parameter readers: dNSNames of the readers. A reader with a leading `*` is named by its dNSName, not by its
  ///   certificate.
  init(
    readers: [String] = ["*verifier.example"], openID4VP: OpenID4VPConfiguration = OpenID4VPConfiguration(),
    registrations: [[UInt8]] = [], acceptedIssuers: [String: [[UInt8]]] = [:],
    publicURL: String? = "https://verifier.example"
  ) throws {
    authority = try MockAuthority(seed: Array("service tests".utf8))
    wallet = MockWallet(authority: authority)
    let now = clock.now
    let mockAuthority = authority
    shop = RelyingParty(
      id: "shop", origins: ["https://shop.example", "https://www.shop.example"],
      apiKeys: [APIKey(sha256: APIKey.hash(of: "shop-key"), scopes: [.sessionsWrite, .resultsRead])],
      readers: try readers.map { try Self.reader($0, of: mockAuthority, at: now) }, openID4VP: openID4VP,
      registrations: try registrations.map { try RegistrationCertificate(parsing: $0) },
      acceptedIssuers: acceptedIssuers, policies: .init(revocation: .off))
    let anchors = try authority.walletAnchors(at: now).map {
      TrustAnchor(certificate: try Certificate(der: $0.certificate), docTypes: $0.docTypes, tier: .test)
    }
    var configuration = ServiceConfiguration(
      mode: .test, relyingParties: try RelyingParties([shop]),
      protocols: OpenID4VPWebProtocol.Signing.allCases.map { OpenID4VPWebProtocol($0) } + [
        OpenID4VPRedirectProtocol(), AgeVerificationProtocol(), AnnexBProtocol(), AnnexCProtocol(), ProximityProtocol(),
      ],
      trust: CurrentTrust(try TrustStore(anchors: anchors, allowsTestCertificates: true)),
      revocation: NoRevocationSource(), sealingKeys: [try Self.sealingKey()])
    configuration.publicURL = publicURL
    let clock = clock
    service = try VerificationService(configuration, store: InMemoryStore(mode: .test)) { clock.now }
  }

  static func sealingKey() throws -> SealingKey {
    try SealingKey(id: "2026-11", key: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
  }

  private static func reader(
    _ name: String, of authority: MockAuthority, at now: Timestamp
  ) throws -> ReaderIdentity {
    let dnsName = String(name.drop { $0 == "*" })
    let reader = try authority.reader(dnsName: dnsName, at: now)
    return try ReaderIdentity(
      key: reader.key, certificates: reader.certificates.map { try Certificate(der: $0) },
      clientIdentifier: name.hasPrefix("*") ? .dnsName(dnsName) : .certificateHash)
  }

  var caller: Caller { .apiKey(shop, scopes: [.sessionsWrite, .resultsRead]) }

  /// The context of an adapter when a session is created.
  func context(at now: Timestamp? = nil, origin: String? = "https://shop.example", publicURL: String? = nil) throws
    -> RequestContext
  {
    RequestContext(
      session: SessionAddress(relyingParty: "shop", id: try SessionID.random()), relyingParty: shop, origin: origin,
      publicURL: publicURL, now: now ?? clock.now)
  }

  func create(_ protocols: String...) async throws -> JSON { try await create(protocols, [:]) }

  /// - Parameter members: members of the creation; they replace or extend those that request `given_name`.
  func create(_ protocols: [String], _ members: [String: JSON]) async throws -> JSON {
    let isWeb = ProtocolFamily(ofProtocol: protocols[0]) == .web
    var body: [String: JSON] = ["protocols": .array(protocols.map(JSON.string)), "documents": [Self.document()]]
    if isWeb { body["origin"] = "https://shop.example" }
    body.merge(members) { $1 }
    return try await service.createSession(.object(body.map { JSON.Member($0.key, $0.value) }), as: caller).body
  }

  static func document(
    _ elements: [(namespace: String, identifier: String)] = [(Namespace.mDL, "given_name")],
    docType: String = DocType.mDL, _ members: JSON.Member...
  ) -> JSON {
    let wanted = elements.map { element -> JSON in
      ["namespace": .string(element.namespace), "identifier": .string(element.identifier)]
    }
    return .object([.init("doc_type", .string(docType)), .init("elements", .array(wanted))] + members)
  }

  /// The request object that a wallet fetches by a session's link.
  func requestObject(of session: JSON, walletNonce: String? = nil) async throws -> [UInt8] {
    try await service.walletRequest(
      session["id"]?.string ?? "", of: "shop", parameters: walletNonce.map { ["wallet_nonce": .string($0)] })
  }

  func submit(_ data: JSON, by name: String, to session: JSON) async throws -> JSON {
    let body: JSON = ["protocol": .string(name), "data": data]
    return try await service.submit(body, to: session["id"]?.string ?? "", as: caller).body
  }

  static let request = PresentationRequest(documents: [
    DocumentRequest(docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "given_name"))])
  ])
}

extension JSON {
  /// `data` of a session's request by this protocol.
  func requestData(_ name: String) -> JSON? {
    self["requests"]?.array?.first { $0["protocol"]?.string == name }?["data"]
  }
}
