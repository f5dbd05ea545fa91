import Base
import FoundationEssentials
import Glibc

/// The configuration file, and the files that it names by paths relative to itself.
struct ConfigurationFile {
  let path: String
  /// What is found wrong while it is read.
  let problems = ConfigurationProblems()
  private let folder: String

  init(path: String) {
    self.path = path
    folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  func json() throws(StartError) -> JSON {
    let bytes = try contents(of: path, for: "")
    do throws(JSON.SyntaxError) {
      return try JSON(parsing: bytes, values: .max)
    } catch {
      throw fault("", "is not JSON in UTF-8, or an object has two members of one name")
    }
  }

  func fault(_ pointer: String, _ problem: String) -> StartError {
    .configuration(path, [ConfigurationProblem(pointer: pointer, detail: problem)])
  }

  /// An absolute path as it is, any other from the configuration's folder.
  func resolve(_ text: String) -> String { text.hasPrefix("/") ? text : folder + text }

  /// A file named by the member at `pointer`.
  func read(_ name: String, at pointer: String) throws(StartError) -> [UInt8] {
    try contents(of: resolve(name), for: pointer)
  }

  private func contents(of path: String, for pointer: String) throws(StartError) -> [UInt8] {
    // A pipe or device would be read for ever.
    guard let data = FileManager.default.contents(atPath: path) else {
      let reason = access(path, R_OK) == 0 ? "it is no regular file" : FileFault.reason(errno)
      throw fault(pointer, (pointer.isEmpty ? "" : "the file \(path) ") + "cannot be read: \(reason)")
    }
    requireProtection(of: path, at: pointer)
    guard data.count <= 1 << 20 else {
      throw fault(pointer, (pointer.isEmpty ? "" : "the file \(path) ") + "is larger than 1 MiB")
    }
    return [UInt8](data)
  }
}
