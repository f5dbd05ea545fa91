import App
import FoundationEssentials
import Glibc

/// A new folder for the store of a test server, readable by its owner alone.
enum TemporaryStore {
  static func makeFolder() throws(StartError) -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/mdoc-test-XXXXXX".utf8CString)
    let folder = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
    guard let folder else { throw .unavailable("\(base): no folder can be made") }
    return folder
  }

  static func remove(_ folder: String) {
    // What cannot be removed is left: it holds nothing but test data.
    try? FileManager.default.removeItem(atPath: folder)
  }
}
