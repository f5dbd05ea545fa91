import Base
import Glibc
import Longfellow
import Mdoc
import PKIX
import Sessions
import Trust

/// Reads the configuration of a server in live mode or staging (HTTP API, Configuration). It refuses everything unsafe
/// before anything is opened: a server that starts is one that may serve.
struct ConfigurationLoader {
  private let file: ConfigurationFile
  private let environment: EnvironmentSecrets
  private let network: ServerNetwork?

  /// - Parameters:
  ///   - environment: that of the previous reading, which has already taken its variables.
  ///   - network: that of the previous reading; nil makes a new one.
  init(path: String, environment: EnvironmentSecrets = EnvironmentSecrets(), network: ServerNetwork? = nil) {
    file = ConfigurationFile(path: path)
    self.environment = environment
    self.network = network
  }

  /// Reads the whole file.
  ///
  /// - Parameter now: the time at which certificates and keys are judged.
  /// - Throws: all faults that were found, together.
  func load(at now: Timestamp = .systemNow()) throws(StartError) -> ServerConfiguration {
    let root = try file.root()
    let network = if let network { network } else { try ServerNetwork() }
    var warnings: [String] = []
    let mode = root.attempt(try self.mode(root))
    let secrets = ConfiguredSecrets(file: file, environment: environment)
    let isBehindProxy = root.attempt(try root.flag("behind_proxy"))
    let edge = root.attempt(
      try EdgeConfiguration(configured: root, isBehindProxy: isBehindProxy ?? true, secrets))
    // If one of these could not be read, that fault is noted already and must not cause a second one.
    let isProtected = isBehindProxy ?? true || edge.map { $0.tls != nil } ?? true
    let listen = root.attempt(try self.listen(root, isProtected: isProtected))
    let publicURL = root.attempt(try self.publicURL(root))
    let store = root.attempt(try self.store(root))
    let node = root.attempt(try NodeName(configured: root))
    // If the mode could not be read, trust must not cause a second fault.
    let plan = root.attempt(
      try ConfiguredTrust(file: file, mode: mode ?? .staging).plan(root, fetcher: network.fetcher))
    let anchors: [TrustAnchor]? = if let plan { root.attempt(try anchors(root, plan)) } else { nil }
    let readerCRL = root.attempt(try self.readerCRL(root, at: now, &warnings)) ?? nil
    let clockSkew = root.attempt(try root.number("clock_skew"))
    let proofs = root.attempt(try self.proofs(root))
    let stop = root.attempt(try StopTimes(notice: root.number("stop_notice"), drain: root.number("stop_drain")))
    let sealingKeys = root.attempt(try secrets.sealingKeys(root))
    let parties = root.attempt(
      try ConfiguredParties(secrets: secrets, sealingKeys: sealingKeys ?? [], now: now).all(root, &warnings))
    if let publicURL, publicURL == nil, let party = parties?.all.first(where: { $0.page != nil }) {
      file.reading.note(Schema.Fault("/public_url", "is required: relying party \"\(party.id)\" has a page"))
    }
    if let store, case .sqlite(let path) = store {
      for suffix in ["", "-wal", "-shm"] { file.requireProtection(of: path + suffix, at: "/store") }
      file.requireProtectedFolder(around: path, at: "/store")
    }
    guard file.reading.faults.isEmpty, let mode, let isBehindProxy, let edge, let listen, let publicURL, let store,
      let node,
      let plan, let anchors, let clockSkew, let proofs, let stop, let sealingKeys, let parties
    else { throw .configuration(file.path, file.reading.faults) }
    var configuration = ServerConfiguration(
      mode: mode, listen: listen, isBehindProxy: isBehindProxy, publicURL: publicURL, store: store,
      anchors: anchors, trust: plan, clockSkew: clockSkew, sealingKeys: sealingKeys, relyingParties: parties)
    configuration.edge = edge
    configuration.proofs = proofs
    configuration.readerCRL = readerCRL
    configuration.node = node
    configuration.stop = stop
    configuration.source = ConfigurationSource(path: file.path, environment: environment, network: network)
    for name in ConfigurationSchema.fixedMembers { configuration.fixedMembers[name] = root.value(name) ?? .null }
    configuration.fetches = network.fetches
    configuration.revocation = network.revocation
    configuration.warnings =
      warnings + Self.proxyWarnings(configuration) + Self.nameWarnings(configuration)
      + Self.addressWarnings(configuration)
    return configuration
  }

  /// Reads the store's location alone, for programs that read the store without serving.
  func store() throws(StartError) -> StoreLocation {
    let root = try file.root()
    do throws(Schema.Fault) { return try store(root) } catch { throw .configuration(file.path, [error]) }
  }

