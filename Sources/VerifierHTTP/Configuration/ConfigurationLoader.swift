import Mdoc
import PKIX
import Primitives
import Trust
import VerificationService

/// Reads the configuration of a live server (HTTP API, Configuration) and refuses whatever is unsafe, before anything
/// is opened: a server that starts is one that may serve.
struct ConfigurationLoader {
  private static let members = [
    "listen", "behind_proxy", "store", "trust", "clock_skew", "sealing_keys", "relying_parties",
  ]
  private static let defaultListen = "127.0.0.1:8080"

  private let file: ConfigurationFile

  init(path: String) { file = ConfigurationFile(path: path) }

  func load() throws(StartError) -> ServerConfiguration {
    let root = try ConfigurationReader(file.json(), at: "", in: file, known: Self.members)
    let isBehindProxy = try root.bool("behind_proxy", default: false)
    var warnings: [String] = []
    let secrets = SecretFiles(file: file)
    let configuration = ServerConfiguration(
      isLive: true,
      listen: try listen(root, isBehindProxy: isBehindProxy),
      isBehindProxy: isBehindProxy,
      storePath: try store(root),
      anchors: try anchors(root),
      clockSkew: try root.integer("clock_skew", in: 0...600, default: Limits.clockSkew),
      sealingKeys: try secrets.sealingKeys(root, &warnings),
      relyingParties: try RelyingPartyReader(file: file, secrets: secrets).relyingParties(root, &warnings))
    var complete = configuration
    complete.warnings = warnings
    return complete
  }

  private func listen(_ root: ConfigurationReader, isBehindProxy: Bool) throws(StartError) -> ListenAddress {
    let text = root.value("listen") == nil ? Self.defaultListen : try root.string("listen")
    guard let listen = ListenAddress(text) else {
      throw root.fault("listen", "must be a numeric address and a port, such as 127.0.0.1:8080 or [::1]:8080")
    }
    guard listen.isLoopback || isBehindProxy else {
      throw root.fault(
        "listen", "\(listen) is plain HTTP beyond loopback; put a TLS proxy in front and set behind_proxy to true")
    }
    return listen
  }

  private func store(_ root: ConfigurationReader) throws(StartError) -> String {
    let text = try root.string("store")
    let scheme = "sqlite:"
    guard text.hasPrefix(scheme), text.count > scheme.count else {
      throw root.fault("store", "must be \"sqlite:\" and a path")
    }
    return file.resolve(String(text.dropFirst(scheme.count)))
  }

  /// Anchors without settings of their own are good for the mDL alone. What only tests should trust stops the start,
  /// rather than being passed over: whoever put it there believes that it counts.
  private func anchors(_ root: ConfigurationReader) throws(StartError) -> [TrustAnchor] {
    let paths = try root.strings("trust", isRequired: true).map(file.resolve)
    let anchors: [TrustAnchor]
    do throws(TrustLoadError) {
      anchors = try TrustAnchorLoader(defaultDocTypes: [DocType.mDL]).load(paths)
    } catch {
      throw root.fault("trust", error.description)
    }
    for anchor in anchors {
      let name = "\(anchor.source) (\(anchor.certificate.subject.text))"
      if anchor.certificate.isMock { throw root.fault("trust", "\(name) is a root of the mock issuer") }
      if PublishedTestRoots.contains(anchor.certificate) {
        throw root.fault("trust", "\(name) is a published test root, whose documents prove nothing")
      }
    }
    guard anchors.contains(where: { $0.tier == .live }) else {
      throw root.fault("trust", "no trust anchor for live mode in \(paths.joined(separator: ", "))")
    }
    return anchors
  }
}
