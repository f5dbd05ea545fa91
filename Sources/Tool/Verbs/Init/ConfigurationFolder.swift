import App
import Base
import Cryptography
import Glibc
import Mock
import PKIX
import Sessions
import Trust

/// The content of a folder with which a server starts, and what is left to do.
struct ConfigurationFolder {
  struct Merchant: Sendable {
    let id: String
    let team: String
  }

  struct Choices: Sendable {
    let mode: ServerMode
    let listen: ListenAddress
    let publicURL: String?
    let proxies: [String]
    let relyingParty: String
    let origins: [String]
    let merchant: Merchant?
    /// The files of trust anchors to copy.
    let anchors: [String]
  }

  struct File: Sendable {
    let name: String
    let bytes: [UInt8]
    var isSecret = false

    init(_ name: String, _ bytes: [UInt8], isSecret: Bool = false) {
      self.name = name
      self.bytes = bytes
      self.isSecret = isSecret
    }

    init(_ name: String, _ text: String) { self.init(name, Array(text.utf8)) }
  }

  let choices: Choices
  let apiKey: MadeKey
  private(set) var files: [File] = []

  /// Makes everything; writes nothing.
  init(_ choices: Choices, at now: Timestamp) throws(Failure) {
    self.choices = choices
    let month = String(now.description.prefix(7))
    var party: [JSON.Member] = [
      .init("id", .string(choices.relyingParty)), .init("origins", .array(choices.origins.map { .string($0) })),
    ]
    do {
      apiKey = try MadeKey.api()
      files.append(File("keys/sealing.key", try MadeKey.sealing().content, isSecret: true))
      party.append(
        .init(
          "api_keys",
          [
            [
              "sha256": .string(Hex.encode(HashAlgorithm.sha256.hash(Array(apiKey.text.utf8)))),
              "scopes": .array([Scope.sessionsWrite, .resultsRead].map { .string($0.rawValue) }), "id": .string(month),
            ]
          ]))
      if let merchant = choices.merchant { party.append(try makeMerchant(merchant)) }
      if let url = choices.publicURL { party += try makeReader(url, at: now) }
    } catch {
      throw .internal("the cryptographic library made no key: \(error)")
    }
    files.append(File("mdoc.json", configuration(party, month: month).serialized(pretty: true) + [0x0a]))
    files.append(File(".gitignore", "# Secrets, and what the server writes.\n/keys/\n/mdoc.sqlite*\n/trust-state/\n"))
    files.append(File("trust/README.md", trustNote))
    try copyAnchors()
  }

  private func configuration(_ party: [JSON.Member], month: String) -> JSON {
    let isBehindProxy = choices.publicURL?.hasPrefix("https:") == true || !choices.proxies.isEmpty
    // A proxy on this machine is trusted anyway. Its address here says that no other one is in front.
    let proxies = choices.proxies.isEmpty ? ["127.0.0.1"] : choices.proxies
    return .members([
      "mode": .string(choices.mode.rawValue), "listen": .string(choices.listen.description),
      "behind_proxy": .bool(isBehindProxy),
      "trusted_proxies": isBehindProxy ? .array(proxies.map { .string($0) }) : nil,
      "public_url": choices.publicURL.map { .string($0) }, "store": "sqlite:mdoc.sqlite", "node": "verifier-1",
      "reader_crl": files.contains { $0.name == "reader.crl" } ? "reader.crl" : nil,
      "trust": ["trust/"], "sealing_keys": [["id": .string(month), "file": "keys/sealing.key"]],
      "relying_parties": [.object(party)],
    ])
  }

  // MARK: Keys

  private mutating func makeMerchant(_ merchant: Merchant) throws -> JSON.Member {
    let key = try PrivateKey(generatingOn: .p256)
    let request = try CertificateRequest.of(key, commonName: "Identity access of \(merchant.id)")
    files.append(File("keys/merchant.pem", try key.pem(), isSecret: true))
    files.append(File("keys/merchant.csr", PEM.encode(request: request)))
    return .init(
      "apple",
      [
        "merchant_id": .string(merchant.id), "team_id": .string(merchant.team),
        "encryption_keys": ["keys/merchant.pem"],
      ])
  }

