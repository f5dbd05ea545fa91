import Base
import Cryptography
import FoundationEssentials

/// An error in a suite's file, or a failure to read or write it.
package struct SuiteError: Error, Sendable, CustomStringConvertible {
  package let path: String
  package let problem: String

  package init(path: String, problem: String) { (self.path, self.problem) = (path, problem) }

  package var description: String { "\(path): \(problem)" }

  /// Reads a file's value. Adds the file's path to an error.
  static func inFile<Value>(
    _ path: String, _ read: () throws(VectorError) -> Value
  ) throws(SuiteError) -> Value {
    do throws(VectorError) { return try read() } catch { throw SuiteError(path: path, problem: error.description) }
  }
}

/// A folder of vectors on disk: `<group>/<id>.json`, `anchors/<name>.pem` with `<name>.json`, `schema.json`.
package struct SuiteFolder: Sendable {
  package let path: String

  package static let anchors = "anchors"
  /// Programs that judge the vectors.
  static let harnesses = "harnesses"

  package init(_ path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

  /// Paths of all vectors relative to the folder, in order.
  package func vectorFiles() throws(SuiteError) -> [String] {
    var files: [String] = []
    let groups = try names(in: path).filter { ![Self.anchors, Self.harnesses].contains($0) }
    for group in groups where isFolder("\(path)/\(group)") {
      files += try names(in: "\(path)/\(group)").filter { $0.hasSuffix(".json") }.map { "\(group)/\($0)" }
    }
    return files
  }

  /// Paths of all files of a release: the folder's own files (which must exist), vectors, anchors and harnesses.
  package func releasedFiles() throws(SuiteError) -> [String] {
    let own = ["README.md", "LICENSE", "schema.json", CorpusLedger.fileName]
    if let missing = own.first(where: { !has($0) }) {
      throw SuiteError(path: "\(path)/\(missing)", problem: "is missing, but a release needs it")
    }
    return try own + vectorFiles() + anchorFiles() + (has(Self.harnesses) ? everything(in: Self.harnesses) : [])
  }

  /// Paths of all files below a folder, excluding hidden files, Python's caches, and built files listed in
  /// `.gitignore`.
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

  func anchorNames() throws(SuiteError) -> [String] {
    try anchorFiles().filter { $0.hasSuffix(".pem") }.map { String($0.dropFirst(Self.anchors.count + 1).dropLast(4)) }
  }

  private func anchorFiles() throws(SuiteError) -> [String] {
    has(Self.anchors) ? try names(in: "\(path)/\(Self.anchors)").map { "\(Self.anchors)/\($0)" } : []
  }

  func group(of file: String) -> String { String(file.prefix { $0 != "/" }) }

  /// SHA-256 over the output of `sha256sum` for all vectors and anchors, sorted by path.
  func digest() throws(SuiteError) -> String {
    var files: [(path: String, content: [UInt8])] = []
    for file in try vectorFiles() + anchorFiles() { files.append((file, try read(file))) }
    return Self.digest(of: files)
  }

  static func digest(of files: [(path: String, content: [UInt8])]) -> String {
    Hex.encode(HashAlgorithm.sha256.hash(Array(checksums(of: files).utf8)))
  }

  /// The output of `sha256sum` for the files, sorted by path.
  package static func checksums(of files: [(path: String, content: [UInt8])]) -> String {
    files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
      .map { "\(Hex.encode(HashAlgorithm.sha256.hash($0.content)))  \($0.path)\n" }.joined()
  }

  package func read(_ name: String) throws(SuiteError) -> [UInt8] { try Self.read("\(path)/\(name)") }

  private static func read(_ path: String) throws(SuiteError) -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw SuiteError(path: path, problem: "can't be read")
    }
    return [UInt8](data)
  }

  package func json(_ name: String) throws(SuiteError) -> JSON { try Self.json(at: "\(path)/\(name)") }

  static func json(at path: String) throws(SuiteError) -> JSON {
    let bytes = try read(path)
    let json: JSON
    do throws(JSON.SyntaxError) { json = try JSON(parsing: bytes) } catch {
      throw SuiteError(path: path, problem: "\(error)")
    }
    return json
  }

  package var isFile: Bool { FileManager.default.fileExists(atPath: path) && !isFolder(path) }

  package func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }

  /// The folder's own name.
  package var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }

  package func names(in folder: String) throws(SuiteError) -> [String] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw SuiteError(path: folder, problem: "the folder does not exist")
    }
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }

  package func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }
}

/// The stored inputs of vectors. Other vectors of the same group can describe their inputs by reference to these.
struct SuiteInputs {
  private var texts: [String: String] = [:]

  init(_ vectors: [(group: String, json: JSON)]) {
    for (group, json) in vectors {
      if let id = json["id"]?.string { texts["\(group)/\(id)"] = json["input"]?.string }
    }
  }

  func vector(_ json: JSON, in group: String) throws(VectorError) -> TestVector {
    try TestVector(json: json) { texts["\(group)/\($0)"].flatMap { Base64.decodeURLSafe($0) } }
  }
}
