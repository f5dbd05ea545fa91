import App
import Base
import Cryptography
import Glibc
import HTTP
import Longfellow
import Mdoc
import Mock
import PKIX
import Sessions
import Trust

/// A server in test mode with all that a client needs. It trusts its own mock authority and has one relying party. What
/// it verifies proves nothing outside the test.
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
  /// Web origins that may request answers and may hold client secrets: the server's own, and those of the options.
  package let origins: [String]
  /// The public half of the merchant's encryption key: P-256, uncompressed.
  package let encryptionPublicKey: [UInt8]
  package let store: StoreLocation
  /// The mock reader authority's certificate, DER. Wallets that authenticate readers trust it.
  package let readerRoot: [UInt8]

  /// Where events are sent, and the secret that signs them; nil if they are not sent.
  package let webhook: WebhookEndpoint?

  package static let relyingPartyID = "test"
  package static let webhookID = "test"

  package var baseURL: String { server.baseURL }
  /// The playground: a page to try the server with, in a browser on this machine.
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
    // Without keys in the options, the mock wallet's answers are encrypted to a derived key. An app encrypts to the key
    // in its merchant's certificate, which the options have to give.
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
    let reader = try TestReaderIdentity.identity(of: authority, named: socket.address, at: now)
    readerRoot = reader.root
    webhook = try options.webhookURL.map { url throws(StartError) in
      WebhookEndpoint(id: Self.webhookID, url: url, secrets: [try secrets.webhookSecret()])
    }
    // The last is that of the contract's examples.
    let own = ["http://127.0.0.1:\(socket.port)", "http://localhost:\(socket.port)", RequestExample.origin]
    origins = own + options.origins.filter { !own.contains($0) }
    let party = RelyingParty(
      id: Self.relyingPartyID, origins: origins,
      apiKeys: [APIKey(sha256: APIKey.hash(of: apiKey), scopes: Set(Scope.allCases))],
      apple: [
        AppleConfiguration(
          merchantID: options.merchantID, teamID: options.teamID, encryptionKeys: encryptionKeys)
      ],
      readers: [reader.reader], openID4VP: options.openID4VP,
      page: HostedPage(name: "Test Shop"),
      policies: .init(
        revocation: options.circuits == nil ? options.revocation : .allowUndetermined, evidenceKey: options.evidenceKey),
      webhooks: webhook.map { [$0] } ?? [])
    var configuration: ServerConfiguration
    do throws(ConfigurationError) {
      configuration = ServerConfiguration(
        testModeOn: socket, publicURL: own[0], store: store, anchors: try anchors.map(Self.anchor),
        sealingKeys: [try secrets.sealingKey()], relyingParties: try RelyingParties([party]))
    } catch {
      throw .configuration(error.message)
    }
    configuration.node = options.node
    configuration.proofs = options.circuits.map { ProofPolicy(circuits: $0) }
    configuration.edge.patience = options.patience
    configuration.additions = .testMode(
      MockWalletEndpoint(authority: authority, prover: options.circuits.map(MockProver.init)),
      Playground(apiKey: apiKey)
    ) {
      [publisher] in
      await publisher.stop()
      if let folder { TemporaryStore.remove(folder) }
    }
    let fetches = FetchLog()
    configuration.fetches = fetches
    configuration.revocation = RevocationChecker(
      fetcher: try ServerNetwork.webFetcher(fetches), allowsLoopback: true, executor: WorkerThreads.shared)
    server = try VerifierServer(configuration, log: log, clock: options.clock)
  }

  /// Whether a webhook may be at this address: over HTTPS, or on this machine, where plain HTTP is allowed too.
  package static func isWebhookURL(_ text: String) -> Bool {
    guard let address = try? ListAddress(text, allowing: DeliveryAttempt.rules(in: .test)) else { return false }
    let own = ["localhost", "127.0.0.1", "::1"]
    return address.isEncrypted || own.contains(address.host)
  }

  /// The publisher. The same seed gives the same port if that is free: an answer from before a restart names its lists
  /// by that port.
  private static func publisher(
    _ options: TestModeOptions, _ secrets: TestSecrets
  ) throws(StartError) -> MockPublisher {
    if options.seed != nil, let again = try? MockPublisher(port: secrets.publisherPort, clock: options.clock) {
      return again
    }
    return try MockPublisher(clock: options.clock)
  }

  /// The mock authority's anchor as a verifier trusts it.
  package static func anchor(_ anchor: MockAnchor) throws(ConfigurationError) -> TrustAnchor {
    let certificate: Certificate
    do throws(CertificateError) {
      certificate = try Certificate(der: anchor.certificate)
    } catch {
      throw ConfigurationError("the mock anchor \(anchor.name) is malformed")
    }
    var trusted = TrustAnchor(
      certificate: certificate, docTypes: anchor.docTypes, extendedKeyUsages: Set(anchor.extendedKeyUsages),
      maxPathLength: anchor.maxPathLength, tier: .test, source: "mock:\(anchor.name)")
    // The publisher is on this machine and has no TLS certificate.
    trusted.allowsPlainHTTP = true
    // Some of its variants publish their status as a JSON Web Token.
    trusted.allowsJWTStatusLists = true
    return trusted
  }
}

