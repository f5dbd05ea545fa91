import Base
import Cryptography
import FoundationEssentials
import Glibc
import Longfellow
import PKIX
import Testing

@testable import App
@testable import Mock

/// A folder with a valid live configuration, which a test then breaks.
struct LiveFolder: Sendable {
  static let apiKey = "live-key-of-the-tests"
  let path: String
  let merchantKey: PrivateKey

  var configurationFile: String { path + "/mdoc.json" }

  /// Writes keys, one anchor without the mock's marker, and the configuration.
  init(_ path: String) throws {
    self.path = path
    merchantKey = try PrivateKey(generatingOn: .p256)
    try FileManager.default.createDirectory(atPath: path + "/trust", withIntermediateDirectories: true)
    try write("sealing.key", (0..<32).map { UInt8($0) })
    try write("evidence.key", (32..<64).map { UInt8($0) })
    try write("merchant.pem", merchantKey.pem())
    try write("trust/iaca.pem", Array(PEM.encode(certificate: Self.anchor()).utf8))
    // A circuit is unpacked when a proof first needs it.
    try FileManager.default.createDirectory(atPath: path + "/circuits", withIntermediateDirectories: true)
    try write("circuits/" + KnownCircuit.all[0].label, [0])
    try writeConfiguration()
  }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    let isWritten = FileManager.default.createFile(atPath: "\(path)/\(name)", contents: Data(bytes))
    try #require(isWritten)
    chmod("\(path)/\(name)", 0o600)
  }

  /// The contract's example, with members replaced; `.null` counts as absent.
  func writeConfiguration(_ changes: [String: JSON] = [:]) throws {
    let members = Self.configuration.map { JSON.Member($0.name, changes[$0.name] ?? $0.value) }
    let added = changes.filter { change in !Self.configuration.contains { $0.name == change.key } }
    try write(
      "mdoc.json", JSON.object(members + added.map { JSON.Member($0.key, $0.value) }).serialized(pretty: true))
  }

  static let configuration: [JSON.Member] = [
    .init("listen", "127.0.0.1:0"), .init("behind_proxy", false), .init("store", "sqlite:mdoc.sqlite"),
    .init("trust", ["trust/"]), .init("clock_skew", 60),
    .init("sealing_keys", [["id": "2026-11", "file": "sealing.key"]]), .init("relying_parties", [party]),
  ]

  static let party: JSON = [
    "id": "shop", "origins": ["https://shop.example"],
    "api_keys": [
      [
        "sha256": .string(Hex.encode(HashAlgorithm.sha256.hash(Array(apiKey.utf8)))),
        "scopes": ["sessions:write", "results:read"],
      ]
    ],
    "apple": [
      "merchant_id": "merchant.example.shop", "team_id": "ABCDE12345", "encryption_keys": ["merchant.pem"],
    ],
  ]

  /// A root like the mock issuer's, but not marked as its own.
  private static func anchor() throws -> [UInt8] {
    let authority = try MockAuthority(seed: Array("live".utf8))
    let now = Timestamp.systemNow()
    var template = try authority.anchorTemplate(.good, at: now)
    template[oid: MockCertificateMarker.oid] = nil
    return try template.signed(by: authority.certificateIssuer(.good).key)
  }

  /// Starts it, as `mdoc serve --config` does, and stops it after the body.
  func serve<R>(_ body: (VerifierServer, APIClient, LogCapture) async throws -> R) async throws -> R {
    let log = LogCapture()
    let server = try start(log)
    do {
      let api = APIClient(port: server.listen.port, isLive: true, token: Self.apiKey)
      let result = try await body(server, api, log)
      await server.stop(drainSeconds: 5)
      return result
    } catch {
      await server.stop(drainSeconds: 0)
      throw error
    }
  }

  func start(_ log: LogCapture = LogCapture()) throws(StartError) -> VerifierServer {
    try VerifierServer(
      ConfigurationLoader(path: configurationFile).load(), log: Log(sink: log.add), clock: Timestamp.systemNow)
  }
}

extension LiveFolder {
  /// The contract's relying party with one reader, whose members are replaced; `.null` counts as absent.
  static func partyWithReader(_ changes: [String: JSON] = [:], _ extra: [JSON.Member] = []) -> JSON {
    var reader: [JSON.Member] = [.init("key", "reader.pem"), .init("certificates", "reader-chain.pem")]
    for change in changes {
      reader.removeAll { $0.name == change.key }
      reader.append(.init(change.key, change.value))
    }
    return .object((party.object ?? []) + [.init("readers", [.object(reader)])] + extra)
  }

  /// A reader that follows the profile and lacks the mock's marker. Its chain, with and without the anchor, and invalid
  /// chains.
  func writeReader(
    until end: Timestamp = .systemNow() + 300 * 86_400, _ change: (inout CertificateTemplate) -> Void = { _ in }
  ) throws {
    let authority = try MockAuthority(seed: Array("live".utf8))
    let issuer = CertificateIssuer(
      name: authority.name("Reader Authority"), key: try PrivateKey(generatingOn: .p256))
    var root = authority.rootTemplate(issuer, (end - 1_000 * 86_400, end + 1_000 * 86_400))
    root[oid: MockCertificateMarker.oid] = nil
    let key = try PrivateKey(generatingOn: .p256)
    var leaf = CertificateTemplate(
      issuer: issuer.name, notBefore: end - 390 * 86_400, notAfter: end,
      subject: CertificateName(country: "US", state: nil, organization: "Shop", commonName: "shop.example"),
      publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
      extensions: [
        .authorityKeyIdentifier(issuer.keyIdentifier),
        .subjectKeyIdentifier(HashAlgorithm.sha1.hash(key.publicKey.encoded)), .keyUsage(.digitalSignature),
        .subjectAltName(dnsName: "shop.example"), .crlDistributionPoint(uri: "https://reader.example/crl"),
        .extendedKeyUsage([MockSigner.readerKeyUsage]),
      ])
    change(&leaf)
    let mock = try authority.reader(dnsName: "shop.example", at: .systemNow())
    let chain = PEM.encode(certificate: try leaf.signed(by: issuer.key))
    let anchor = PEM.encode(certificate: try root.signed(by: issuer.key))
    try write("reader.pem", key.pem())
    for (name, text) in [
      ("reader-chain.pem", chain), ("reader-with-root.pem", chain + anchor), ("root-first.pem", anchor + chain),
      ("twice.pem", chain + chain),
      ("mock-reader.pem", mock.certificates.map { PEM.encode(certificate: $0) }.joined()),
    ] {
      try write(name, Array(text.utf8))
    }
  }
}
