import Fetching
import Mdoc
import PKIX
import Primitives
import Trust
import VerificationService

/// Reads the configuration of a live server (HTTP API, Configuration) and refuses whatever is unsafe, before anything
/// is opened: a server that starts is one that may serve.
struct ConfigurationLoader {
  private static let members =
    ["listen", "behind_proxy", "public_url", "store", "clock_skew", "sealing_keys", "relying_parties"]
    + TrustReader.members + EdgeReader.members
  private static let defaultListen = "127.0.0.1:8080"

  private let file: ConfigurationFile

  init(path: String) { file = ConfigurationFile(path: path) }

  /// - Parameter now: for what is said about certificates.
  func load(at now: Timestamp = .systemNow()) throws(StartError) -> ServerConfiguration {
    let root = try ConfigurationReader(file.json(), at: "", in: file, known: Self.members)
    let isBehindProxy = try root.bool("behind_proxy", default: false)
    var warnings: [String] = []
    let secrets = SecretFiles(file: file)
    let fetches = FetchLog()
    let fetcher = try Self.webFetcher(fetches)
    let edge = try EdgeReader(file: file).edge(root, isBehindProxy: isBehindProxy, &warnings)
    let plan = try TrustReader(file: file).plan(root, fetcher: fetcher)
    let configuration = ServerConfiguration(
      isLive: true,
      listen: try listen(root, isProtected: isBehindProxy || edge.tls != nil),
      isBehindProxy: isBehindProxy,
      publicURL: try publicURL(root),
      storePath: try store(root),
      anchors: try anchors(root, plan),
      trust: plan,
      clockSkew: try root.integer("clock_skew", in: 0...600, default: Limits.clockSkew),
      sealingKeys: try secrets.sealingKeys(root, &warnings),
      relyingParties: try RelyingPartyReader(secrets: secrets, now: now).relyingParties(root, &warnings))
    var complete = configuration
    complete.edge = edge
    complete.fetches = fetches
    complete.revocation = RevocationChecker(fetcher: fetcher, executor: WorkerThreads.shared)
    complete.warnings = warnings + Self.nameWarnings(configuration)
    return complete
  }

  static func webFetcher(_ log: FetchLog) throws(StartError) -> WebListFetcher {
    do throws(WebListFetcher.StartError) {
      return try WebListFetcher(.init(observer: log))
    } catch {
      throw .unavailable(error.description)
    }
  }

  private func listen(_ root: ConfigurationReader, isProtected: Bool) throws(StartError) -> ListenAddress {
    let text = root.value("listen") == nil ? Self.defaultListen : try root.string("listen")
    guard let listen = ListenAddress(text) else {
      throw root.fault("listen", "must be a numeric address and a port, such as 127.0.0.1:8080 or [::1]:8080")
    }
    guard listen.isLoopback || isProtected else {
      throw root.fault(
        "listen",
        "\(listen) is plain HTTP beyond loopback; set tls, or put a TLS proxy in front and set behind_proxy to true")
    }
    return listen
  }

  /// Where wallets reach us: they fetch requests from there and post their answers there.
  private func publicURL(_ root: ConfigurationReader) throws(StartError) -> String? {
    guard root.value("public_url") != nil else { return nil }
    let text = try root.string("public_url")
    guard WebOrigin.isValid(text) else {
      throw root.fault(
        "public_url", "must be https://host[:port] in lower case, without a path; http only for loopback")
    }
    return text
  }

  /// A wallet refuses a reader whose name is not the host of the address that it is to answer to (OpenID4VP 1.0, 5.9.3).
  private static func nameWarnings(_ configuration: ServerConfiguration) -> [String] {
    guard let host = configuration.publicURL.flatMap(WebOrigin.host) else { return [] }
    return configuration.relyingParties.all.flatMap { party in
      party.readers.compactMap { reader in
        guard case .dnsName(let name) = reader.clientIdentifier, name != host else { return nil }
        return "relying party \"\(party.id)\": wallets compare x509_san_dns:\(name) with public_url's host, \(host)"
      }
    }
  }

  private func store(_ root: ConfigurationReader) throws(StartError) -> String {
    let text = try root.string("store")
    let scheme = "sqlite:"
    guard text.hasPrefix(scheme), text.count > scheme.count else {
      throw root.fault("store", "must be \"sqlite:\" and a path")
    }
    return file.resolve(String(text.dropFirst(scheme.count)))
  }

  /// Those of the files. What is wrong with them stops the start before anything is opened or fetched.
  private func anchors(_ root: ConfigurationReader, _ plan: TrustPlan) throws(StartError) -> [TrustAnchor] {
    let anchors: [TrustAnchor]
    do throws(TrustLoadError) {
      anchors = try TrustAnchorLoader(defaultDocTypes: [DocType.mDL]).load(plan.paths)
    } catch {
      throw root.fault("trust", error.description)
    }
    if let problem = TrustPlan.problem(with: anchors) { throw root.fault("trust", problem) }
    guard plan.hasLists || anchors.contains(where: { $0.tier == .live }) else {
      throw root.fault("trust", "no trust anchor for live mode in \(plan.paths.joined(separator: ", "))")
    }
    return anchors
  }
}
