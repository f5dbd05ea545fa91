import Base
import Glibc
import Longfellow
import Mdoc
import PKIX
import Sessions
import Trust

/// Reads a server's configuration. Refuses unsafe settings before it opens a socket or a store.
struct ConfigurationLoader: Sendable {
  let path: String
  /// Kept across reloads, since each environment variable can be read only once.
  var environment = EnvironmentSecrets()
  /// Nil before the first load.
  var network: ServerNetwork?

  /// Reads the whole file, as of `now`. Throws all errors at once.
  func load(at now: Timestamp = .systemNow()) throws(StartError) -> ServerConfiguration {
    let network = if let network { network } else { try ServerNetwork() }
    var file = ConfigurationFile(path: path, now: now, environment: environment, fetcher: network.fetcher)
    var faults = Faults(most: .max)
    let json = try json(of: file, &faults)
    file.mode = [nil, .null, "live"].contains(json["mode"]) ? .live : .staging
    file.registrars = file.registrarEntry.value(in: json, at: "", &faults) ?? file.registrars
    file.tokenModule = file.tokenModuleEntry.value(in: json, at: "", &faults) ?? nil
    guard var configuration = file.root.read(json, "", &faults), faults.isEmpty else {
      throw .configuration(path, faults, isPassing: file.passing.withLock { $0.isSuperset(of: faults.all) })
    }
    configuration.source = ConfigurationLoader(path: path, environment: environment, network: network)
    for name in ConfigurationSchema.fixedMembers { configuration.fixedMembers[name] = json[name] ?? .null }
    configuration.fetches = network.fetches
    configuration.revocation = network.revocation
    configuration.warnings = faults.warnings + Self.warnings(of: configuration)
    return configuration
  }

  /// Reads only the store's location, for programs that read the store without serving.
  func store() throws(StartError) -> StoreLocation {
    let file = ConfigurationFile(
      path: path, now: Timestamp(secondsSince1970: 0), environment: environment, fetcher: StaticListFetcher())
    var faults = Faults()
    let json = try json(of: file, &faults)
    guard let store = file.storeEntry.value(in: json, at: "", &faults) else { throw .configuration(path, faults) }
    return store
  }

  private func json(of file: ConfigurationFile, _ faults: inout Faults) throws(StartError) -> JSON {
    guard let bytes = file.contents(of: path, at: "", &faults) else { throw .configuration(path, faults) }
    do throws(JSON.SyntaxError) { return try JSON(parsing: bytes, values: .max) } catch {
      throw .configuration(path, [.init("", "\(error); it must be UTF-8 without duplicate members")])
    }
  }

  /// Warns of untrusted proxies, of wallet settings without `public_url`, and of readers with a name other than the
  /// host of `public_url`. Wallets refuse such readers (OpenID4VP 1.0, 5.9.3).
  private static func warnings(of configuration: ServerConfiguration) -> [String] {
    var warnings: [String] = []
    if configuration.isBehindProxy, configuration.edge.proxy.trusted.isEmpty {
      warnings.append(
        "behind_proxy without trusted_proxies: only a proxy on this machine is trusted; add any other proxy's address "
          + "or network to trusted_proxies. Otherwise all its clients share the limits of one address")
    }
    let host = configuration.publicURL.flatMap(WebOrigin.host)
    return warnings
      + configuration.relyingParties.all.flatMap { party -> [String] in
        if let host {
          return party.readers.compactMap { reader in
            guard case .dnsName(let name) = reader.clientIdentifier, name != host else { return nil }
            return
              "relying party \"\(party.id)\": wallets compare x509_san_dns:\(name) with the host of public_url, \(host)"
          }
        }
        let (name, settings) = (party.id, party.openID4VP)
        return [
          ("eu_age_verification", !settings.ageVerificationDocTypes.isEmpty),
          ("redirect_uri", settings.redirectURI != nil),
          ("wallet_feedback", settings.walletFeedback == true),
          ("wallet_origins", !settings.walletOrigins.isEmpty),
        ].filter(\.1).map { member, _ in
          "relying party \"\(name)\": openid4vp.\(member) has no effect without public_url"
        }
      }
  }
}

// MARK: The file

