import Base
import Cryptography
import FoundationEssentials

/// Why a suite can't be used: the file and what is wrong with it.
package struct SuiteError: Error, Sendable, CustomStringConvertible {
  package let path: String
  package let problem: String

  package init(path: String, problem: String) {
    self.path = path
    self.problem = problem
  }

  package var description: String { "\(path): \(problem)" }
}

/// A folder of vectors on disk: `<group>/<id>.json`, `anchors/<name>.pem` with `<name>.json`, `schema.json`.
package struct SuiteFolder: Sendable {
  package let path: String

  static let anchors = "anchors"
  /// Programs that judge the vectors.
  static let harnesses = "harnesses"

  package init(_ path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

  /// Paths of all vectors relative to the folder, in order.
  func vectorFiles() throws(SuiteError) -> [String] {
    var files: [String] = []
    let groups = try names(in: path).filter { ![Self.anchors, Self.harnesses].contains($0) }
    for group in groups where isFolder("\(path)/\(group)") {
      files += try names(in: "\(path)/\(group)").filter { $0.hasSuffix(".json") }.map { "\(group)/\($0)" }
    }
    return files
  }

  /// Paths of everything that a release has: what lies in the folder itself, the vectors, the anchors and the harnesses.
  ///
  /// - Throws: `SuiteError` if what a release must have is not there.
  package func releasedFiles() throws(SuiteError) -> [String] {
    let own = ["README.md", "LICENSE", "schema.json", CorpusLedger.fileName]
    if let missing = own.first(where: { !has($0) }) {
      throw SuiteError(path: "\(path)/\(missing)", problem: "is missing, and a release has it")
    }
    let anchors = has(Self.anchors) ? try names(in: "\(path)/\(Self.anchors)").map { "\(Self.anchors)/\($0)" } : []
    return try own + vectorFiles() + anchors + (has(Self.harnesses) ? everything(in: Self.harnesses) : [])
  }

  /// Paths of all files below a folder, but for what is hidden, what Python leaves, and what a `.gitignore` beside it names:
  /// what a template is built into is no part of it.
  private func everything(in folder: String) throws(SuiteError) -> [String] {
    let ignored = has("\(folder)/.gitignore") ? String(decoding: try read("\(folder)/.gitignore"), as: UTF8.self) : ""
    let built = Set(ignored.split(separator: "\n").map { $0.hasSuffix("/") ? String($0.dropLast()) : String($0) })
    var files: [String] = []
    for name in try names(in: "\(path)/\(folder)") where name != "__pycache__" && !built.contains(name) {
      let inner = "\(folder)/\(name)"
      if isFolder("\(path)/\(inner)") { files += try everything(in: inner) } else { files.append(inner) }
    }
    return files
  }

  /// Names of all anchors.
  func anchorNames() throws(SuiteError) -> [String] {
    guard has(Self.anchors) else { return [] }
    return try names(in: "\(path)/\(Self.anchors)").filter { $0.hasSuffix(".pem") }.map { String($0.dropLast(4)) }
  }

  /// SHA-256 over the lines that `sha256sum` prints of all vectors and anchors, sorted by path.
  func digest() throws(SuiteError) -> String {
    let anchors = has(Self.anchors) ? try names(in: "\(path)/\(Self.anchors)").map { "\(Self.anchors)/\($0)" } : []
    var files: [(path: String, content: [UInt8])] = []
    for file in try vectorFiles() + anchors { files.append((file, try read(file))) }
    return Self.digest(of: files)
  }

  static func digest(of files: [(path: String, content: [UInt8])]) -> String {
    Hex.encode(HashAlgorithm.sha256.hash(Array(checksums(of: files).utf8)))
  }

  /// The lines that `sha256sum` prints of the files, sorted by path.
  package static func checksums(of files: [(path: String, content: [UInt8])]) -> String {
    files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
      .map { "\(Hex.encode(HashAlgorithm.sha256.hash($0.content)))  \($0.path)\n" }.joined()
  }

  package func read(_ name: String) throws(SuiteError) -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else {
      throw SuiteError(path: "\(path)/\(name)", problem: "can't be read")
    }
    return [UInt8](data)
  }

  func json(_ name: String) throws(SuiteError) -> JSON {
    try Self.json(at: "\(path)/\(name)")
  }

  /// A file of JSON, wherever it lies.
  static func json(at path: String) throws(SuiteError) -> JSON {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw SuiteError(path: path, problem: "can't be read")
    }
    guard let json = try? JSON(parsing: [UInt8](data)) else { throw SuiteError(path: path, problem: "is no JSON") }
    return json
  }

  /// Whether the path is that of a file.
  package var isFile: Bool { FileManager.default.fileExists(atPath: path) && !isFolder(path) }

  package func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }

  /// Writes a file, and creates the folder that it lies in.
  func write(_ bytes: [UInt8], to name: String) throws(SuiteError) {
    let file = "\(path)/\(name)"
    let parent = file[..<(file.lastIndex(of: "/") ?? file.startIndex)]
    do {
      try FileManager.default.createDirectory(atPath: String(parent), withIntermediateDirectories: true)
      try Data(bytes).write(to: URL(filePath: file))
    } catch {
      throw SuiteError(path: file, problem: "can't be written")
    }
  }

  func remove(_ name: String) throws(SuiteError) {
    do {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    } catch {
      throw SuiteError(path: "\(path)/\(name)", problem: "can't be removed")
    }
  }

  /// The folder's own name.
  var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }

  /// Folders within it, in order.
  func folders() throws(SuiteError) -> [SuiteFolder] {
    try names(in: path).map { SuiteFolder("\(path)/\($0)") }.filter { isFolder($0.path) }
  }

  /// Names of the files directly in it, in order.
  func files() throws(SuiteError) -> [String] { try names(in: path).filter { !isFolder("\(path)/\($0)") } }

  private func names(in folder: String) throws(SuiteError) -> [String] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw SuiteError(path: folder, problem: "there is no such folder")
    }
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }

  private func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }
}

/// Inputs that other vectors' inputs are described by. Each is read once.
struct SuiteInputs {
  let folder: SuiteFolder
  private var known: [String: [UInt8]] = [:]

  init(_ folder: SuiteFolder) { self.folder = folder }

  /// The input of the vector with this id in a file's group; nil if its file does not hold all of it.
  mutating func input(of id: String, besides file: String) -> [UInt8]? {
    guard !id.contains("/") else { return nil }
    let path = "\(file.prefix { $0 != "/" })/\(id).json"
    if let input = known[path] { return input }
    let input = (try? folder.json(path))?["input"]?.string.flatMap { Base64.decodeURLSafe($0) }
    known[path] = input
    return input
  }
}
