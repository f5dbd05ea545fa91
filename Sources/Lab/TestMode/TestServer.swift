import App
import Base
import Cryptography
import FoundationEssentials
import Glibc
import HTTP
import Longfellow
import Mdoc
import Mock
import PKIX
import Presentation
import Sessions
import Trust

/// A server in test mode. It trusts its own mock authority and has one relying party, so its results prove nothing.
package struct TestServer: Sendable {
  package let server: VerifierServer
  /// The API key of the relying party `test`, with every scope.
  package let apiKey: String
  package let anchors: [MockAnchor]
  package let authority: MockAuthority
  /// Serves the authority's lists.
  package let publisher: MockPublisher
  package let merchantID: String
  package let teamID: String
  /// Web origins that may send requests and hold client secrets: the server's own origin and the options' origins.
  package let origins: [String]
  /// The public half of the merchant's encryption key: P-256, uncompressed.
  package let encryptionPublicKey: [UInt8]
  package let store: StoreLocation
  /// The mock reader authority's certificate, DER, for wallets that authenticate readers.
  package let readerRoot: [UInt8]
  /// The address for events, and the secret that signs them; nil to send no events.
  package let webhook: WebhookEndpoint?

  package static let relyingPartyID = "test"
  package static let webhookID = "test"

  package var baseURL: String { server.baseURL }
  package var playgroundURL: String { baseURL + "/playground" }

  init(_ options: TestModeOptions, log: Log) throws(StartError) {
    let secrets = try TestSecrets(seed: options.seed)
    let now = options.clock()
    publisher = try Self.publisher(options, secrets)
    do {
      authority = try MockAuthority(seed: secrets.authoritySeed, addresses: publisher.addresses)
      anchors = try authority.walletAnchors(at: now)
    } catch {
      throw .unavailable("the mock authority failed: \(error)")
    }
    publisher.publish(of: authority)
    apiKey = secrets.apiKey
    merchantID = options.merchantID
    teamID = options.teamID
    // The mock wallet encrypts to a derived key. A real app encrypts to its merchant's key, which the options give.
    let encryptionKeys = options.appleKeys.isEmpty ? [secrets.encryptionKey] : options.appleKeys
    encryptionPublicKey = encryptionKeys[0].publicKey.encoded
    let socket: BoundSocket
    do throws(HTTPServerError) {
      socket = try BoundSocket(address: "127.0.0.1", port: options.port)
    } catch {
      throw .unavailable(error.description)
    }
    let folder: String? = if options.store == nil { try TemporaryStore.makeFolder() } else { nil }
    store = options.store ?? .sqlite(path: "\(folder ?? ".")/mdoc.sqlite")
    let reader: ReaderIdentity
    do {
      // ISO/IEC TS 18013-7, Annex B identifies readers by the host of the public address.
      let mock = try authority.reader(dnsName: socket.address, at: now)
      reader = try ReaderIdentity(key: mock.key, certificates: mock.certificates.map { try Certificate(der: $0) })
      readerRoot = mock.root
    } catch {
      throw .unavailable("the mock reader failed: \(error)")
    }
    webhook = try options.webhookURL.map { url throws(StartError) in
      WebhookEndpoint(id: Self.webhookID, url: url, secrets: [try secrets.webhookSecret()])
    }
    // The examples in the API's contract use the last origin.
    let own = ["http://127.0.0.1:\(socket.port)", "http://localhost:\(socket.port)", RequestExample.origin]
    origins = own + options.origins.filter { !own.contains($0) }
    let party = RelyingParty(
      id: Self.relyingPartyID, origins: origins,
      apiKeys: [APIKey(sha256: APIKey.hash(of: apiKey), scopes: Set(Scope.allCases))],
      apple: [AppleConfiguration(merchantID: merchantID, teamID: teamID, encryptionKeys: encryptionKeys)],
      readers: [reader], openID4VP: options.openID4VP,
      page: options.page,
      policies: .init(
        revocation: options.circuits == nil ? options.revocation : .allowUndetermined, evidenceKey: options.evidenceKey),
      webhooks: webhook.map { [$0] } ?? [], templates: ["over-18": .age(18)])
    let trusted: [TrustAnchor]
    var configuration: ServerConfiguration
    do throws(ConfigurationError) {
      trusted = try anchors.map(Self.anchor)
      configuration = ServerConfiguration(
        testModeOn: socket, publicURL: own[0], store: store, anchors: trusted,
        sealingKeys: [try secrets.sealingKey()], relyingParties: try RelyingParties([party]))
    } catch {
      throw .configuration(error.message)
    }
    configuration.node = options.node
    configuration.documentation = options.documentation
    configuration.hasConsole = true
    configuration.proofs = options.circuits.map { ProofPolicy(circuits: $0) }
    configuration.edge.patience = options.patience
    configuration.additions = .testMode(
      MockWalletEndpoint(authority: authority, prover: options.circuits.map(MockProver.init)), apiKey: apiKey,
      apple: party.apple, check: CheckRoute(anchors: trusted)
    ) { [publisher] in
      await publisher.stop()
      if let folder { TemporaryStore.remove(folder) }
    }
    let fetches = FetchLog()
    configuration.fetches = fetches
    configuration.revocation = RevocationChecker(
      fetcher: try ServerNetwork.webFetcher(fetches), allowsLoopback: true, executor: WorkerThreads.shared)
    server = try VerifierServer(configuration, log: log, clock: options.clock)
  }

  /// True if this address is allowed for a webhook. The address must use HTTPS or be on this machine, where plain HTTP
  /// is also allowed.
  package static func isWebhookURL(_ text: String) -> Bool {
    guard let address = try? ListAddress(text, allowing: DeliveryAttempt.rules(in: .test)) else { return false }
    let own = ["localhost", "127.0.0.1", "::1"]
    return address.isEncrypted || own.contains(address.host)
  }

  /// Reuses the seed's port if it is free, because earlier responses contain addresses with this port.
  private static func publisher(
    _ options: TestModeOptions, _ secrets: TestSecrets
  ) throws(StartError) -> MockPublisher {
    if options.seed != nil, let again = try? MockPublisher(port: secrets.publisherPort, clock: options.clock) {
      return again
    }
    return try MockPublisher(clock: options.clock)
  }

  /// Converts a mock anchor to a verifier's trust anchor.
  package static func anchor(_ anchor: MockAnchor) throws(ConfigurationError) -> TrustAnchor {
    guard let certificate = try? Certificate(der: anchor.certificate) else {
      throw ConfigurationError("the mock anchor \(anchor.name) is malformed")
    }
    var trusted = TrustAnchor(
      certificate: certificate, docTypes: anchor.docTypes, extendedKeyUsages: Set(anchor.extendedKeyUsages),
      maxPathLength: anchor.maxPathLength, tier: .test, source: "mock:\(anchor.name)")
    // The publisher is on this machine and has no TLS certificate.
    trusted.allowsPlainHTTP = true
    // Some variants publish a status as a JSON Web Token.
    trusted.allowsJWTStatusLists = true
    return trusted
  }
}

