import Base
import Mdoc
import Network
import PKIX
import Sessions
import Trust

/// The sources of a configured server's anchors, and the interval at which they are loaded.
struct TrustPlan: Sendable {
  let loader: TrustLoader
  /// The paths of anchor files and folders, grouped by their permitted addresses of revocation lists.
  let files: [CRLAddresses: [String]]
  /// True if any source is a published list. Such a list can change without the operator's action.
  let hasLists: Bool
  let refreshSeconds: Int64
  /// Live or staging.
  let mode: ServerMode

  var paths: [String] { files.values.flatMap { $0 }.sorted() }

  func mayTrust(_ anchor: TrustAnchor) -> Bool { mode != .live || anchor.tier == .live }

  var noAnchor: String { "no trust anchor for \(mode.rawValue) mode" }

  /// The reason not to trust these anchors; nil if they can be trusted. If an anchor's private key is public, a
  /// response under it proves nothing. Staging allows anchors whose private key is public, for conformance suites.
  ///
  /// A configured test anchor stops the load, since the operator relies on it. A test anchor in a published list only
  /// makes the server reject documents under that anchor.
  static func problem(with anchors: [TrustAnchor], in mode: ServerMode) -> String? {
    for anchor in anchors where anchor.trustedUntil == nil {
      guard let origin = anchor.certificate.testOrigin, mode == .live || anchor.certificate.isMock else { continue }
      return "\(anchor.source) (\(anchor.certificate.subject.text)) is a test anchor: \(origin)"
    }
    return nil
  }
}

enum TrustEntry: Sendable {
  case files(path: String, crlAddresses: CRLAddresses, [TrustAnchor])
  case list(TrustSource)

  /// The anchors of a file or folder; empty for a published list.
  var anchors: [TrustAnchor] { if case .files(_, _, let anchors) = self { anchors } else { [] } }
  var source: TrustSource? { if case .list(let source) = self { source } else { nil } }
}

// MARK: Reading

extension ConfigurationFile {
  /// The names of the two file sources, one for each rule about the addresses of revocation lists.
  private static let fileSources: [CRLAddresses: String] = [.named: "files", .https: "files-https"]

  /// A file or folder of anchors, or a list that others publish.
  var trust: Shape<TrustEntry> {
    let path = Shape.nonEmptyString().parsed { self.files($0, .named, &$2) }
    let files = Shape<TrustEntry>.form(
      "anchor_files", Entry("files", Shape.nonEmptyString(), "A file or folder of trust anchors."), Self.crlAddresses
    ) { self.files($1, $2, &$0.faults) }
    let (vical, entities) = (self.vical, trustedEntities)
    return .reading(.anyOf([path, files, vical, entities].map(\.schema))) { json, pointer, faults in
      func has(_ name: String) -> Bool { json[name]?.isNull == false }
      let form =
        if json.string != nil { path } else if has("files") { files } else if !has("vical"), has("trusted_entities") {
          entities
        } else { vical }
      return form.read(json, pointer, &faults)
    }
  }

  /// Loads the anchors. A faulty anchor prevents the start before anything is opened or fetched.
  private func files(_ name: String, _ addresses: CRLAddresses, _ faults: inout Faults) -> TrustEntry? {
    guard let anchors = anchors([name], [DocType.mDL], addresses, at: "/trust", &faults) else { return nil }
    if let problem = TrustPlan.problem(with: anchors, in: mode) { faults.add("/trust", problem) }
    return .files(path: resolve(name), crlAddresses: addresses, anchors)
  }

  func plan(_ entries: [TrustEntry], state: String, refresh: Int64, _ faults: inout Faults) -> TrustPlan {
    var sources = entries.compactMap(\.source)
    faults.noteDuplicates(entries.map(\.source?.name), at: "/trust", "/name") { "duplicate name \"\($0)\"" }
    let hasLists = !sources.isEmpty
    var paths: [CRLAddresses: [String]] = [:]
    for case .files(let path, let addresses, _) in entries { paths[addresses, default: []].append(path) }
    let ofFiles = CRLAddresses.allCases.compactMap { addresses -> TrustSource? in
      guard let name = Self.fileSources[addresses], let paths = paths[addresses] else { return nil }
      return TrustSource(name: name, .files(paths, crlAddresses: addresses))
    }
    sources.insert(contentsOf: ofFiles, at: 0)
    let state = resolve(state)
    faults.requireProtection(of: state, at: "/trust_state")
    let plan = TrustPlan(
      loader: TrustLoader(
        sources: sources, defaultDocTypes: [DocType.mDL], fetcher: fetcher, memory: AcceptedListFolder(state)),
      files: paths, hasLists: hasLists, refreshSeconds: refresh, mode: mode)
    if !hasLists, !entries.flatMap(\.anchors).contains(where: plan.mayTrust) {
      faults.add("/trust", "\(plan.noAnchor) in \(plan.paths.joined(separator: ", "))")
    }
    return plan
  }

  // MARK: Published lists

  private static let crlAddresses = Entry(
    "crl_addresses", Shape<CRLAddresses>.choice, or: .string(CRLAddresses.named.rawValue),
    "The allowed addresses of revocation lists: all in certificates, or only HTTPS on its default port.")

