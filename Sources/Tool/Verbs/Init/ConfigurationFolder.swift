import App
import Base
import Cryptography
import FoundationEssentials
import Glibc
import Mock
import PKIX
import Sessions
import Trust

/// The content of a new server's folder, and the remaining steps.
struct ConfigurationFolder {
  struct Choices: Sendable {
    let mode: ServerMode
    let listen: ListenAddress
    let publicURL: String?
    let proxies: [String]
    let relyingParty: String
    let pageName: String
    /// True to use the paths and the group of the Debian package.
    let isSystem: Bool
    let origins: [String]
    let merchant: (id: String, team: String)?
    /// The files of trust anchors to copy.
    let anchors: [String]
  }

  struct File: Sendable {
    let name: String
    let bytes: [UInt8]
    var isSecret = false
  }

  let choices: Choices
  let apiKey: MadeKey
  /// The API key for reading `/metrics`.
  let monitoringKey: MadeKey
  private(set) var files: [File] = []

  /// Makes the keys and the content of all files, but writes nothing to disk.
  init(_ choices: Choices, at now: Timestamp) throws(Failure) {
    self.choices = choices
    let month = String(now.description.prefix(7))
    var party: [JSON.Member] = [.init("id", choices.relyingParty.json), .init("origins", choices.origins.json)]
    do {
      apiKey = try MadeKey.api()
      monitoringKey = try MadeKey.api()
      add("keys/sealing.key", try MadeKey.sealing().content, isSecret: true)
      let scopes = [Scope.sessionsWrite, .resultsRead].map(\.rawValue)
      let keys: JSON = [
        .of(["sha256": apiKey.facts[0].1, "scopes": scopes, "id": month]),
        .of(["sha256": monitoringKey.facts[0].1, "scopes": [Scope.admin.rawValue], "id": "monitoring"]),
      ]
      party.append(.init("api_keys", keys))
      // A page needs the address at which browsers reach it.
      if choices.publicURL != nil { party.append(.init("page", .of(["name": choices.pageName]))) }
      if let merchant = choices.merchant {
        try addKey("merchant", commonName: "Identity access of \(merchant.id)")
        party.append(
          .init(
            "apple",
            .of(["merchant_id": merchant.id, "team_id": merchant.team, "encryption_keys": ["keys/merchant.pem"]])))
      }
      if let url = choices.publicURL { party += try addReader(url, at: now) }
    } catch {
      throw .internal("the cryptographic library made no key: \(error)")
    }
    add("mdoc.json", configuration(party, month: month).fileContent)
    add(".gitignore", "# Secrets, and the server's own files.\n/keys/\n/mdoc.sqlite*\n/trust-state/\n")
    add("trust/README.md", trustNote)
    try copyAnchors()
  }

  private mutating func add(_ name: String, _ bytes: [UInt8], isSecret: Bool = false) {
    files.append(File(name: name, bytes: bytes, isSecret: isSecret))
  }

  private mutating func add(_ name: String, _ text: String) { add(name, Array(text.utf8)) }

  /// Adds a new private key, and the request for its certificate.
  private mutating func addKey(_ name: String, commonName: String, extensions: [CertificateExtension] = []) throws {
    let key = try PrivateKey(generatingOn: .p256)
    let request = try CertificateRequest.of(key, commonName: commonName, extensions: extensions)
    add("keys/\(name).pem", try key.pem(), isSecret: true)
    add("keys/\(name).csr", PEM.encode(request: request))
  }

  private func configuration(_ party: [JSON.Member], month: String) -> JSON {
    let isBehindProxy = choices.publicURL?.hasPrefix("https:") == true || !choices.proxies.isEmpty
    // A proxy on this machine is always trusted. Listing its address states that there is no other proxy.
    let proxies = choices.proxies.isEmpty ? ["127.0.0.1"] : choices.proxies
    return .members([
      "mode": choices.mode.rawValue.json, "listen": choices.listen.description.json, "behind_proxy": isBehindProxy.json,
      "trusted_proxies": isBehindProxy ? proxies.json : nil, "public_url": choices.publicURL?.json,
      "store": choices.isSystem ? "sqlite:\(SystemPlaces.state)/mdoc.sqlite".json : "sqlite:mdoc.sqlite",
      "trust_state": choices.isSystem ? "\(SystemPlaces.state)/trust-state".json : nil, "node": "verifier-1",
      "reader_crl": files.contains { $0.name == "reader.crl" } ? "reader.crl" : nil, "trust": ["trust/"],
      "sealing_keys": [.of(["id": month, "file": "keys/sealing.key"])], "relying_parties": [.object(party)],
    ])
  }

