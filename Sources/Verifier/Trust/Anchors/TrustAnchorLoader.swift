import Base
import FoundationEssentials
import PKIX

/// The reason why trust anchors could not be loaded: the file and its fault.
public struct TrustLoadError: Error, Sendable, CustomStringConvertible {
  public let path: String
  public let problem: String

  public var description: String { "\(path): \(problem)" }
}

/// Reads anchors from PEM or DER files and from folders of them.
public struct TrustAnchorLoader: Sendable {
  /// The document types of anchors whose settings list no types: the mDL in a server. Nil in `mdoc verify`: such
  /// anchors are then trusted for any type, with a warning.
  public var defaultDocTypes: [String]?
  /// The default for authorities whose settings have no such rule.
  public var crlAddresses: CRLAddresses

  private static let endings = [".pem", ".crt", ".cer", ".der"]

  public init(defaultDocTypes: [String]?, crlAddresses: CRLAddresses = .named) {
    self.defaultDocTypes = defaultDocTypes
    self.crlAddresses = crlAddresses
  }

  /// The anchors of all paths. A file that is not a certificate is an error, so that typing mistakes are noticed.
  public func load(_ paths: [String]) throws(TrustLoadError) -> [TrustAnchor] {
    var anchors: [TrustAnchor] = []
    for path in paths {
      for file in try files(at: path) { anchors += try anchorsInFile(file) }
    }
    return anchors
  }

  private func files(at path: String) throws(TrustLoadError) -> [String] {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw TrustLoadError(path: path, problem: "there is no such file or folder")
    }
    guard isFolder else { return [path] }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
      throw TrustLoadError(path: path, problem: "the folder cannot be read")
    }
    let folder = path.hasSuffix("/") ? path : path + "/"
    let files = names.sorted().filter { name in Self.endings.contains { name.lowercased().hasSuffix($0) } }
    let stems = files.map(Self.stem)
    // Settings without a certificate are a mistake: the intended anchor would get the defaults.
    if let stray = names.sorted().first(where: { $0.hasSuffix(".json") && !stems.contains(Self.stem(of: $0)) }) {
      throw TrustLoadError(
        path: folder + stray,
        problem: "these settings have no certificate beside them; remove them or add the certificate")
    }
    return files.map { folder + $0 }
  }

  private func anchorsInFile(_ path: String) throws(TrustLoadError) -> [TrustAnchor] {
    let file = Self.settingsFile(of: path)
    let isConfigured = FileManager.default.fileExists(atPath: file)
    let make = try anchorMaker(isConfigured ? read(file) : Array("{}".utf8), at: file)
    return try certificates(in: read(path), path: path).map { make(self, $0, path) }
  }

  private func certificates(in bytes: [UInt8], path: String) throws(TrustLoadError) -> [Certificate] {
    // 0x30 begins every DER certificate. It also begins the text "0 s:CN=…" that some tools print above PEM blocks.
    let text = String(decoding: bytes, as: UTF8.self)
    let isDER = bytes.starts(with: [0x30]) && !text.contains("-----BEGIN CERTIFICATE-----")
    let encodings = isDER ? [bytes] : PEM.certificates(in: text) ?? []
    guard !encodings.isEmpty else { throw TrustLoadError(path: path, problem: "holds no certificate in PEM or DER") }
    var certificates: [Certificate] = []
    for der in encodings {
      do throws(CertificateError) {
        certificates.append(try Certificate(der: der))
      } catch {
        throw TrustLoadError(path: path, problem: "certificate \(certificates.count + 1) \(error.detail)")
      }
    }
    return certificates
  }

  /// The path of the settings file beside a file of anchors; it need not exist.
  public static func settingsFile(of path: String) -> String { stem(of: path) + ".json" }

  /// The path without its ending. Only a dot in the file's name begins an ending.
  private static func stem(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    guard let dot = path[name...].lastIndex(of: "."), dot > name else { return path }
    return String(path[..<dot])
  }

  private func read(_ path: String) throws(TrustLoadError) -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw TrustLoadError(path: path, problem: "can't be read")
    }
    return [UInt8](data)
  }
}

/// Makes an anchor from its settings. Defaults come from the loader. The text describes the certificate's source.
private typealias AnchorMaker = @Sendable (TrustAnchorLoader, Certificate, String) -> TrustAnchor

