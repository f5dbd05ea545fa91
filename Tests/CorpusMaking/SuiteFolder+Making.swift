import FoundationEssentials
import Vectors

extension SuiteFolder {
  /// Writes a file, and creates the folder that it lies in.
  package func write(_ bytes: [UInt8], to name: String) throws(SuiteError) {
    let file = "\(path)/\(name)"
    let parent = file[..<(file.lastIndex(of: "/") ?? file.startIndex)]
    do {
      try FileManager.default.createDirectory(atPath: String(parent), withIntermediateDirectories: true)
      try Data(bytes).write(to: URL(filePath: file))
    } catch {
      throw SuiteError(path: file, problem: "can't be written")
    }
  }

  package func remove(_ name: String) throws(SuiteError) {
    do {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    } catch {
      throw SuiteError(path: "\(path)/\(name)", problem: "can't be removed")
    }
  }

  /// Folders within it, in order.
  package func folders() throws(SuiteError) -> [SuiteFolder] {
    try names(in: path).map { SuiteFolder("\(path)/\($0)") }.filter { isFolder($0.path) }
  }

  /// Names of the files directly in it, in order.
  package func files() throws(SuiteError) -> [String] { try names(in: path).filter { !isFolder("\(path)/\($0)") } }
}