  /// The schema allows live and staging alone: test mode has no file.
  private func mode(_ root: Schema.Object) throws(Schema.Fault) -> ServerMode {
    guard let mode = ServerMode(rawValue: try root.text("mode")), mode != .test else {
      throw root.fault("mode", "must be live or staging; test mode is mdoc serve --test-mode")
    }
    return mode
  }

  private func listen(_ root: Schema.Object, isProtected: Bool) throws(Schema.Fault) -> ListenAddress {
    guard let listen = ListenAddress(try root.text("listen")) else {
      throw root.fault("listen", "must be a numeric address and a port, such as 127.0.0.1:8080 or [::1]:8080")
    }
    guard listen.isLoopback || isProtected else {
      throw root.fault(
        "listen",
        "\(listen) is plain HTTP beyond loopback; set tls, or put a TLS proxy in front and set behind_proxy to true")
    }
    return listen
  }

  /// The address at which wallets fetch requests and post their answers; nil if none is configured.
  private func publicURL(_ root: Schema.Object) throws(Schema.Fault) -> String? {
    guard let text = try root.ifAny("public_url", root.text) else { return nil }
    guard WebOrigin.isValid(text) else {
      throw root.fault(
        "public_url", "must be https://host[:port] in lower case, without a path; http only for loopback")
    }
    return text
  }

  /// The circuits are only listed here: each is unpacked, and its hash computed, when a proof first needs it.
  private func proofs(_ root: Schema.Object) throws(Schema.Fault) -> ProofPolicy? {
    let acceptsEndOfDay = try root.flag("zk_end_of_day")
    guard let folder = try root.ifAny("circuits", root.text) else { return nil }
    let circuits: CircuitLibrary
    do throws(CircuitFolderError) { circuits = try CircuitLibrary(folder: file.resolve(folder)) } catch {
      throw root.fault("circuits", error.description)
    }
    guard !circuits.circuits.isEmpty else {
      throw root.fault("circuits", "\(folder) has no circuit; `mdoc circuits import` puts them there")
    }
    return ProofPolicy(circuits: circuits, acceptsEndOfDay: acceptsEndOfDay)
  }

  /// Warns if only proxies on loopback are trusted. Behind another proxy every client then has the proxy's address: all
  /// share one rate, and one of them can use it up.
  private static func proxyWarnings(_ configuration: ServerConfiguration) -> [String] {
    guard configuration.isBehindProxy, configuration.edge.proxy.trusted.isEmpty else { return [] }
    return [
      "behind_proxy without trusted_proxies: clients are told apart only behind a proxy on this machine; name the proxy's "
        + "address or network in trusted_proxies, or all clients of another share the limits of one address"
    ]
  }

  /// Warns if a reader's DNS name is not the host that wallets answer to: a wallet refuses such a reader (OpenID4VP
  /// 1.0, 5.9.3).
  private static func nameWarnings(_ configuration: ServerConfiguration) -> [String] {
    guard let host = configuration.publicURL.flatMap(WebOrigin.host) else { return [] }
    return configuration.relyingParties.all.flatMap { party in
      party.readers.compactMap { reader in
        guard case .dnsName(let name) = reader.clientIdentifier, name != host else { return nil }
        return "relying party \"\(party.id)\": wallets compare x509_san_dns:\(name) with public_url's host, \(host)"
      }
    }
  }

  /// Warns of what is set for wallets that come to the server, where they cannot.
  private static func addressWarnings(_ configuration: ServerConfiguration) -> [String] {
    guard configuration.publicURL == nil else { return [] }
    return configuration.relyingParties.all.flatMap { party in
      let (name, settings) = (party.id, party.openID4VP)
      return [
        ("eu_age_verification", !settings.ageVerificationDocTypes.isEmpty),
        ("redirect_uri", settings.redirectURI != nil),
        ("wallet_feedback", settings.walletFeedback == true),
        ("wallet_origins", !settings.walletOrigins.isEmpty),
      ].filter(\.1).map { member, _ in
        "relying party \"\(name)\": openid4vp.\(member) has no effect without public_url, where wallets reach the server"
      }
    }
  }

  private func store(_ root: Schema.Object) throws(Schema.Fault) -> StoreLocation {
    let text = try root.text("store")
    do throws(ConfigurationError) {
      return try StoreLocation(text, resolve: file.resolve)
    } catch {
      throw root.fault("store", error.message)
    }
  }