/// The settings beside an anchor's file: `utah.json` describes `utah.pem`.
private let anchorSettings = {
  let names = Shape.text(0...4096).list(atLeast: 1)
  let relaxation = Shape.text().parsed { name, pointer, faults in
    if let code = TrustAnchor.relaxable.first(where: { $0.rawValue == name }) { return code }
    let allowed = TrustAnchor.relaxable.map(\.rawValue).sorted().joined(separator: ", ")
    faults.add(pointer, "\"\(name)\" cannot be relaxed; these can: \(allowed)")
    return Code?.none
  }
  return Shape<AnchorMaker>.form(
    "anchor_settings", nullIsAbsent: false,
    Entry(
      "kind", Shape.choice(of: [TrustAnchor.Kind.authority, .documentSigner].map { ($0.rawValue, $0) }),
      or: "authority", "Whether an authority is pinned or one of its signers."),
    .ifAny("doc_types", names, "The anchor's trusted document types."),
    .ifAny("ekus", names, "Extended key usages; a document signer must have one of them."),
    Entry("max_path_length", Shape.whole(0...8), or: 0, "Certificates between authority and document signer."),
    .ifAny("relax", relaxation.list(atLeast: 1), "Codes of checks whose failures are only warnings."),
    .ifAny("allow_http", Shape<Bool>.flag, "Whether all lists may be fetched over plain HTTP."),
    Entry("jwt_status_lists", Shape<Bool>.flag, or: false, "Whether status lists may also be JSON Web Tokens."),
    .ifAny("crl_addresses", Shape<CRLAddresses>.choice, "The permitted addresses of revocation lists."),
    .ifAny("zk", Shape<Bool>.flag, "Whether zero-knowledge proofs are accepted."),
    Entry("tier", Shape.choice(of: [TrustAnchor.Tier.live, .test].map { ($0.rawValue, $0) }), or: "live", "Its tier."),
    .ifAny(
      "source", Shape.text(1...256).checked("must have at most 256 bytes") { $0.utf8.count <= 256 },
      "The operator's source of the certificate.")
  ) { object, kind, docTypes, ekus, length, relaxed, allowsHTTP, allowsJWT, addresses, proofs, tier, source in
    if kind == .documentSigner, length > 0 {
      object.add("max_path_length", "does not apply to a document signer")
    }
    let relaxed = Set(relaxed ?? [])
    if kind == .authority, let code = relaxed.intersection(TrustAnchor.relaxableForSigners).first {
      object.add("relax", "\"\(code.rawValue)\" is only for the kind \"document_signer\"")
    }
    return { loader, certificate, file in
      var anchor = TrustAnchor(
        certificate: certificate, kind: kind, docTypes: docTypes ?? loader.defaultDocTypes,
        extendedKeyUsages: ekus.map { Set($0) }, maxPathLength: length, relaxed: relaxed, tier: tier,
        source: source.map { "\(file): \($0)" } ?? file)
      anchor.allowsPlainHTTP = allowsHTTP ?? false
      anchor.allowsJWTStatusLists = allowsJWT
      // An operator who forbids plain HTTP forbids it for revocation lists too.
      anchor.crlAddresses = addresses ?? (allowsHTTP == false ? .https : loader.crlAddresses)
      anchor.allowsProofsExplicitly = proofs
      return anchor
    }
  }
}()

/// - Parameter path: the file that an error names.
private func anchorMaker(_ settings: [UInt8], at path: String) throws(TrustLoadError) -> AnchorMaker {
  var faults = Faults()
  let json: JSON
  do throws(JSON.SyntaxError) { json = try JSON(parsing: settings) } catch {
    throw TrustLoadError(path: path, problem: "\(error)")
  }
  guard let make = anchorSettings.read(json, "", &faults), faults.isEmpty else {
    let problems = faults.all.map { ($0.pointer.isEmpty ? "" : $0.pointer.dropFirst() + ": ") + $0.detail }
    throw TrustLoadError(path: path, problem: problems.joined(separator: "; "))
  }
  return make
}

extension TrustAnchor {
  /// An anchor whose settings came as JSON. A `TrustLoadError` states `source` instead of a path.
  public init(certificate: Certificate, settings: [UInt8], source: String) throws(TrustLoadError) {
    self = try anchorMaker(settings, at: source)(TrustAnchorLoader(defaultDocTypes: nil), certificate, source)
  }
}
