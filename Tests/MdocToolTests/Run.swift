import Base
import FoundationEssentials

@testable import MdocTool

/// One run of the program, with everything that it printed.
struct Run {
  let status: Int32
  let output: String
  let error: String

  init(_ arguments: String..., width: Int = 100) async { await self.init(arguments, width: width) }

  init(_ arguments: [String], width: Int = 100) async {
    let printed = Locked((output: [UInt8](), error: [UInt8]()))
    let console = Console(width: width) { stream, bytes in
      printed.withLock { printed in
        switch stream {
        case .output: printed.output += bytes
        case .error: printed.error += bytes
        }
      }
      return true
    }
    status = await Program.run(arguments, console: console)
    (output, error) = printed.withLock {
      (String(decoding: $0.output, as: UTF8.self), String(decoding: $0.error, as: UTF8.self))
    }
  }

  func json() throws -> JSON { try JSON(parsing: Array(output.utf8)) }

  /// Whether exactly one line was printed to standard error, in the program's name.
  var hasOneLineOfError: Bool { error.hasPrefix("mdoc: ") && error.split(separator: "\n").count == 1 }
}

/// A folder that is removed after the test.
final class Scratch {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/mdoc-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(filePath: self(name)))
    return self(name)
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  func read(_ name: String) -> [UInt8] { FileManager.default.contents(atPath: self(name)).map { [UInt8]($0) } ?? [] }
}
