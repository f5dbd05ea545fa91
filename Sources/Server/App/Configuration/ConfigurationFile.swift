import Base
import FoundationEssentials
import Glibc

/// The configuration file, and the files that it names by paths relative to itself.
struct ConfigurationFile {
  let path: String
  /// Notes the faults that are found while it is read.
  let reading = Schema.Reading(ConfigurationSchema.definitions)
  private let folder: String

  init(path: String) {
    self.path = path
    folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// The object that is the whole file.
  func root() throws(StartError) -> Schema.Object {
    do throws(Schema.Fault) {
      let bytes = try contents(of: path, for: "")
      guard let json = try? JSON(parsing: bytes, values: .max) else {
        throw Schema.Fault("", "is not JSON in UTF-8, or an object has two members of one name")
      }
      return try Schema.Object(json, by: ConfigurationSchema.root.schema, in: reading)
    } catch {
      throw .configuration(path, [error])
    }
  }

  /// An absolute path stays as it is. Any other path is relative to the configuration's folder.
  func resolve(_ text: String) -> String { text.hasPrefix("/") ? text : folder + text }

  /// A file named by the member at `pointer`.
  func read(_ name: String, at pointer: String) throws(Schema.Fault) -> [UInt8] {
    try contents(of: resolve(name), for: pointer)
  }

  private func contents(of path: String, for pointer: String) throws(Schema.Fault) -> [UInt8] {
    let subject = pointer.isEmpty ? "" : "the file \(path) "
    // The contents are nil for a pipe or a device, which would be read for ever.
    guard let data = FileManager.default.contents(atPath: path) else {
      let reason = access(path, R_OK) == 0 ? "it is no regular file" : FileFault.reason(errno)
      throw Schema.Fault(pointer, subject + "cannot be read: \(reason)")
    }
    requireProtection(of: path, at: pointer)
    guard data.count <= 1 << 20 else { throw Schema.Fault(pointer, subject + "is larger than 1 MiB") }
    return [UInt8](data)
  }
}

/// Why a server does not start, for the person at the terminal, with the exit code (sysexits.h).
package struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String
  package let exitCode: Int32
  /// The members of the configuration that have faults, if that is the reason; empty otherwise.
  package private(set) var problems: [Schema.Fault] = []

  /// `EX_CONFIG`: the configuration must be changed first.
  package static func configuration(_ message: String) -> StartError { StartError(message: message, exitCode: 78) }

  /// `EX_CONFIG`, with the faults of members of the file at `path`.
  static func configuration(_ path: String, _ problems: [Schema.Fault]) -> StartError {
    var error = configuration(problems.map { "\(path): \($0.text)" }.joined(separator: "; "))
    error.problems = problems
    return error
  }

  /// `EX_TEMPFAIL`: something outside the configuration is missing; the same start may work later.
  package static func unavailable(_ message: String) -> StartError { StartError(message: message, exitCode: 75) }

  package var description: String { message }
}

extension Schema.Object {
  /// A member that is an object of lists of texts, by any names.
  func textLists(
    _ name: String, byName names: String, of what: String
  ) throws(Schema.Fault) -> [String: [String]] {
    guard let members = try required(name).object, !members.isEmpty else {
      throw fault(name, "must be an object of \(names), each with its \(what)")
    }
    var lists: [String: [String]] = [:]
    for member in members {
      let texts = member.value.array?.compactMap(\.string) ?? []
      guard !texts.isEmpty, texts.count == member.value.array?.count else {
        throw fault("\(name)/\(JSONPointer.escape(member.name))", "must be a list of \(what)")
      }
      lists[member.name] = texts
    }
    return lists
  }
}