extension ConfigurationFile {
  /// The shape of the configuration file. The loader adds the other parts of `ServerConfiguration`.
  var root: Shape<ServerConfiguration> {
    let restart = ConfigurationSchema.needsRestart
    return .form(
      "configuration",
      .ifAny(
        "$schema", Shape<JSON>.any(.nonEmptyString()),
        "The schema, for editors. The server does not read it."),
      Entry(
        "mode", Self.modes, or: .string(ServerMode.live.rawValue),
        "`staging` also trusts anchors of the tier `test`, and its replies have `livemode` false.\(restart)"),
      Entry(
        "listen",
        Shape.nonEmptyString().parsed(
          "must be a numeric address and a port, such as 127.0.0.1:8080 or [::1]:8080", { ListenAddress($0) }),
        or: .string(ListenAddress.standard), "Numeric address and port.\(restart)"),
      Entry(
        "behind_proxy", Shape<Bool>.flag, or: false,
        "Whether a TLS proxy is in front: must be true beyond loopback, unless `tls` is set.\(restart)"),
      .ifAny("tls", tls, "Certificate and key for TLS without a proxy.\(restart)"),
      Entry("limits", EdgeConfiguration.limits, or: [:], "Limits on request rates and connections."),
      Entry(
        "trusted_proxies", ProxyRule.proxies, or: [],
        "Addresses and networks of proxies that may state a client's address. Loopback is always trusted.\(restart)"),
      .ifAny("proxy_header", ProxyRule.headers, "The header in which proxies state the client's address.\(restart)"),
      .ifAny(
        "public_url",
        Shape.name(
          like: "^https?://[a-z0-9.-]+(:[0-9]+)?$",
          "must be https://host[:port] in lower case, without a path; http only for loopback", WebOrigin.isValid),
        "The server's address for wallets; required for `openid4vp`."),
      .ifAny(
        "reader_crl", readerCRL,
        "Revocation list (DER) of the authority that certified the readers, served as `/reader.crl`."),
      .ifAny(
        "documentation", documentation,
        "Folder of the articles as HTML, served as `/docs`. The package installs them in `/usr/share/doc/mdoc/html`."),
      Entry(
        "console", Shape<Bool>.flag, or: false,
        "Whether to serve `/console`, a page where relying parties see their sessions with an API key."),
      storeEntry,
      .ifAny("node", NodeName.shape, "This server's name in audit entries. By default, the host's name.\(restart)"),
      Entry(
        "trust", trust.list(atLeast: 1), "Files and folders of trust anchors, and published lists to follow."),
      Entry("trust_state", Shape.nonEmptyString(), or: "trust-state", "Folder of the last accepted lists."),
      Entry(
        "trust_refresh", Shape.integer(60...86_400), or: 3_600, "Seconds between loads of published lists."),
      .ifAny(
        "circuits", circuits, "Folder of the circuits of zero-knowledge proofs; required to request proofs."),
      Entry(
        "zk_end_of_day", Shape<Bool>.flag, or: false,
        "Whether a proof's time may be later on the current day in UTC, as in Google Wallet's proofs."),
      Entry(
        "clock_skew", Shape.integer(0...Limits.longestClockSkew), or: .integer(Limits.clockSkew),
        "The allowed clock skew, in seconds."),
      Entry(
        "stop_notice", Shape.integer(0...300), or: .integer(StopTimes.standard.notice),
        "Seconds during which `/readyz` replies 503 before a stop begins.\(restart)"),
      Entry(
        "stop_drain", Shape.integer(1...300), or: .integer(StopTimes.standard.drain),
        "Seconds that requests in progress have to finish during a stop.\(restart)"),
      tokenModuleEntry,
      Entry("sealing_keys", sealingKeys, "Keys for data at rest. The first key encrypts; every key can decrypt."),
      registrarEntry,
      Entry("relying_parties", relyingParty.list(atLeast: 1), "The relying parties that use the server.")
    ) {
      place, _, mode, listen, isBehindProxy, tls, limits, proxies, header, publicURL, readerCRL, documentation,
      hasConsole, store, node, trust, state, refresh, circuits, endOfDay, skew, notice, drain, _, keys, _,
      parties in
      let node = node ?? NodeName(NodeName.hostName().lowercased())
      if node == nil {
        place.add("node", "is required, because the host name has characters other than a-z, 0-9, . and -")
      }
      let plan = plan(trust, state: state, refresh: refresh, &place.faults)
      let parties = self.parties(parties, sealingKeys: keys, publicURL, &place.faults)
      guard let node, let parties else { return nil }
      var configuration = ServerConfiguration(
        mode: mode, listen: listen, isBehindProxy: isBehindProxy, publicURL: publicURL, store: store,
        anchors: trust.flatMap(\.anchors), trust: plan, clockSkew: skew, sealingKeys: keys, relyingParties: parties)
      configuration.edge = edge(limits, tls, proxies, header, listen, isBehindProxy: isBehindProxy, &place.faults)
      configuration.proofs = circuits.map { ProofPolicy(circuits: $0, acceptsEndOfDay: endOfDay) }
      configuration.readerCRL = readerCRL
      configuration.documentation = documentation
      configuration.hasConsole = hasConsole
      configuration.node = node
      configuration.stop = StopTimes(notice: notice, drain: drain)
      return configuration
    }
  }

