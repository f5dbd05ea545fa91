import Fetching
import Mdoc
import PKIX
import Primitives
import Trust

/// Reads `trust`, `trust_state` and `trust_refresh`: files of anchors, and lists that others publish.
///
/// ```json
/// { "trust": [ "trust/",
///     { "name": "aamva", "vical": "https://vical.example/vc", "signer_anchors": ["aamva-root.pem"] },
///     { "name": "eu-pid", "trusted_entities": "https://lists.example/pid.jwt", "signer_anchors": ["operator.pem"],
///       "services": { "http://uri.etsi.org/19602/SvcType/PID/Issuance": ["eu.europa.ec.eudi.pid.1"] },
///       "ekus": ["1.3.130.2.0.0.1.2"] } ],
///   "trust_state": "trust-state", "trust_refresh": 3600 }
/// ```
struct TrustReader {
  static let members = ["trust", "trust_state", "trust_refresh"]
  private static let listMembers = [
    "name", "vical", "trusted_entities", "signer_anchors", "services", "status_services", "ekus", "max_path_length",
  ]

  let file: ConfigurationFile

  func plan(_ root: ConfigurationReader, fetcher: any ListFetcher) throws(StartError) -> TrustPlan {
    guard let entries = try root.required("trust").array, !entries.isEmpty else {
      throw root.fault("trust", "must be a list with at least one path or list of anchors")
    }
    var paths: [String] = []
    var sources: [TrustSource] = []
    for (index, entry) in entries.enumerated() {
      if let path = entry.string, !path.isEmpty {
        paths.append(file.resolve(path))
      } else {
        let reader = try ConfigurationReader(entry, at: "/trust/\(index)", in: file, known: Self.listMembers)
        let source = try list(reader)
        guard !sources.contains(where: { $0.name == source.name }) else {
          throw reader.fault("name", "\"\(source.name)\" is there twice")
        }
        sources.append(source)
      }
    }
    let hasLists = !sources.isEmpty
    if !paths.isEmpty { sources.insert(TrustSource(name: "files", .files(paths)), at: 0) }
    let state = file.resolve(root.value("trust_state") == nil ? "trust-state" : try root.string("trust_state"))
    let refresh = try root.integer("trust_refresh", in: 60...86_400, default: 3_600)
    return TrustPlan(
      loader: TrustLoader(
        sources: sources, defaultDocTypes: [DocType.mDL], fetcher: fetcher, memory: AcceptedListFolder(state)),
      paths: paths, hasLists: hasLists, refreshSeconds: refresh)
  }

  private func list(_ entry: ConfigurationReader) throws(StartError) -> TrustSource {
    let name = try entry.string("name")
    let allowed = Array("abcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    guard name.utf8.count <= 64, name.utf8.allSatisfy(allowed.contains), name != "files" else {
      throw entry.fault("name", "must have at most 64 of a–z, 0–9, - and _, and not be \"files\"")
    }
    let signers = SignerPath.Anchors(configured: try signerAnchors(entry), allowsTestCertificates: false)
    let usages =
      entry.value("ekus") == nil
      ? [TrustAnchor.documentSignerUsage] : Set(try entry.strings("ekus", isRequired: true))
    let length = Int(try entry.integer("max_path_length", in: 0...8, default: 0))
    switch (entry.value("vical") != nil, entry.value("trusted_entities") != nil) {
    case (true, false):
      for member in ["services", "status_services"] where entry.value(member) != nil {
        throw entry.fault(member, "belongs to a list of trusted entities")
      }
      let source = VICALSource(signers: signers, extendedKeyUsages: usages, maxPathLength: length, name: name)
      return TrustSource(name: name, .list(PublishedTrustList(try place("vical", entry), .vical(source))))
    case (false, true):
      let source = TrustedEntityListSource(
        signers: signers, issuance: try services(entry),
        revocation: Set(try entry.strings("status_services", isRequired: false)), extendedKeyUsages: usages,
        maxPathLength: length, name: name)
      return TrustSource(
        name: name, .list(PublishedTrustList(try place("trusted_entities", entry), .trustedEntities(source))))
    default: throw entry.fault("vical", "is required, or trusted_entities in its place; not both")
    }
  }

  private func place(_ member: String, _ entry: ConfigurationReader) throws(StartError) -> PublishedTrustList.Place {
    let text = try entry.string(member)
    guard text.contains("://") else { return .file(file.resolve(text)) }
    do throws(FetchError) {
      _ = try ListAddress(text, allowing: FetchRules())
      return .address(text)
    } catch {
      guard case .notAllowed(let reason) = error else { throw entry.fault(member, "is no address of a list") }
      throw entry.fault(member, reason)
    }
  }

  private func signerAnchors(_ entry: ConfigurationReader) throws(StartError) -> [Certificate] {
    let paths = try entry.strings("signer_anchors", isRequired: true).map(file.resolve)
    let anchors: [TrustAnchor]
    do throws(TrustLoadError) {
      anchors = try TrustAnchorLoader(defaultDocTypes: nil).load(paths)
    } catch {
      throw entry.fault("signer_anchors", error.description)
    }
    if let problem = TrustPlan.problem(with: anchors) { throw entry.fault("signer_anchors", problem) }
    if let test = anchors.first(where: { $0.tier != .live }) {
      throw entry.fault("signer_anchors", "\(test.source) is an anchor for tests, by its settings")
    }
    return anchors.map(\.certificate)
  }

  private func services(_ entry: ConfigurationReader) throws(StartError) -> [String: [String]] {
    guard let members = try entry.required("services").object, !members.isEmpty else {
      throw entry.fault("services", "must be an object of service types, each with its document types")
    }
    var services: [String: [String]] = [:]
    for member in members {
      let docTypes = member.value.array?.compactMap(\.string) ?? []
      guard !docTypes.isEmpty, docTypes.count == member.value.array?.count else {
        throw entry.fault("services/\(member.name)", "must be a list of document types")
      }
      services[member.name] = docTypes
    }
    return services
  }
}
