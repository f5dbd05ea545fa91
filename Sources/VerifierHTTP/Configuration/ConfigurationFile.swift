import FoundationEssentials
import Glibc
import Primitives

/// The configuration file, and the files that it names by paths relative to itself.
struct ConfigurationFile {
  let path: String
  private let folder: String

  init(path: String) {
    self.path = path
    folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  func json() throws(StartError) -> JSON {
    let bytes = try contents(of: path, for: "")
    do throws(JSON.SyntaxError) {
      return try JSON(parsing: bytes)
    } catch {
      throw .configuration("\(path): is not JSON")
    }
  }

  func fault(_ pointer: String, _ problem: String) -> StartError {
    .configuration("\(path): \(pointer.isEmpty ? "(top level)" : pointer): \(problem)")
  }

  /// An absolute path as it is, any other from the configuration's folder.
  func resolve(_ text: String) -> String { text.hasPrefix("/") ? text : folder + text }

  /// A file named by the member at `pointer`.
  func read(_ name: String, at pointer: String) throws(StartError) -> [UInt8] {
    try contents(of: resolve(name), for: pointer)
  }

  /// Whether others on this machine can read the file; a private key should be its owner's alone.
  func isReadableByOthers(_ name: String) -> Bool {
    var status = stat()
    return stat(resolve(name), &status) == 0 && status.st_mode & S_IROTH != 0
  }

  private func contents(of path: String, for pointer: String) throws(StartError) -> [UInt8] {
    // A pipe or device would be read for ever.
    guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 20 else {
      throw pointer.isEmpty
        ? .configuration("\(path): cannot be read") : fault(pointer, "the file \(path) cannot be read")
    }
    return [UInt8](data)
  }
}