  /// Live and staging only: test mode has no configuration file.
  private static var modes: Shape<ServerMode> {
    let known = [ServerMode.live, .staging]
    return Shape.nonEmptyString().parsed("must be live or staging; test mode is mdoc serve --test-mode") { name in
      known.first { $0.rawValue == name }
    }.described(by: .oneOf(known.map(\.rawValue)))
  }

  var storeEntry: Entry<StoreLocation> {
    Entry(
      "store",
      Shape.nonEmptyString(like: "^(sqlite:.|postgres(ql)?://)").parsed { text, pointer, faults in
        let store = faults.attempt(pointer) { try StoreLocation(text, resolve: resolve) }
        guard case .sqlite(let path) = store else { return store }
        for suffix in ["", "-wal", "-shm"] { faults.requireProtection(of: path + suffix, at: pointer) }
        faults.requireProtectedFolder(around: path, at: pointer)
        return store
      }, "`sqlite:` and a path, or a `postgresql://` URL.\(ConfigurationSchema.needsRestart)")
  }

  /// Only lists the circuits. Each circuit is unpacked and hashed when a proof first needs it.
  private var circuits: Shape<CircuitLibrary> {
    Shape.nonEmptyString().parsed { folder, pointer, faults in
      guard let library = faults.attempt(pointer, { try CircuitLibrary(folder: resolve(folder)) }) else { return nil }
      if !library.circuits.isEmpty { return library }
      faults.add(pointer, "\(folder) has no circuit; run `mdoc circuits import` to add them")
      return nil
    }
  }

  private var documentation: Shape<DocumentationSite> {
    Shape.nonEmptyString().parsed { folder, pointer, faults in
      faults.attempt(pointer) { try DocumentationSite(folder: resolve(folder)) }
    }
  }

  private var readerCRL: Shape<[UInt8]> {
    file.parsed { file, pointer, faults in
      guard file.bytes.first == 0x30, let list = try? UnverifiedCRL(parsing: file.bytes) else {
        faults.add(pointer, "\(file.path) is not a revocation list in DER")
        return nil
      }
      if let end = list.nextUpdate, end < now + PartyCertificates.notice {
        faults.warn("\(file.path): the readers' revocation list \(end < now ? "expired" : "expires") at \(end)")
      }
      return file.bytes
    }
  }
}

extension NodeName {
  /// The name of this process among the processes that share a store.
  static let shape = Shape.nonEmptyString(like: "^[a-z0-9.-]{1,63}$").parsed(
    "must be 1 to 63 of the characters a-z, 0-9, . and -", { NodeName($0) })

  static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// The report of `mdoc serve --check-config`. Opens no socket and no store. Uses the last accepted copy of each list.
package struct ConfigurationCheck: Sendable {
  package let path: String
  /// Errors; empty if a server can start with the file.
  package let problems: [InputError]
  /// Settings that are allowed, but should be changed.
  package let warnings: [String]
  /// True if the errors may be temporary, such as an unavailable token.
  package let isPassing: Bool

  package init(path: String) {
    self.path = path
    let now = Timestamp.systemNow()
    do throws(StartError) {
      let loader = ConfigurationLoader(path: path, network: ServerNetwork.none)
      let configuration = try loader.load(at: now)
      let lists = configuration.trust?.loader
      let listed = lists?.localListedAnchors(at: now) ?? []
      let missing = (lists?.missingLists ?? []).map { "trust: the list \($0) cannot be read" }
      let isTrusting = !(configuration.anchors + listed).isEmpty || lists?.fetchesLists == true
      let noAnchor = configuration.trust?.noAnchor ?? ""
      problems =
        Self.storeProblems(configuration.store)
        + (isTrusting ? [] : [InputError("/trust", "\(noAnchor) in the files and accepted lists")])
      warnings =
        configuration.warnings + missing + AnchorCertificates.warnings(of: configuration.anchors, at: now)
        + AnchorCertificates.loadWarnings(of: configuration.anchors + listed)
        + PartyCertificates.warnings(of: configuration.relyingParties, at: now)
        + AnchorCertificates.unknownIssuers(of: configuration.relyingParties, among: configuration.anchors + listed)
      isPassing = false
    } catch {
      problems = error.problems
      warnings = []
      isPassing = error.exitCode == 75
    }
  }

  /// At its start, a server creates the store's file, but not the folder.
  private static func storeProblems(_ store: StoreLocation) -> [InputError] {
    guard case .sqlite(let path) = store else { return [] }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard access(folder, W_OK | X_OK) != 0 else { return [] }
    let reason = FileFault.reason(errno)
    return [
      InputError("/store", "the folder \(folder): \(reason); the server's user must be able to create files in it")
    ]
  }

  package var json: JSON {
    [
      "object": "configuration_check", "file": .string(path), "is_good": .bool(problems.isEmpty),
      "problems": .array(problems.map { ["pointer": .string($0.pointer), "detail": .string($0.detail)] }),
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }
}