  /// The readers' revocation list; nil if none is configured.
  private func readerCRL(
    _ root: Schema.Object, at now: Timestamp, _ warnings: inout [String]
  ) throws(Schema.Fault) -> [UInt8]? {
    guard let name = try root.ifAny("reader_crl", root.text) else { return nil }
    let bytes = try file.read(name, at: "/reader_crl")
    let path = file.resolve(name)
    guard bytes.first == 0x30, let list = try? UnverifiedCRL(parsing: bytes) else {
      throw root.fault("reader_crl", "\(path) is no revocation list in DER")
    }
    if let end = list.nextUpdate, end < now + PartyCertificates.notice {
      warnings.append("\(path): the readers' revocation list \(end < now ? "expired" : "expires") at \(end)")
    }
    return bytes
  }

  /// Loads the anchors of the files. A fault in them stops the start before anything is opened or fetched.
  private func anchors(_ root: Schema.Object, _ plan: TrustPlan) throws(Schema.Fault) -> [TrustAnchor] {
    for path in plan.paths + plan.paths.map(TrustAnchorLoader.settingsFile) {
      file.requireProtection(of: path, at: "/trust")
    }
    var anchors: [TrustAnchor] = []
    do throws(TrustLoadError) {
      for (addresses, paths) in plan.files {
        anchors += try TrustAnchorLoader(defaultDocTypes: [DocType.mDL], crlAddresses: addresses).load(paths)
      }
    } catch {
      throw root.fault("trust", error.description)
    }
    if let problem = TrustPlan.problem(with: anchors, in: plan.mode) { throw root.fault("trust", problem) }
    // If an entry has a fault, it is unknown which anchors it would have brought, so their absence is no second fault.
    guard
      plan.hasLists || file.reading.faults.contains(where: { $0.pointer.hasPrefix("/trust/") })
        || anchors.contains(where: plan.mayTrust)
    else {
      throw root.fault("trust", "\(plan.noAnchor) in \(plan.paths.joined(separator: ", "))")
    }
    return anchors
  }
}

extension NodeName {
  /// Reads `node`: the name of this process among those that share a store; the host's name by default.
  init(configured root: Schema.Object) throws(Schema.Fault) {
    let configured = try root.ifAny("node", root.text)
    guard let node = NodeName(configured ?? Self.hostName().lowercased()) else {
      throw root.fault(
        "node",
        configured == nil
          ? "is required here, since the host's name has other characters than a-z, 0-9, . and -"
          : "must be 1 to 63 of the characters a-z, 0-9, . and -")
    }
    self = node
  }

  private static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// What `mdoc serve --check-config` reports: everything in the file, and in the files that it names, for which a start
/// would be refused.
///
/// It opens no socket and no store, and fetches nothing. For a list that would be fetched it uses the last accepted
/// copy.
package struct ConfigurationCheck: Sendable {
  package let path: String
  /// Empty if a server may be started with the file.
  package let problems: [Schema.Fault]
  /// What is allowed but should be changed.
  package let warnings: [String]

  package init(path: String) {
    self.path = path
    let now = Timestamp.systemNow()
    do throws(StartError) {
      let loader = ConfigurationLoader(path: path, network: ServerNetwork.none)
      let configuration = try loader.load(at: now)
      let lists = configuration.trust?.loader
      let listed = lists?.listedAnchorsAtHand(at: now) ?? []
      let missing = (lists?.missingLists ?? []).map { "trust: the list \($0) cannot be read" }
      let isTrusting = !(configuration.anchors + listed).isEmpty || lists?.fetchesLists == true
      let noAnchor = configuration.trust?.noAnchor ?? ""
      problems =
        Self.storeProblems(configuration.store)
        + (isTrusting
          ? [] : [Schema.Fault("/trust", "\(noAnchor) in what is here now")])
      warnings =
        configuration.warnings + missing + AnchorCertificates.warnings(of: configuration.anchors, at: now)
        + AnchorCertificates.loadWarnings(of: configuration.anchors + listed)
        + PartyCertificates.warnings(of: configuration.relyingParties, at: now)
        + AnchorCertificates.unknownIssuers(of: configuration.relyingParties, among: configuration.anchors + listed)
    } catch {
      problems = error.problems
      warnings = []
    }
  }

  /// The start makes the store's file, but its folder must exist.
  private static func storeProblems(_ store: StoreLocation) -> [Schema.Fault] {
    guard case .sqlite(let path) = store else { return [] }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard access(folder, W_OK | X_OK) != 0 else { return [] }
    let reason = FileFault.reason(errno)
    return [
      Schema.Fault(
        "/store",
        "the folder \(folder): \(reason); the server's user must be able to make files in it")
    ]
  }

  package var json: JSON {
    [
      "object": "configuration_check", "file": .string(path), "is_good": .bool(problems.isEmpty),
      "problems": .array(
        problems.map { ["pointer": .string($0.pointer), "detail": .string($0.detail)] }),
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }
}