extension TestServer {
  /// Starts a server. The caller must stop it. Its log goes only to `options.log`.
  package static func start(_ options: TestModeOptions = TestModeOptions()) throws(StartError) -> TestServer {
    try TestServer(options, log: Log(sink: options.log))
  }

  /// Prints the server's address and keys on standard output, as JSON or text, then serves until SIGTERM or SIGINT.
  package static func run(_ options: TestModeOptions, printsJSON: Bool) async -> Int32 {
    await VerifierServer.run(stoppedBy: { await $0.stop() }) { log throws(StartError) in
      let test = try TestServer(options, log: log)
      print(printsJSON ? test.json.text() : test.text)
      fflush(nil)
      return test.server
    }
  }
}

extension ServerAdditions {
  /// The mock wallet's endpoint, the playground, and the page `/check`.
  static func testMode(
    _ wallet: MockWalletEndpoint, apiKey: String, apple: [AppleConfiguration] = [], check: CheckRoute,
    end: @escaping @Sendable () async -> Void = {}
  ) -> ServerAdditions {
    ServerAdditions(
      groups: [
        RouteGroup(
          "Testing", "Test mode's mock wallet.",
          wallet.routes + [
            SimulatedOutcome.route(wallet), DiagnosticRoute.route, check.route,
            WalletRequestRoute(wallet: wallet).route,
          ])
      ],
      schemas: [
        .init("OpenedMockResponse", OpenedMockResponse.shape.schema),
        .init("MockWalletRequest", MockWalletRequest.shape.schema),
      ] + DiagnosticRoute.schemas,
      pages: PlaygroundRoutes.all(apiKey: apiKey, wallet.authority, apple: apple), end: end)
  }
}