  /// In staging, adds a self-made reader. A developer can make their own wallet trust it. In live mode, only an
  /// authority that wallets trust can certify a reader.
  private mutating func addReader(_ url: String, at now: Timestamp) throws -> [JSON.Member] {
    let host = WebOrigin.host(url) ?? url
    guard choices.mode == .staging else {
      try addKey("reader", commonName: choices.relyingParty, extensions: SelfMadeReader.profile(host: host))
      return []
    }
    let reader = try SelfMadeReader(
      name: choices.relyingParty, host: host, revocationList: url + ReaderRevocationList.path, at: now)
    add("keys/reader.pem", try reader.key.pem(), isSecret: true)
    add("keys/reader-chain.pem", PEM.encode(certificate: reader.certificate))
    add("keys/reader-authority.pem", PEM.encode(certificate: reader.authority))
    add("reader.crl", reader.revocationList)
    return [.init("readers", [["key": "keys/reader.pem", "certificates": "keys/reader-chain.pem"]])]
  }

  // MARK: Trust

  /// Copies the files of anchors with their settings. The suffix depends on the content, since loaders choose files in
  /// folders by suffix.
  private mutating func copyAnchors() throws(Failure) {
    for path in choices.anchors {
      let bytes = try FileAccess.read(path, purpose: "trust anchor")
      _ = try readable("trust anchor ") { try TrustAnchorLoader(defaultDocTypes: nil).load([path]) }
      let last = path.split(separator: "/").last.map(String.init) ?? path
      let stem = last.lastIndex(of: ".").map { String(last[..<$0]) } ?? last
      guard !files.contains(where: { $0.name.hasPrefix("trust/\(stem).") }) else {
        throw .usage("--trust: two files are called \(stem)")
      }
      let isDER = bytes.first == 0x30
      add("trust/\(stem).\(isDER ? "der" : "pem")", bytes)
      let settings = TrustAnchorLoader.settingsFile(of: path)
      if FileAccess.exists(settings) {
        add("trust/\(stem).json", try FileAccess.read(settings, purpose: "settings"))
      } else if choices.mode == .staging {
        add("trust/\(stem).json", Self.sandboxSettings)
      }
    }
  }

  /// Settings that make live servers ignore a sandbox's anchor, in any folder.
  private static let sandboxSettings = "{\n  \"doc_types\": [\"org.iso.18013.5.1.mDL\"],\n  \"tier\": \"test\"\n}\n"

  private var trustNote: String {
    let isStaging = choices.mode == .staging
    let settings = #"{ "doc_types": ["org.iso.18013.5.1.mDL"]\#(isStaging ? #", "tier": "test""# : "") }"#
    let tiers =
      isStaging
      ? "Give a sandbox's anchor the tier `test`: a staging server trusts it, and a live server ignores it."
      : "A live server ignores anchors of the tier `test`."
    return """
      # Whose documents this server accepts

      Put the certificates of issuing authorities (IACA) here, PEM or DER. `utah.json` lists the document types for
      which `utah.pem` is trusted; without that file, only driving licences (mDL):

      ```json
      \(settings)
      ```

      \(tiers)
      The server does not start with a certificate whose private key is public, such as the mock authority's.

      See what counts: `mdoc trust list --trust .` Then let the server load it: `kill -HUP`, or start it again.

      """
  }
}

extension ConfigurationFolder {
  func report(in folder: String) -> [Report] {
    let path = "\(folder)/mdoc.json"
    let rows = [
      ("Configuration", path), ("Mode", choices.mode.rawValue), ("Relying party", choices.relyingParty),
      ("API key", apiKey.text), ("Monitoring key", monitoringKey.text),
    ]
    let steps = steps(in: folder)
    let next =
      choices.isSystem
      ? ["Start it: systemctl enable --now mdoc", "Check that it is ready: curl -sS http://\(choices.listen)/readyz"]
      : ["Start it: mdoc serve --config \(path)"]
    let metrics = ["Configure Prometheus to read its metrics:"] + prometheus.map { "  " + $0 }
    let facts: Report = .members([
      "object": "configuration_folder", "mode": choices.mode.rawValue, "livemode": choices.mode.isLive,
      "configuration": path, "relying_party": choices.relyingParty, "api_key": apiKey.text,
      "monitoring_key": monitoringKey.text, "files": files.map(\.name), "to_do": steps,
    ])
    var report: [Report] = [facts, .table(rows, indent: 0, width: 240)]
    report += steps.map { Report.section([.text(["To do: \($0)"], hanging: 7)]) }
    report += [next, metrics].map { lines in Report.section(lines.map { Report.line("\($0)") }) }
    return report
  }