  /// In staging a reader that the developer's own wallet can be told to trust. In live mode only an authority that
  /// wallets know can certify one.
  private mutating func makeReader(_ url: String, at now: Timestamp) throws -> [JSON.Member] {
    let host = WebOrigin.host(url) ?? url
    guard choices.mode == .staging else {
      let key = try PrivateKey(generatingOn: .p256)
      let request = try CertificateRequest.of(
        key, commonName: choices.relyingParty, extensions: SelfMadeReader.profile(host: host))
      files.append(File("keys/reader.pem", try key.pem(), isSecret: true))
      files.append(File("keys/reader.csr", PEM.encode(request: request)))
      return []
    }
    let reader = try SelfMadeReader(
      name: choices.relyingParty, host: host, revocationList: url + ReaderRevocationList.path, at: now)
    files.append(File("keys/reader.pem", try reader.key.pem(), isSecret: true))
    files.append(File("keys/reader-chain.pem", PEM.encode(certificate: reader.certificate)))
    files.append(File("keys/reader-authority.pem", PEM.encode(certificate: reader.authority)))
    files.append(File("reader.crl", reader.revocationList))
    return [.init("readers", [["key": "keys/reader.pem", "certificates": "keys/reader-chain.pem"]])]
  }

  // MARK: Trust

  /// Copies the files of anchors with their settings. The ending follows the content, since a folder's files are chosen
  /// by their endings.
  private mutating func copyAnchors() throws(Failure) {
    for path in choices.anchors {
      let bytes = try FileAccess.read(path, purpose: "trust anchor")
      do throws(TrustLoadError) {
        _ = try TrustAnchorLoader(defaultDocTypes: nil).load([path])
      } catch {
        throw .unreadable("trust anchor \(error.description)")
      }
      let last = path.split(separator: "/").last.map(String.init) ?? path
      let stem = last.lastIndex(of: ".").map { String(last[..<$0]) } ?? last
      guard !files.contains(where: { $0.name.hasPrefix("trust/\(stem).") }) else {
        throw .usage("--trust: two files are called \(stem)")
      }
      let isDER = bytes.first == 0x30
      files.append(File("trust/\(stem).\(isDER ? "der" : "pem")", bytes))
      let settings = TrustAnchorLoader.settingsFile(of: path)
      if FileAccess.exists(settings) {
        files.append(File("trust/\(stem).json", try FileAccess.read(settings, purpose: "settings")))
      } else if choices.mode == .staging {
        files.append(File("trust/\(stem).json", Self.sandboxSettings))
      }
    }
  }

  /// So that a sandbox's anchor stays what it is in whatever folder it comes to lie.
  private static let sandboxSettings = "{\n  \"doc_types\": [\"org.iso.18013.5.1.mDL\"],\n  \"tier\": \"test\"\n}\n"

  private var trustNote: String {
    let isStaging = choices.mode == .staging
    let settings = #"{ "doc_types": ["org.iso.18013.5.1.mDL"]\#(isStaging ? #", "tier": "test""# : "") }"#
    let tiers =
      isStaging
      ? "Give a sandbox's anchor the tier `test`: it counts in staging, and a live server passes over it."
      : "A live server passes over anchors of the tier `test`."
    return """
      # Whose documents this server accepts

      Put the certificates of issuing authorities (IACA) here, PEM or DER. Beside `utah.pem`, `utah.json` says what it is
      trusted for; without it, driving licences (mDL) alone:

      ```json
      \(settings)
      ```

      \(tiers)
      Certificates whose private keys are public, such as those of the mock authority, stop the start.

      See what counts: `mdoc trust list --trust .` Then let the server load it: `kill -HUP`, or start it again.

      """
  }
}

/// What is printed of a folder.
extension ConfigurationFolder {
  func facts(in folder: String) -> [(label: String, value: String)] {
    [
      ("Configuration", "\(folder)/mdoc.json"), ("Mode", choices.mode.rawValue),
      ("Relying party", choices.relyingParty), ("API key", apiKey.text),
    ]
  }

  /// What is left to do before everything that was asked for works.
  func steps(in folder: String) -> [String] {
    var steps: [String] = []
    if choices.anchors.isEmpty {
      steps.append(
        "put an issuing authority's certificate into \(folder)/trust/ (see its README.md); without one the server does "
          + "not start")
    }
    if choices.publicURL != nil {
      steps.append(
        choices.mode == .staging
          ? "install \(folder)/keys/reader-authority.pem in the wallet as a trusted reader authority"
          : "send \(folder)/keys/reader.csr to a reader authority, and give the relying party \"readers\": "
            + "keys/reader.pem with the chain that comes back")
    }
    if choices.merchant != nil {
      steps.append("upload \(folder)/keys/merchant.csr to Apple as the request of an Identity Access Certificate")
    }
    return steps
  }

  func json(in folder: String) -> JSON {
    [
      "object": "configuration_folder", "mode": .string(choices.mode.rawValue), "livemode": .bool(choices.mode.isLive),
      "configuration": .string("\(folder)/mdoc.json"), "relying_party": .string(choices.relyingParty),
      "api_key": .string(apiKey.text), "files": .array(files.map { .string($0.name) }),
      "to_do": .array(steps(in: folder).map { .string($0) }),
    ]
  }
}