/// The options of test mode, which always binds to the loopback interface.
package struct TestModeOptions: Sendable {
  /// The seed for the anchors, the keys and the API key. To reuse a store, use the same seed. Nil for a new seed.
  package var seed: [UInt8]?
  /// The port; 0 for any free port.
  package var port: UInt16 = 0
  /// The store; nil for a new SQLite file in the folder for temporary files.
  package var store: StoreLocation?
  /// The server's name among the nodes of the store.
  package var node = NodeName.standard
  package var merchantID = "merchant.test.mdoc"
  package var teamID = "TESTTEAM01"
  /// The keys to which apps encrypt, such as a real merchant's keys; empty to derive a key from the seed.
  package var appleKeys: [PrivateKey] = []
  /// The relying party's policy on revocation.
  package var revocation = RevocationPolicy.requireGood
  package var openID4VP = OpenID4VPConfiguration(
    offersAnnexB: true, ageVerificationDocTypes: [DocType.europeanAgeVerification])
  /// The circuits of zero-knowledge proofs; nil to accept no proofs. With circuits, an undetermined revocation status
  /// is allowed, since a proof hides its document's status.
  package var circuits: CircuitLibrary?
  package var page = HostedPage(name: "Test Shop", showsReason: true)
  /// The pages of `/docs`; nil if there are none.
  package var documentation: DocumentationSite?
  /// Further origins that may send requests, hold client secrets, and embed the page in a frame.
  package var origins: [String] = []
  /// The address for the relying party's events, on this machine or over HTTPS; nil to send no events.
  package var webhookURL: String?
  /// The key that encrypts the evidence of the relying party's sessions; nil to store no evidence.
  package var evidenceKey: EvidenceKey?
  /// The time in milliseconds after which a waiting request is rejected because of overload; nil for a live server's
  /// default.
  package var patience: Int?
  package var clock: @Sendable () -> Timestamp = Timestamp.systemNow
  /// Receives the log's lines if the server runs inside another program.
  package var log: @Sendable (String) -> Void = { _ in }

  package init() {}
}

/// The output of test mode, for clients.
extension TestServer {
  package var json: JSON {
    .members([
      "object": "test_mode", "livemode": false, "mode": "test",
      "base_url": .string(baseURL), "playground_url": .string(playgroundURL),
      "api_key": .string(apiKey),
      "relying_party": [
        "id": .string(Self.relyingPartyID), "merchant_id": .string(merchantID), "team_id": .string(teamID),
        "encryption_public_key": .string(Base64.encode(encryptionPublicKey)),
        "origins": .array(origins.map { .string($0) }),
      ],
      "store": .string("\(store)"), "lists_url": .string(publisher.baseURL),
      "webhook": webhook.map { ["url": .string($0.url), "secret": .string($0.secrets[0].exposed)] },
      "reader_authority": .string(PEM.encode(certificate: readerRoot)),
      "trust_anchors": .array(
        anchors.map { anchor in
          [
            "name": .string(anchor.name),
            "sha256": .string(Hex.encode(HashAlgorithm.sha256.hash(anchor.certificate))),
            "doc_types": .array(anchor.docTypes.map { .string($0) }),
            "certificate": .string(PEM.encode(certificate: anchor.certificate)),
          ]
        }),
    ])
  }