  /// A part of Prometheus' configuration.
  private var prometheus: [String] {
    [
      "scrape_configs:", "  - job_name: mdoc", "    authorization: { credentials: \(monitoringKey.text) }",
      "    static_configs: [ { targets: [ \"\(choices.listen)\" ] } ]",
    ]
  }

  /// The remaining steps until all requested features work.
  private func steps(in folder: String) -> [String] {
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
            + "keys/reader.pem with the chain that the authority returns")
    }
    if choices.merchant != nil {
      steps.append("upload \(folder)/keys/merchant.csr to Apple as the request of an Identity Access Certificate")
    }
    return steps
  }
}

/// Writes the folder as a whole: checks a draft beside it, then moves the draft into place.
extension ConfigurationFolder {
  /// Only the package's folder may already exist, and only if it is empty.
  ///
  /// - Throws: if the folder exists, or if a server cannot start with these choices. After an error, nothing remains on
  ///   disk.
  func write(to folder: String) throws(Failure) {
    let group = choices.isSystem ? try SystemPlaces.group() : nil
    let content = try? FileManager.default.contentsOfDirectory(atPath: folder)
    guard !FileAccess.exists(folder) || group != nil && content == [] else {
      throw .unreadable(
        group == nil
          ? "\(folder): exists already, and was not changed; name a new folder"
          : "\(folder): must be empty, and was not changed; move its files away")
    }
    let draft = "\(folder).\(getpid()).new"
    try FileAccess.makeNewFolder(draft)
    var isPlaced = false
    defer { if !isPlaced { try? FileManager.default.removeItem(atPath: draft) } }
    try FileAccess.makeNewFolder(draft + "/keys", mode: 0o700)
    try FileAccess.makeNewFolder(draft + "/trust")
    for file in files {
      let path = "\(draft)/\(file.name)"
      if file.isSecret {
        try FileAccess.writeSecret(file.bytes, to: path)
      } else {
        try FileAccess.writeNew(file.bytes, to: path)
      }
    }
    try check(draft, as: folder)
    if let group { try give(draft, to: group) }
    // A rename replaces only an empty folder.
    guard rename(draft, folder) == 0 else {
      throw .unreadable("\(folder): cannot create the folder: \(FileAccess.reason(errno))")
    }
    isPlaced = true
  }

  /// Lets the group read everything and change nothing.
  private func give(_ draft: String, to group: gid_t) throws(Failure) {
    var places: [(path: String, mode: mode_t)] = ["", "/keys", "/trust"].map { (draft + $0, 0o750) }
    places += files.map { ("\(draft)/\($0.name)", 0o640) }
    for (path, mode) in places {
      guard chown(path, 0, group) == 0, chmod(path, mode) == 0 else {
        throw .unreadable("\(path): cannot be given to the server's group: \(FileAccess.reason(errno))")
      }
    }
  }

  /// Checks the configuration as `--check-config` does. A missing anchor is not a fault if no anchor was given. The
  /// package's state folders are not checked, since they belong to the server's user. Only this user may start the
  /// server, never root.
  private func check(_ draft: String, as folder: String) throws(Failure) {
    let problems = ConfigurationCheck(path: draft + "/mdoc.json").problems.filter {
      (!choices.anchors.isEmpty || $0.pointer != "/trust")
        && !(choices.isSystem && ["/store", "/trust_state"].contains($0.pointer))
    }
    guard let problem = problems.first else { return }
    let detail = problem.detail.replacing(draft, with: folder)
    guard let option = Self.options.first(where: { problem.pointer.hasPrefix($0.pointer) })?.option else {
      throw .configuration("\(folder)/mdoc.json: \(problem.pointer): \(detail)")
    }
    throw .usage("--\(option): \(detail)")
  }

  /// The options that set members of the configuration.
  private static let options: [(pointer: String, option: String)] = [
    ("/listen", "listen"), ("/public_url", "public-url"), ("/trusted_proxies", "proxy"), ("/trust", "trust"),
    ("/relying_parties/0/id", "relying-party"), ("/relying_parties/0/origins", "origin"),
    ("/relying_parties/0/apple/merchant_id", "apple-merchant"), ("/relying_parties/0/apple/team_id", "apple-team"),
  ]
}

/// The paths of the Debian package, and the account that its unit runs under.
enum SystemPlaces {
  static let configuration = "/etc/mdoc"
  static let state = "/var/lib/mdoc"
  private static let account = "mdoc"

  /// The group that may read the configuration.
  static func group() throws(Failure) -> gid_t {
    guard let entry = getgrnam(account) else {
      throw .unreadable("--system: there is no group \(account); install the package first")
    }
    guard geteuid() == 0 else { throw .usage("--system needs root, which gives the files to the group \(account)") }
    return entry.pointee.gr_gid
  }
}
