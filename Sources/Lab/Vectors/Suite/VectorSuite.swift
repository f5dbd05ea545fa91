import Base
import PKIX
import Trust

/// The vectors of one folder, read and ready to be run.
package struct VectorSuite: Sendable {
  package struct Entry: Sendable {
    package let group: String
    package let vector: TestVector
  }

  /// The folder, or the packed corpus.
  package let path: String
  package let entries: [Entry]
  package let anchors: SuiteAnchors
  /// What tells two corpora apart: SHA-256, in hexadecimal, over what `sha256sum` prints of the vectors and the files of
  /// `anchors`, sorted by path.
  package let digest: String
  /// The corpus's version; nil if it keeps no ledger of ids.
  package let edition: String?

  /// - Parameter path: a folder, or a packed corpus.
  /// - Throws: `SuiteError` for the first file that is no vector and the first anchor that is no certificate. A suite
  ///   that ran in part would prove less than it says.
  package init(at path: String) throws(SuiteError) {
    if SuiteFolder(path).isFile {
      try self.init(packed: path)
    } else {
      try self.init(in: SuiteFolder(path))
    }
  }

  private init(in folder: SuiteFolder) throws(SuiteError) {
    path = folder.path
    var entries: [Entry] = []
    var inputs = SuiteInputs(folder)
    for file in try folder.vectorFiles() {
      entries.append(Entry(group: String(file.prefix { $0 != "/" }), vector: try Self.vector(&inputs, file)))
    }
    guard !entries.isEmpty else { throw SuiteError(path: path, problem: "holds no vectors") }
    if let id = Self.repeated(entries) { throw SuiteError(path: path, problem: "holds \(id) twice") }
    self.entries = entries
    anchors = try SuiteAnchors(in: folder, named: Set(entries.flatMap(\.vector.namedAnchors)))
    digest = try folder.digest()
    edition = try CorpusLedger(in: folder)?.version.description
  }

  private init(packed path: String) throws(SuiteError) {
    self.path = path
    let json = try SuiteFolder.json(at: path)
    do throws(VectorFault) {
      entries = try PackedCorpus.entries(json)
      anchors = try SuiteAnchors(question: json)
      digest = try MemberParser(json, at: "").string("sha256")
      edition = try MemberParser(json, at: "").string("version")
    } catch {
      throw SuiteError(path: path, problem: error.description)
    }
    guard !entries.isEmpty else { throw SuiteError(path: path, problem: "holds no vectors") }
    if let id = Self.repeated(entries) { throw SuiteError(path: path, problem: "holds \(id) twice") }
    if let name = entries.flatMap(\.vector.namedAnchors).first(where: { !anchors.names.contains($0) }) {
      throw SuiteError(path: path, problem: "holds no anchor \(name)")
    }
    guard computedDigest == digest else { throw SuiteError(path: path, problem: "is not what its sha256 says") }
  }

  /// An id that two entries have; nil if there is none.
  private static func repeated(_ entries: [Entry]) -> String? {
    var seen: Set<String> = []
    return entries.first { !seen.insert($0.vector.id).inserted }?.vector.id
  }

  /// The digest of the files that the program would write of what was read.
  var computedDigest: String {
    SuiteFolder.digest(
      of: entries.map { ("\($0.group)/\($0.vector.id).json", $0.vector.fileContent) } + anchors.files)
  }

  /// What each id means, for the ledger.
  package var meanings: [String: String] {
    Dictionary(entries.map { ($0.vector.id, $0.vector.meaning) }) { first, _ in first }
  }

  /// The case with this id, or with this id of a harness question; nil if there is none.
  package func entry(_ id: String) -> Entry? {
    entries.first { $0.vector.id == id } ?? entries.first { $0.vector.askedID == id }
  }

  /// The groups, sorted by name, with the number of their vectors.
  package var groups: [(name: String, count: Int)] {
    Dictionary(grouping: entries, by: \.group).map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
      .map { (name: $0.0, count: $0.1) }
  }

  private static func vector(_ inputs: inout SuiteInputs, _ file: String) throws(SuiteError) -> TestVector {
    let json = try inputs.folder.json(file)
    do throws(VectorFault) {
      return try TestVector(json: json) { inputs.input(of: $0, besides: file) }
    } catch {
      throw SuiteError(path: "\(inputs.folder.path)/\(file)", problem: error.description)
    }
  }
}