  package var text: String {
    let webhookLines = webhook.map { "\nWebhook      \($0.url)\nSecret       \($0.secrets[0].exposed)" } ?? ""
    let names = anchors.map { anchor in
      "  \(Hex.encode(HashAlgorithm.sha256.hash(anchor.certificate)))  \(anchor.name)"
    }
    return """
      TEST MODE: nothing verified here is real.
      URL          \(baseURL)
      Playground   \(playgroundURL)
      API key      \(apiKey)
      Merchant     \(merchantID)
      Team         \(teamID)
      Origins      \(origins.joined(separator: " "))
      Store        \(store)
      Lists        \(publisher.baseURL)\(webhookLines)
      Trust anchors (mock):
      \(names.joined(separator: "\n"))

      Try:
        curl -s \(baseURL)/v1/verification_sessions -H 'Authorization: Bearer \(apiKey)' \\
          -H 'Content-Type: application/json' -d '{"protocols":["apple-in-app"],"documents":[{"doc_type":\
      "org.iso.18013.5.1.mDL","elements":[{"namespace":"org.iso.18013.5.1","identifier":"given_name"}],"age_over":[21]}]}'
      """
  }
}

/// The secrets of one test server, all derived from one seed.
struct TestSecrets {
  private static let salt = Array("mdoc test mode 1".utf8)
  private let seed: [UInt8]
  let authoritySeed: [UInt8]
  let apiKey: String
  let encryptionKey: PrivateKey
  /// A port from 20000 to 29999, below the ports that the system assigns.
  let publisherPort: UInt16

  init(seed: [UInt8]?) throws(StartError) {
    do throws(CryptoError) {
      // A given seed makes the same authority here as in files. The wallet's page shows the authority's seed, so no
      // other secret may derive from a new authority's seed.
      let given = seed
      let seed = if let seed { seed } else { try Random.bytes(32) }
      self.seed = seed
      authoritySeed = if let given { given } else { try Self.derive("authority", from: seed).exposed() }
      apiKey = "mdoc_test_" + Hex.encode(try Self.derive("api key", from: seed).exposed())
      encryptionKey = try Self.key(from: seed)
      let number = try Self.derive("publisher port", from: seed).exposed().prefix(2)
      publisherPort = 20_000 + number.reduce(0) { $0 << 8 | UInt16($1) } % 10_000
    } catch {
      throw .unavailable("no keys could be made: \(error)")
    }
  }

  func sealingKey() throws(ConfigurationError) -> SealingKey {
    guard let key = try? Self.derive("sealing", from: seed) else {
      throw ConfigurationError("no sealing key could be made")
    }
    return try SealingKey(id: "test", key: key)
  }

  func webhookSecret() throws(StartError) -> WebhookSecret {
    guard let key = try? Self.derive("webhook", from: seed), let secret = WebhookSecret(key) else {
      throw .unavailable("no webhook secret could be made")
    }
    return secret
  }

  private static func derive(_ label: String, from seed: [UInt8]) throws(CryptoError) -> SecretBytes {
    try HKDF.deriveKey(from: SecretBytes(copying: seed), salt: salt, info: Array(label.utf8), length: 32)
  }

  /// One scalar in 2³² is not below the order of P-256. In that case, a second scalar is derived.
  private static func key(from seed: [UInt8]) throws(CryptoError) -> PrivateKey {
    do throws(CryptoError) {
      return try PrivateKey(curve: .p256, scalar: derive("encryption", from: seed).exposed())
    } catch {
      return try PrivateKey(curve: .p256, scalar: derive("encryption, again", from: seed).exposed())
    }
  }
}

/// A new folder for the store of a test server. Only its owner can read it.
enum TemporaryStore {
  static func makeFolder() throws(StartError) -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/mdoc-test-XXXXXX".utf8CString)
    let folder = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
    guard let folder else { throw .unavailable("\(base): no folder can be made") }
    return folder
  }

  static func remove(_ folder: String) {
    // If removal fails, the files remain. They contain only test data.
    try? FileManager.default.removeItem(atPath: folder)
  }
}
