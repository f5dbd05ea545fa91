import Base
import Cryptography
import Mock
import PKIX
import TestStores
import Trust

@testable import Mdoc
@testable import Sessions

/// A clock that the test sets.
final class FakeClock: Sendable {
  private let seconds = Locked<Int64>(1_795_000_000)

  var now: Timestamp { Timestamp(secondsSince1970: seconds.withLock { $0 }) }
  func advance(_ by: Int64) { seconds.withLock { $0 += by } }
}

/// A service with a fake wallet, one shop and a clock.
struct Fixture: Sendable {
  static let personal = "Zaphod-Personal-Value"
  let clock = FakeClock()
  let store: any SessionStore
  let service: VerificationService
  let shop: RelyingParty

  init(
    store: any SessionStore = InMemoryStore(mode: .test), retains: Bool = false, wallet: FakeWallet = FakeWallet(),
    revocation: any RevocationSource = NoRevocationSource(), concurrentResponses: Int = 256, sealingKey: UInt8 = 7,
    keys: Set<String> = ["shop-key", "shop-writer"], quota: Quota = .standard, redirectSchemes: [String] = [],
    mode: ServerMode = .test, walletFeedback: Bool? = nil
  ) throws {
    var openID4VP = OpenID4VPConfiguration()
    openID4VP.walletFeedback = walletFeedback
    openID4VP.redirectSchemes = redirectSchemes
    self.store = store
    shop = RelyingParty(
      id: "shop", origins: ["https://shop.example"],
      apiKeys: keys.sorted().map { key in
        APIKey(
          sha256: APIKey.hash(of: key),
          scopes: key == "shop-key" ? [.sessionsWrite, .resultsRead] : [.sessionsWrite])
      }, openID4VP: openID4VP, policies: .init(retainsResults: retains), quota: quota)
    let other = RelyingParty(
      id: "other", apiKeys: [APIKey(sha256: APIKey.hash(of: "other-key"), scopes: [.sessionsWrite, .resultsRead])])
    var configuration = ServiceConfiguration(
      mode: mode, relyingParties: try RelyingParties([shop, other]), protocols: [wallet, FakeFetchedWallet()],
      trust: CurrentTrust(try Self.trust()), revocation: revocation,
      sealingKeys: [try SealingKey(id: "2026-11", key: SecretBytes(copying: [UInt8](repeating: sealingKey, count: 32)))]
    )
    configuration.concurrentResponses = concurrentResponses
    let clock = clock
    service = try VerificationService(configuration, store: store) { clock.now }
  }

  var full: Caller { .apiKey(shop, scopes: [.sessionsWrite, .resultsRead]) }
  var writer: Caller { .apiKey(shop, scopes: [.sessionsWrite]) }
  var foreign: Caller { .apiKey(RelyingParty(id: "other"), scopes: [.sessionsWrite, .resultsRead]) }

  /// Some anchor: the fake wallet's responses have no issuer.
  static func trust() throws -> TrustStore {
    let anchors = try MockAuthority(seed: [7]).anchors(at: FakeClock().now)
    return try TrustStore(
      anchors: anchors.map { TrustAnchor(certificate: try Certificate(der: $0.certificate), tier: .test) },
      allowsTestCertificates: true)
  }

  static let creation: JSON = [
    "protocols": ["apple-in-app"],
    "documents": [
      [
        "doc_type": "org.iso.18013.5.1.mDL",
        "elements": [
          ["namespace": "org.iso.18013.5.1", "identifier": "given_name"],
          ["namespace": "org.iso.18013.5.1", "identifier": "birth_date", "intent_to_retain": true],
        ],
        "age_over": [21],
      ]
    ],
    "client_reference_id": "order-17", "metadata": ["k": "v"],
  ]

  static func response(_ word: String) -> JSON {
    ["protocol": "apple-in-app", "data": ["encrypted_data": .string(Base64.encode(Array(word.utf8)))]]
  }

  /// The id of a new session and its client secret's caller.
  func create() async throws -> (id: String, holder: Caller) {
    let body = try await service.createSession(Self.creation, as: full).body
    guard let id = body["id"]?.string, let secret = body["client_secret"]?.string else {
      throw ServiceError(.apiInternal)
    }
    return (id, try await service.authenticate(bearer: secret))
  }

  static var presentation: AcceptedPresentation { presentation(retention: .none, anchor: "bb") }

  static func presentation(retention: Retention, anchor: String) -> AcceptedPresentation {
    func element(_ name: String, _ value: ElementValue, retain: Bool) -> AcceptedDocument.Element {
      AcceptedDocument.Element(
        reference: ElementReference(Namespace.mDL, name), value: value, retention: retain ? .unspecified : .none)
    }
    let date = FullDate(year: 1990, month: 4, day: 12).map { ElementValue.fullDate($0) } ?? .null
    return AcceptedPresentation(
      documents: [
        AcceptedDocument(
          requestIndex: 0, docType: DocType.mDL,
          elements: [
            element("given_name", .text(personal), retain: false), element("birth_date", date, retain: true),
          ],
          deviceSignedElements: [],
          ageAnswers: [
            AgeAnswer(threshold: 21, answer: true, provedBy: ElementReference(Namespace.mDL, "age_over_25"))
          ],
          missingElements: [ElementReference(Namespace.mDL, "organ_donor")], unrequestedElements: [],
          retention: retention,
          issuer: DocumentIssuer(
            country: "US", stateOrProvince: nil, commonName: "Signer", certificateSHA256: "aa", anchorSHA256: anchor),
          validity: DocumentValidity(
            signed: Timestamp(secondsSince1970: 1), validFrom: Timestamp(secondsSince1970: 2),
            validUntil: Timestamp(secondsSince1970: 3), expectedUpdate: nil),
          deviceAuthentication: .signature, revocation: .good)
      ], leavesUnread: false)
  }
}

extension JSON {
  var status: String? { self["status"]?.string }
  var givenName: String? {
    self["result"]?["documents"]?.array?.first?["elements"]?[Namespace.mDL]?["given_name"]?.string
  }
  var hasResult: Bool { self["result"].map { !$0.isNull } ?? false }
}

/// The code of the error that `body` throws.
func code(_ body: () async throws -> Void) async -> Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? ServiceError)?.code
  }
}
