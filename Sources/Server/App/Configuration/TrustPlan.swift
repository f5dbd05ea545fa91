import Base
import Mdoc
import Network
import PKIX
import Sessions
import Trust

/// The sources of the anchors of a server with a configuration, and how often they are loaded again.
struct TrustPlan: Sendable {
  let loader: TrustLoader
  /// The files and folders among the sources, by the addresses allowed for revocation lists.
  let files: [CRLAddresses: [String]]
  /// Whether there are published lists, which change by themselves.
  let hasLists: Bool
  let refreshSeconds: Int64
  /// Live or staging.
  let mode: ServerMode

  var paths: [String] { files.values.flatMap { $0 }.sorted() }

  /// Whether an anchor of its tier counts in this mode.
  func mayTrust(_ anchor: TrustAnchor) -> Bool { mode != .live || anchor.tier == .live }

  var noAnchor: String { "no trust anchor for \(mode.rawValue) mode" }

  /// Why these anchors may not be trusted; nil if they may. Their private keys are public, so a response below them
  /// proves nothing about a wallet either. In staging, `AnchorCertificates` warns of published keys instead, because a
  /// conformance suite is tried there.
  ///
  /// An anchor meant for tests stops the load and is not just left out, since the operator believes that it counts. An
  /// anchor that a published list names is not the operator's choice; it is refused with each document.
  static func problem(with anchors: [TrustAnchor], in mode: ServerMode) -> String? {
    for anchor in anchors where anchor.trustedUntil == nil {
      guard let origin = anchor.certificate.testOrigin, mode == .live || anchor.certificate.isMock else { continue }
      return "\(anchor.source) (\(anchor.certificate.subject.text)) is a test anchor: \(origin)"
    }
    return nil
  }
}

/// Reads `trust`, `trust_state` and `trust_refresh`: files of anchors, and lists that others publish.
///
/// ```json
/// { "trust": [ "trust/",
///     { "name": "aamva", "vical": "https://vical.example/vc", "signer_anchors": ["aamva-root.pem"] },
///     { "name": "eu-pid", "trusted_entities": "https://lists.example/pid.jwt", "signer_anchors": ["operator.pem"],
///       "services": { "http://uri.etsi.org/19602/SvcType/PID/Issuance": ["eu.europa.ec.eudi.pid.1"] },
///       "crl_addresses": "https" } ],
///   "trust_state": "trust-state", "trust_refresh": 3600 }
/// ```
struct ConfiguredTrust {
  let file: ConfigurationFile
  let mode: ServerMode

  func plan(_ root: Schema.Object, fetcher: any ListFetcher) throws(Schema.Fault) -> TrustPlan {
    guard let entries = try root.required("trust").array, !entries.isEmpty else {
      throw root.fault("trust", "must be a list with at least one path or list of anchors")
    }
    var paths: [CRLAddresses: [String]] = [:]
    var sources: [TrustSource] = []
    for (index, entry) in entries.enumerated() {
      if let path = entry.string, !path.isEmpty {
        paths[.named, default: []].append(file.resolve(path))
      } else if entry["files"]?.isNull == false {
        guard let (path, addresses) = root.attempt(try files(entry, at: index)) else { continue }
        paths[addresses, default: []].append(path)
      } else if let source = root.attempt(try source(entry, at: index, after: sources)) {
        sources.append(source)
      }
    }
    let hasLists = !sources.isEmpty
    let ofFiles = CRLAddresses.allCases.compactMap { addresses -> TrustSource? in
      guard let name = Self.fileSources[addresses], let paths = paths[addresses] else { return nil }
      return TrustSource(name: name, .files(paths, crlAddresses: addresses))
    }
    sources.insert(contentsOf: ofFiles, at: 0)
    let state = file.resolve(try root.text("trust_state"))
    file.requireProtection(of: state, at: "/trust_state")
    return TrustPlan(
      loader: TrustLoader(
        sources: sources, defaultDocTypes: [DocType.mDL], fetcher: fetcher, memory: AcceptedListFolder(state)),
      files: paths, hasLists: hasLists, refreshSeconds: try root.number("trust_refresh"),
      mode: mode)
  }

  /// The names of the sources made of files, one for each rule about the addresses of revocation lists.
  private static let fileSources: [CRLAddresses: String] = [.named: "files", .https: "files-https"]

  private func files(_ entry: JSON, at index: Int) throws(Schema.Fault) -> (path: String, addresses: CRLAddresses) {
    let entry = try Schema.Object(
      entry, at: "/trust/\(index)", by: ConfigurationSchema.anchorFiles.schema, in: file.reading)
    return (file.resolve(try entry.text("files")), try crlAddresses(entry))
  }

  private func crlAddresses(_ entry: Schema.Object) throws(Schema.Fault) -> CRLAddresses {
    guard let addresses = CRLAddresses(rawValue: try entry.text("crl_addresses")) else {
      throw entry.fault("crl_addresses", "must be \"named\" or \"https\"")
    }
    return addresses
  }

