import Base
import PKIX
import Trust

/// The vectors of a folder or of a packed corpus, with their anchors.
package struct VectorSuite: Sendable {
  package struct Entry: Sendable {
    package let group: String
    package let vector: TestVector
  }

  package let path: String
  package let entries: [Entry]
  package let anchors: SuiteAnchors
  /// SHA-256, in hexadecimal, over the output of `sha256sum` for all vectors and anchors, sorted by path.
  package let digest: String
  /// The corpus's version; nil if the corpus has no ledger of ids.
  package let edition: String?

  /// - Parameter path: a folder, or a packed corpus. The first malformed file is an error.
  package init(at path: String) throws(SuiteError) {
    let folder = SuiteFolder(path)
    self = try folder.isFile ? VectorSuite(packed: path) : VectorSuite(in: folder)
    guard !entries.isEmpty else { throw SuiteError(path: path, problem: "holds no vectors") }
    var ids: Set<String> = []
    if let duplicate = entries.first(where: { !ids.insert($0.vector.id).inserted }) {
      throw SuiteError(path: path, problem: "holds \(duplicate.vector.id) twice")
    }
  }

  private init(in folder: SuiteFolder) throws(SuiteError) {
    path = folder.path
    var files: [(path: String, group: String, json: JSON)] = []
    for file in try folder.vectorFiles() { files.append((file, folder.group(of: file), try folder.json(file))) }
    let inputs = SuiteInputs(files.map { ($0.group, $0.json) })
    var entries: [Entry] = []
    for file in files {
      let vector = try SuiteError.inFile("\(path)/\(file.path)") { () throws(VectorError) in
        try inputs.vector(file.json, in: file.group)
      }
      entries.append(Entry(group: file.group, vector: vector))
    }
    self.entries = entries
    anchors = try SuiteAnchors(in: folder, named: Set(entries.flatMap(\.vector.namedAnchors)))
    digest = try folder.digest()
    edition = try CorpusLedger(in: folder)?.version.description
  }

  private init(packed path: String) throws(SuiteError) {
    self.path = path
    let json = try SuiteFolder.json(at: path)
    (entries, anchors, digest, edition) = try SuiteError.inFile(path) { () throws(VectorError) in
      let content = try PackedCorpus.content(json)
      return (try PackedCorpus.entries(content), try SuiteAnchors(question: json), content.digest, content.version)
    }
    if let name = entries.flatMap(\.vector.namedAnchors).first(where: { !anchors.names.contains($0) }) {
      throw SuiteError(path: path, problem: "has no anchor \(name)")
    }
    guard computedDigest == digest else { throw SuiteError(path: path, problem: "does not match its sha256") }
  }

  /// The digest of the files as the program writes them.
  var computedDigest: String {
    SuiteFolder.digest(
      of: entries.map { ("\($0.group)/\($0.vector.id).json", $0.vector.fileContent) } + anchors.files)
  }

  /// Finds a case by its id or by its id in a harness question; nil if there is none.
  package func entry(_ id: String) -> Entry? {
    entries.first { $0.vector.id == id } ?? entries.first { $0.vector.askedID == id }
  }
}

/// The trust anchors to which vectors refer.
package struct SuiteAnchors: Sendable {
  private var byName: [String: (anchors: [TrustAnchor], settings: JSON?)] = [:]

  /// Reads the listed anchors and all others of the folder.
  init(in folder: SuiteFolder, named names: Set<String>) throws(SuiteError) {
    for name in names.union(try folder.anchorNames()).sorted() {
      let file = "\(SuiteFolder.anchors)/\(name)"
      let settings = folder.has("\(file).json") ? try? JSON(parsing: folder.read("\(file).json")) : nil
      do throws(TrustLoadError) {
        byName[name] = (try TrustAnchorLoader(defaultDocTypes: nil).load(["\(folder.path)/\(file).pem"]), settings)
      } catch {
        throw SuiteError(path: error.path, problem: error.problem)
      }
    }
  }

  /// Reads the anchors of a harness question or of a packed corpus: `[{"name", "certificate", "settings"}]`.
  package init(question: JSON) throws(VectorError) {
    for sent in try Self.shape.parsed(question) {
      guard let certificate = try? Certificate(der: sent.certificate),
        let anchor = try? TrustAnchor(
          certificate: certificate, settings: (sent.settings ?? .object([])).serialized(), source: sent.name)
      else { throw VectorError(pointer: "/anchors", problem: "have a malformed anchor: \(sent.name)") }
      byName[sent.name] = (anchors(named: sent.name) + [anchor], sent.settings)
    }
  }

  private func anchors(named name: String) -> [TrustAnchor] { byName[name]?.anchors ?? [] }

  package var names: [String] { byName.keys.sorted() }

  /// The files of the `anchors` folder as the program writes them.
  var files: [(path: String, content: [UInt8])] { names.flatMap(files) }

  /// The files of one anchor: the certificate, and its settings if it has any.
  package func files(of name: String) -> [(path: String, content: [UInt8])] {
    let certificates = anchors(named: name).map { PEM.encode(certificate: $0.certificate.der) }
    let settings = byName[name]?.settings.map { $0.serialized(pretty: true) + [UInt8(ascii: "\n")] }
    return [("\(SuiteFolder.anchors)/\(name).pem", Array(certificates.joined().utf8))]
      + (settings.map { [("\(SuiteFolder.anchors)/\(name).json", $0)] } ?? [])
  }

  /// The trust store of a vector; nil if it trusts no anchor.
  func store(of vector: TestVector, and more: [TrustAnchor] = []) -> TrustStore? {
    var anchors = vector.trustAnchors.flatMap(anchors(named:)) + more
    for index in anchors.indices { anchors[index].allowsJWTStatusLists = vector.policy.allowsJWTStatusLists }
    return try? TrustStore(anchors: anchors, allowsTestCertificates: vector.policy.trustsTestCertificates)
  }

  /// True if one of the vector's anchors is a document signer, or vouches for only some of these document types.
  func limitSomething(in vector: TestVector, docTypes: [String]) -> Bool {
    vector.namedAnchors.flatMap(anchors(named:)).contains { anchor in
      anchor.kind != .authority || anchor.docTypes.map { !Set(docTypes).isSubset(of: $0) } == true
    }
  }

  /// The anchors for validating a list's signer.
  func signers(named names: [String], of vector: TestVector) -> SignerPath.Anchors {
    SignerPath.Anchors(
      configured: names.flatMap(anchors(named:)).map(\.certificate),
      allowsTestCertificates: vector.policy.trustsTestCertificates)
  }

  /// The anchors in a file as JSON for a harness question, under an alias.
  func json(of name: String, calledBy alias: String) -> [JSON] {
    anchors(named: name).map { anchor in
      SentAnchor.shape.write(
        SentAnchor(name: alias, certificate: anchor.certificate.der, settings: byName[name]?.settings))
    }
  }

  private static let shape = Shape<[SentAnchor]>.form(
    "anchors", from: [], Member("anchors", \.self, SentAnchor.shape.elements))
}

/// An anchor in a harness question or a packed corpus.
private struct SentAnchor {
  var name = ""
  var certificate: [UInt8] = []
  /// The content of the settings file beside the certificate; nil if there is none.
  var settings: JSON?

  static let shape = Shape<SentAnchor>.form(
    "anchor", from: SentAnchor(), Member("name", \.name, .nonEmpty), Member("certificate", \.certificate, .bytes),
    .ifAny("settings", \.settings, .any([:])))
}