/// The trust anchors that vectors name. Makes the trust stores of them.
package struct SuiteAnchors: Sendable {
  private let anchorsByName: [String: [TrustAnchor]]
  private let settingsByName: [String: JSON]

  /// Reads the named anchors, and what else is in the folder of anchors.
  init(in folder: SuiteFolder, named names: Set<String>) throws(SuiteError) {
    var anchors: [String: [TrustAnchor]] = [:]
    var settings: [String: JSON] = [:]
    for name in names.union(try folder.anchorNames()).sorted() {
      let file = "\(SuiteFolder.anchors)/\(name)"
      do throws(TrustLoadError) {
        anchors[name] = try TrustAnchorLoader(defaultDocTypes: nil).load(["\(folder.path)/\(file).pem"])
      } catch {
        throw SuiteError(path: error.path, problem: error.problem)
      }
      if folder.has("\(file).json") {
        settings[name] = try? JSON(parsing: folder.read("\(file).json"))
      }
    }
    anchorsByName = anchors
    settingsByName = settings
  }

  /// Reads the anchors of a harness question or of a packed corpus: `[{"name", "certificate", "settings"}]`.
  package init(question: JSON) throws(VectorFault) {
    var anchors: [String: [TrustAnchor]] = [:]
    var settingsByName: [String: JSON] = [:]
    for element in try MemberParser(question, at: "").elements("anchors") {
      let name = try element.string("name")
      let settings = element.optional("settings")
      guard let certificate = try? Certificate(der: element.bytes("certificate")),
        let anchor = try? TrustAnchor(
          certificate: certificate, settings: (settings ?? [:]).serialized(), source: name)
      else { throw VectorFault(pointer: "/anchors", problem: "hold one that is no anchor: \(name)") }
      anchors[name, default: []].append(anchor)
      settingsByName[name] = settings
    }
    anchorsByName = anchors
    self.settingsByName = settingsByName
  }

  package var names: [String] { anchorsByName.keys.sorted() }

  /// The files of the `anchors` folder, as the program writes them.
  var files: [(path: String, content: [UInt8])] { names.flatMap(files) }

  /// The files of one anchor: the certificate, and its settings if it has any.
  package func files(of name: String) -> [(path: String, content: [UInt8])] {
    let certificates = (anchorsByName[name] ?? []).map { PEM.encode(certificate: $0.certificate.der) }
    let settings = settingsByName[name].map { $0.serialized(pretty: true) + [UInt8(ascii: "\n")] }
    return [("\(SuiteFolder.anchors)/\(name).pem", Array(certificates.joined().utf8))]
      + (settings.map { [("\(SuiteFolder.anchors)/\(name).json", $0)] } ?? [])
  }

  /// The trust store of a vector; nil if it would trust no anchor.
  ///
  /// - Parameter more: the anchors that a list adds.
  func store(of vector: TestVector, and more: [TrustAnchor] = []) -> TrustStore? {
    var anchors = vector.trustAnchors.flatMap { anchorsByName[$0] ?? [] } + more
    for index in anchors.indices { anchors[index].allowsJWTStatusLists = vector.policy.allowsJWTStatusLists }
    return try? TrustStore(
      anchors: anchors,
      allowsTestCertificates: vector.policy.trustsTestCertificates)
  }

  /// The anchors under which a list's signer must be.
  func signers(named names: [String], of vector: TestVector) -> SignerPath.Anchors {
    SignerPath.Anchors(
      configured: names.flatMap { anchorsByName[$0] ?? [] }.map(\.certificate),
      allowsTestCertificates: vector.policy.trustsTestCertificates)
  }

  /// The anchors of a file as a harness question has them.
  ///
  /// - Parameter alias: what the question calls them.
  func json(of name: String, calledBy alias: String) -> [JSON] {
    (anchorsByName[name] ?? []).map { anchor in
      .members([
        "name": .string(alias), "certificate": .bytes(anchor.certificate.der), "settings": settingsByName[name],
      ])
    }
  }
}
