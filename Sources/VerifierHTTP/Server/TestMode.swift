import Cryptography
import MockIssuance
import PKIX
import Primitives
import Trust
import VerificationService

/// A server in test mode with all that a client needs: it trusts its own mock authority, has one relying party, and
/// nothing it says is worth anything outside.
public struct TestMode: Sendable {
  public let server: VerifierServer
  /// Of the relying party `test`, with every scope.
  public let apiKey: String
  public let anchors: [MockAnchor]
  public let authority: MockAuthority
  public let merchantID: String
  public let teamID: String
  /// The public half of the merchant's encryption key: P-256, uncompressed.
  public let encryptionPublicKey: [UInt8]
  public let storePath: String

  public static let relyingPartyID = "test"

  public var baseURL: String { server.baseURL }

  init(_ options: TestModeOptions, log: Log) throws(StartError) {
    let secrets = try TestSecrets(seed: options.seed)
    let now = options.clock()
    do {
      authority = try MockAuthority(seed: secrets.authoritySeed)
      anchors = try authority.anchors(at: now)
    } catch {
      throw .unavailable("the mock authority failed: \(error)")
    }
    apiKey = secrets.apiKey
    merchantID = options.merchantID
    teamID = options.teamID
    encryptionPublicKey = secrets.encryptionKey.publicKey.encoded
    let folder: String? = if options.storePath == nil { try TemporaryStore.makeFolder() } else { nil }
    storePath = options.storePath ?? "\(folder ?? ".")/mdoc.sqlite"
    let party = RelyingParty(
      id: Self.relyingPartyID, origins: options.origins,
      apiKeys: [APIKey(sha256: APIKey.hash(of: apiKey), scopes: Set(Scope.allCases))],
      apple: AppleConfiguration(
        merchantID: options.merchantID, teamID: options.teamID, encryptionKeys: [secrets.encryptionKey]))
    var configuration: ServerConfiguration
    do throws(ConfigurationError) {
      configuration = ServerConfiguration(
        isLive: false, listen: ListenAddress(address: "127.0.0.1", port: options.port), storePath: storePath,
        anchors: try anchors.map(Self.anchor), sealingKeys: [try secrets.sealingKey()],
        relyingParties: try RelyingParties([party]))
    } catch {
      throw .configuration(error.message)
    }
    configuration.temporaryFolder = folder
    server = try VerifierServer(configuration, mockAuthority: authority, log: log, clock: options.clock)
  }

  private static func anchor(_ anchor: MockAnchor) throws(ConfigurationError) -> TrustAnchor {
    let certificate: Certificate
    do throws(CertificateError) {
      certificate = try Certificate(der: anchor.certificate)
    } catch {
      throw ConfigurationError("the mock anchor \(anchor.name) is malformed")
    }
    return TrustAnchor(
      certificate: certificate, docTypes: anchor.docTypes, extendedKeyUsages: Set(anchor.extendedKeyUsages),
      maxPathLength: anchor.maxPathLength, tier: .test, source: "mock:\(anchor.name)")
  }
}

extension VerifierServer {
  /// Starts a server in test mode; the caller stops it. Its log goes nowhere unless `options.log` takes it.
  public static func startTestMode(_ options: TestModeOptions = TestModeOptions()) throws(StartError) -> TestMode {
    try TestMode(options, log: Log(sink: options.log))
  }
}