  private static let listName = Entry(
    "name",
    Shape.name(
      like: "^[a-z0-9_-]{1,64}$", "must have at most 64 of a–z, 0–9, - and _, and not be \"files\" or \"files-https\"",
      { $0.wholeMatch(of: /[a-z0-9_\-]{1,64}/) != nil && !fileSources.values.contains($0) }),
    "The list's name, also of its state file.")
  private static let usages = Entry<Set<String>?>.ifAny(
    "ekus", Shape.nonEmptyString().list(atLeast: 1).parsed { names, _, _ in Set(names) },
    "Extended key usages. A document signer must have one of them.")
  private static let pathLength = Entry(
    "max_path_length", Shape.whole(0...8), or: 0,
    "Maximum number of certificates between a listed authority and a signer.")
  private static let crlExceptions = Entry<[String: CRLAddresses]?>.ifAny(
    "crl_exceptions",
    Shape<CRLAddresses>.choice.byName("must map certificates' SHA-256 to \"named\" or \"https\"")
      .parsed { rules, pointer, faults in
        for (name, _) in rules where Hex.decode(name)?.count != 32 {
          faults.add("\(pointer)/\(JSONPointer.escape(name))", "must be a SHA-256 in hexadecimal")
        }
        return Dictionary(rules.map { ($0.name.lowercased(), $0.value) }) { _, last in last }
      }, "The allowed addresses for individual authorities, by the SHA-256 of their certificates.")
  private static let jwtStatusLists = Entry(
    "jwt_status_lists", Shape<Bool>.flag, or: false,
    "Whether status lists of documents may also be JSON Web Tokens.")

  private var vical: Shape<TrustEntry> {
    .form(
      "vical",
      Entry(
        "vical", listPlace, "The list's https address or path.",
        absence: "is required, unless trusted_entities is set; set exactly one of them"),
      Self.listName, signerAnchors, Self.usages, Self.pathLength, Self.crlAddresses, Self.crlExceptions,
      Self.jwtStatusLists
    ) { _, place, name, anchors, usages, length, addresses, exceptions, allowsJWT in
      let source = TrustListSource(
        signers: Self.signers(anchors), extendedKeyUsages: usages, maxPathLength: length,
        crlAddresses: .init(addresses, exceptions: exceptions ?? [:]), allowsJWTStatusLists: allowsJWT,
        tier: Self.tier(anchors), name: name)
      return .list(TrustSource(name: name, .list(PublishedTrustList(place, .vical(source)))))
    }
  }

  private var trustedEntities: Shape<TrustEntry> {
    .form(
      "trusted_entities", Entry("trusted_entities", listPlace, "The list's https address or path."),
      Entry(
        "services",
        Shape.nonEmptyString().list(atLeast: 1).byName(
          "must be an object of service types, each with its document types"),
        "Service types, each with its document types."),
      Entry("status_services", Shape.nonEmptyString().list(), or: [], "Types of services that sign status lists."),
      Self.listName, signerAnchors, Self.usages, Self.pathLength, Self.crlAddresses, Self.crlExceptions,
      Self.jwtStatusLists
    ) {
      _, place, services, statusServices, name, anchors, usages, length, addresses, exceptions, allowsJWT in
      let list = TrustListSource(
        signers: Self.signers(anchors), extendedKeyUsages: usages, maxPathLength: length,
        crlAddresses: .init(addresses, exceptions: exceptions ?? [:]), allowsJWTStatusLists: allowsJWT,
        tier: Self.tier(anchors), name: name)
      let source = TrustedEntityListSource(
        list, issuance: Dictionary(services.map { ($0.name, $0.value) }) { first, _ in first },
        revocation: Set(statusServices))
      return .list(TrustSource(name: name, .list(PublishedTrustList(place, .trustedEntities(source)))))
    }
  }

  private static func signers(_ anchors: [TrustAnchor]) -> SignerPath.Anchors {
    SignerPath.Anchors(configured: anchors.map(\.certificate), allowsTestCertificates: false)
  }

  /// Authorities on a sandbox's list have the sandbox's tier.
  private static func tier(_ anchors: [TrustAnchor]) -> TrustAnchor.Tier {
    anchors.allSatisfy { $0.tier == .live } ? .live : .test
  }

  private var listPlace: Shape<PublishedTrustList.Location> {
    Shape.nonEmptyString().parsed { text, pointer, faults in
      guard text.contains("://") else {
        let path = resolve(text)
        faults.requireProtection(of: path, at: pointer)
        return .file(path)
      }
      return faults.address(text, allowing: FetchRules(), at: pointer, "is not an address of a list").map { _ in
        .address(text)
      }
    }
  }

  private var signerAnchors: Entry<[TrustAnchor]> {
    Entry(
      "signer_anchors",
      Shape.nonEmptyString().list(atLeast: 1).parsed { names, pointer, faults in
        guard let anchors = anchors(names, at: pointer, &faults) else { return nil }
        if let problem = TrustPlan.problem(with: anchors, in: .live) {
          faults.add(pointer, problem)
        } else if mode == .live, let test = anchors.first(where: { $0.tier != .live }) {
          faults.add(pointer, "\(test.source) is a test anchor by its settings, and is refused in live mode")
        }
        return anchors
      }, "The certificates of the list's signer, or of its authorities.")
  }
}
