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

  package init(_ path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

  /// Paths of all vectors relative to the folder, in order.
  func vectorFiles() throws(SuiteError) -> [String] {
    var files: [String] = []
    for group in try names(in: path) where group != Self.anchors && isFolder("\(path)/\(group)") {
      files += try names(in: "\(path)/\(group)").filter { $0.hasSuffix(".json") }.map { "\(group)/\($0)" }
    }
    return files
  }

  /// SHA-256 over the lines that `sha256sum` prints of all vectors and anchors, sorted by path.
  func digest() throws(SuiteError) -> String {
    let anchors = has(Self.anchors) ? try names(in: "\(path)/\(Self.anchors)").map { "\(Self.anchors)/\($0)" } : []
    var lines = ""
    for file in (try vectorFiles() + anchors).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      lines += "\(Hex.encode(HashAlgorithm.sha256.hash(try read(file))))  \(file)\n"
    }
    return Hex.encode(HashAlgorithm.sha256.hash(Array(lines.utf8)))
  }

  package func read(_ name: String) throws(SuiteError) -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else {
      throw SuiteError(path: "\(path)/\(name)", problem: "can't be read")
    }
    return [UInt8](data)
  }

  func json(_ name: String) throws(SuiteError) -> JSON {
    guard let json = try? JSON(parsing: read(name)) else {
      throw SuiteError(path: "\(path)/\(name)", problem: "is no JSON")
    }
    return json
  }

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