  private func authorityCRLAddresses(_ entry: Schema.Object) throws(Schema.Fault) -> AuthorityCRLAddresses {
    var addresses = AuthorityCRLAddresses(try crlAddresses(entry))
    guard let exceptions = entry.value("crl_exceptions") else { return addresses }
    guard let members = exceptions.object, !members.isEmpty else {
      throw entry.fault(
        "crl_exceptions", "must be an object of certificates' SHA-256, each with \"named\" or \"https\"")
    }
    for member in members {
      guard Hex.decode(member.name)?.count == 32, let rule = member.value.string.flatMap(CRLAddresses.init) else {
        throw entry.fault(
          "crl_exceptions/\(member.name)", "must be a SHA-256 in hexadecimal with \"named\" or \"https\"")
      }
      addresses.exceptions[member.name.lowercased()] = rule
    }
    return addresses
  }

  private func source(_ entry: JSON, at index: Int, after others: [TrustSource]) throws(Schema.Fault) -> TrustSource {
    // The kind of the list determines the other members that it may have.
    let isEntities = entry["vical"]?.isNull != false && entry["trusted_entities"] != nil
    let schema = isEntities ? ConfigurationSchema.trustedEntities.schema : ConfigurationSchema.vical.schema
    let entry = try Schema.Object(entry, at: "/trust/\(index)", by: schema, in: file.reading)
    let source = try list(entry)
    guard !others.contains(where: { $0.name == source.name }) else {
      throw entry.fault("name", "\"\(source.name)\" is there twice")
    }
    return source
  }

  private func list(_ entry: Schema.Object) throws(Schema.Fault) -> TrustSource {
    let name = try entry.text("name")
    let allowed = Array("abcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    guard name.utf8.count <= 64, name.utf8.allSatisfy(allowed.contains), !Self.fileSources.values.contains(name)
    else {
      throw entry.fault("name", "must have at most 64 of a–z, 0–9, - and _, and not be \"files\" or \"files-https\"")
    }
    let anchors = try signerAnchors(entry)
    let signers = SignerPath.Anchors(configured: anchors.map(\.certificate), allowsTestCertificates: false)
    // Whom a sandbox's publisher lists is trusted as the sandbox is.
    let tier: TrustAnchor.Tier = anchors.allSatisfy { $0.tier == .live } ? .live : .test
    let usages = try entry.ifAny("ekus", entry.texts).map { Set($0) }
    let crlAddresses = try authorityCRLAddresses(entry)
    let length = Int(try entry.number("max_path_length"))
    let allowsJWT = try entry.flag("jwt_status_lists")
    guard entry.value("trusted_entities") != nil else {
      guard entry.value("vical") != nil else {
        throw entry.fault("vical", "is required, or trusted_entities in its place; not both")
      }
      var source = VICALSource(
        signers: signers, extendedKeyUsages: usages, maxPathLength: length,
        crlAddresses: crlAddresses, tier: tier, name: name)
      source.allowsJWTStatusLists = allowsJWT
      return TrustSource(name: name, .list(PublishedTrustList(try place("vical", entry), .vical(source))))
    }
    var source = TrustedEntityListSource(
      signers: signers, issuance: try entry.textLists("services", byName: "service types", of: "document types"),
      revocation: Set(try entry.texts("status_services")), extendedKeyUsages: usages,
      maxPathLength: length, crlAddresses: crlAddresses, tier: tier, name: name)
    source.allowsJWTStatusLists = allowsJWT
    return TrustSource(
      name: name, .list(PublishedTrustList(try place("trusted_entities", entry), .trustedEntities(source))))
  }

  private func place(_ member: String, _ entry: Schema.Object) throws(Schema.Fault) -> PublishedTrustList.Place {
    let text = try entry.text(member)
    guard text.contains("://") else {
      let path = file.resolve(text)
      file.requireProtection(of: path, at: "\(entry.pointer)/\(member)")
      return .file(path)
    }
    do throws(FetchError) {
      _ = try ListAddress(text, allowing: FetchRules())
      return .address(text)
    } catch {
      guard case .notAllowed(let reason) = error else { throw entry.fault(member, "is no address of a list") }
      throw entry.fault(member, reason)
    }
  }

  private func signerAnchors(_ entry: Schema.Object) throws(Schema.Fault) -> [TrustAnchor] {
    let paths = try entry.texts("signer_anchors").map(file.resolve)
    for path in paths { file.requireProtection(of: path, at: entry.pointer + "/signer_anchors") }
    let anchors: [TrustAnchor]
    do throws(TrustLoadError) {
      anchors = try TrustAnchorLoader(defaultDocTypes: nil).load(paths)
    } catch {
      throw entry.fault("signer_anchors", error.description)
    }
    if let problem = TrustPlan.problem(with: anchors, in: .live) { throw entry.fault("signer_anchors", problem) }
    if mode == .live, let test = anchors.first(where: { $0.tier != .live }) {
      throw entry.fault("signer_anchors", "\(test.source) is an anchor for tests, by its settings")
    }
    return anchors
  }
}
