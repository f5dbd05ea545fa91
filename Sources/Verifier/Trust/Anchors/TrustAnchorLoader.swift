import Base
import FoundationEssentials
import PKIX

/// Why trust anchors could not be loaded: the file and what is wrong with it.
public struct TrustLoadError: Error, Sendable, CustomStringConvertible {
  public let path: String
  public let problem: String

  public var description: String { "\(path): \(problem)" }
}

/// Reads anchors from PEM or DER files and from folders of them.
public struct TrustAnchorLoader: Sendable {
  /// The document types of anchors without settings: the mDL in a server; nil in `mdoc verify`, where they are trusted
  /// for any type, with a warning.
  public var defaultDocTypes: [String]?
  /// The rule for authorities whose settings don't mention it.
  public var crlAddresses: CRLAddresses

  private static let endings = [".pem", ".crt", ".cer", ".der"]

  public init(defaultDocTypes: [String]?, crlAddresses: CRLAddresses = .named) {
    self.defaultDocTypes = defaultDocTypes
    self.crlAddresses = crlAddresses
  }

  /// The anchors of all paths. A file that is no certificate is an error, never skipped: a typing mistake must not
  /// quietly change whom we trust.
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
      throw TrustLoadError(path: path, problem: "the folder can't be read")
    }
    let folder = path.hasSuffix("/") ? path : path + "/"
    let files = names.sorted().filter { name in Self.endings.contains { name.lowercased().hasSuffix($0) } }
    let stems = files.map(Self.stem)
    // Settings that stand beside no certificate were meant for an anchor, which would then be trusted by the defaults.
    if let stray = names.sorted().first(where: { $0.hasSuffix(".json") && !stems.contains(Self.stem(of: $0)) }) {
      throw TrustLoadError(path: folder + stray, problem: "there is no certificate that these settings stand beside")
    }
    return files.map { folder + $0 }
  }

  private func anchorsInFile(_ path: String) throws(TrustLoadError) -> [TrustAnchor] {
    var settings = try settings(for: path)
    if settings.crlAddresses == nil { settings.crlAddresses = crlAddresses }
    return try certificates(in: read(path), path: path).map { settings.anchor($0, source: path) }
  }

  private func certificates(in bytes: [UInt8], path: String) throws(TrustLoadError) -> [Certificate] {
    // 0x30 begins every DER certificate, and the text "0 s:CN=…" that some tools print above PEM blocks.
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

  private func settings(for path: String) throws(TrustLoadError) -> AnchorSettings {
    let file = Self.settingsFile(of: path)
    guard FileManager.default.fileExists(atPath: file) else { return AnchorSettings(defaultDocTypes: defaultDocTypes) }
    return try AnchorSettings(parsing: read(file), at: file, defaultDocTypes: defaultDocTypes)
  }

  /// The path of the settings file that belongs to a file of anchors; it need not exist.
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