extension TestServer {
  /// Starts a server. The caller stops it. Its log is dropped unless `options.log` takes it.
  package static func start(_ options: TestModeOptions = TestModeOptions()) throws(StartError) -> TestServer {
    try TestServer(options, log: Log(sink: options.log))
  }

  /// Prints the server's address and keys on standard output, in one piece for scripts, and then serves until SIGTERM
  /// or SIGINT.
  ///
  /// - Parameter printsJSON: whether to print JSON and not text.
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
  /// The mock wallet's endpoint and the playground.
  static func testMode(
    _ wallet: MockWalletEndpoint, _ playground: Playground, end: @escaping @Sendable () async -> Void = {}
  ) -> ServerAdditions {
    ServerAdditions(
      groups: [RouteGroup("Testing", "Test mode's mock wallet.", wallet.routes + [DiagnosticRoute.route])],
      schemas: [.init("OpenedMockResponse", OpenedMockResponse.shape.schema)] + DiagnosticRoute.schemas,
      pages: PlaygroundRoutes.all(playground), end: end)
  }
}

/// How to start test mode, which always binds to the loopback interface.
package struct TestModeOptions: Sendable {
  /// The same seed gives the same anchors, keys and API key, so that a store can be served again. Nil for a new seed.
  package var seed: [UInt8]?
  /// 0 for any free port.
  package var port: UInt16 = 0
  /// Nil for a new SQLite file in the folder for temporary files.
  package var store: StoreLocation?
  /// The server's name among the nodes that share the store.
  package var node = NodeName.standard
  package var merchantID = "merchant.test.mdoc"
  package var teamID = "TESTTEAM01"
  /// Keys that apps' answers are encrypted to, such as a real merchant's. Empty to derive one from the seed.
  package var appleKeys: [PrivateKey] = []
  /// The relying party's policy on revocation.
  package var revocation = RevocationPolicy.requireGood
  package var openID4VP = OpenID4VPConfiguration(
    offersAnnexB: true, ageVerificationDocTypes: [DocType.europeanAgeVerification])
  /// By what zero-knowledge proofs are verified; nil: none can be asked for. With circuits, revocation that cannot be
  /// determined is allowed, since a proof hides its document's status.
  package var circuits: CircuitLibrary?
  /// Origins of further pages that may request answers and may hold client secrets, besides the server's own.
  package var origins: [String] = []
  /// The address to which the relying party's events are sent, on this machine or over HTTPS; nil to send none.
  package var webhookURL: String?
  /// The key that seals the evidence of the relying party's sessions; nil to keep none.
  package var evidenceKey: EvidenceKey?
  /// Milliseconds that a request may wait for its turn before it is refused for overload. Nil for the default of a live
  /// server.
  package var patience: Int?
  package var clock: @Sendable () -> Timestamp = Timestamp.systemNow
  /// Takes the log's lines if the server is started as part of another program.
  package var log: @Sendable (String) -> Void = { _ in }

  package init() {}
}

/// What test mode prints: all that a client needs to use the server.
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

  private var webhookLines: String {
    webhook.map { "\nWebhook      \($0.url)\nSecret       \($0.secrets[0].exposed)" } ?? ""
  }

  package var text: String {
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
