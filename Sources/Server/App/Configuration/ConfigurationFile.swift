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

/// What is wrong with one member of the configuration, and what it should be.
package struct ConfigurationProblem: Sendable, Hashable {
  /// A JSON pointer (RFC 6901); empty for the whole file.
  package let pointer: String
  package let detail: String

  /// `/listen: must be …`; what concerns the whole file has no pointer.
  package var text: String { pointer.isEmpty ? detail : "\(pointer): \(detail)" }
}

/// The problems of one reading, so that all of them are told at once. Used by the one thread that reads.
final class ConfigurationProblems {
  private(set) var all: [ConfigurationProblem] = []

  func note(_ problem: ConfigurationProblem) {
    if !all.contains(problem) { all.append(problem) }
  }

  /// The body's value; or nil, with its problems noted, so that the rest can be read as well.
  func attempt<R>(_ body: () throws(StartError) -> R) -> R? {
    do throws(StartError) {
      return try body()
    } catch {
      for problem in error.problems { note(problem) }
      if error.problems.isEmpty { note(ConfigurationProblem(pointer: "", detail: error.message)) }
      return nil
    }
  }
}

/// Why a server does not start, for the person at the terminal, with the exit code (sysexits.h).
package struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String
  package let exitCode: Int32
  /// The members of the configuration that are at fault, where that is the reason.
  package private(set) var problems: [ConfigurationProblem] = []

  /// `EX_CONFIG`: the configuration must be changed first.
  package static func configuration(_ message: String) -> StartError { StartError(message: message, exitCode: 78) }

  /// The same, by members of the file at `path`.
  static func configuration(_ path: String, _ problems: [ConfigurationProblem]) -> StartError {
    var error = configuration(problems.map { "\(path): \($0.text)" }.joined(separator: "; "))
    error.problems = problems
    return error
  }

  /// `EX_TEMPFAIL`: something outside the configuration is missing; the same start may work later.
  package static func unavailable(_ message: String) -> StartError { StartError(message: message, exitCode: 75) }

  package var description: String { message }
}
