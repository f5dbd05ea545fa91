import Base
import FoundationEssentials
import Glibc
import PKIX
import Sessions
import Trust

/// The configuration file. This folder has one `Shape` for each object of the file. The shape reads the object and its
/// files, and describes it in the schema of `mdoc serve --config-schema`.
struct ConfigurationFile: Sendable {
  let path: String
  /// The time at which certificates and keys are checked.
  let now: Timestamp
  let environment: EnvironmentSecrets
  let fetcher: any ListFetcher
  /// The mode in the file. An unknown mode counts as staging, so that the anchors cause no second error.
  var mode = ServerMode.staging
  var registrars = SignerPath.Anchors(configured: [], allowsTestCertificates: false)
  /// `pkcs11_module`: the PKCS #11 module for key URIs without `module-path`.
  var tokenModule: String?
  /// Faults that may be temporary, such as an unavailable token.
  let passing = Locked<Set<InputError>>([])

  /// Resolves a relative path against the folder of the configuration file.
  func resolve(_ text: String) -> String {
    text.hasPrefix("/") ? text : (path.lastIndex(of: "/").map { String(path[...$0]) } ?? "") + text
  }

  struct Named: Sendable {
    let path: String
    let bytes: [UInt8]
  }

  var file: Shape<Named> {
    Shape.nonEmptyString().parsed { name, pointer, faults in
      let path = resolve(name)
      return contents(of: path, at: pointer, &faults).map { Named(path: path, bytes: $0) }
    }
  }

  /// Reads the file of a member, or the configuration file if the pointer is empty.
  func contents(of path: String, at pointer: String, _ faults: inout Faults) -> [UInt8]? {
    let subject = pointer.isEmpty ? "" : "the file \(path) "
    // The contents are nil for pipes and devices, which have no end.
    guard let data = FileManager.default.contents(atPath: path) else {
      let reason = access(path, R_OK) == 0 ? "it is not a regular file" : FileFault.reason(errno)
      faults.add(pointer, subject + "cannot be read: \(reason)")
      return nil
    }
    faults.requireProtection(of: path, at: pointer)
    guard data.count <= 1 << 20 else {
      faults.add(pointer, subject + "is larger than 1 MiB")
      return nil
    }
    return [UInt8](data)
  }

  /// Loads the anchors in files and folders, with the settings beside them.
  func anchors(
    _ names: [String], _ docTypes: [String]? = nil, _ addresses: CRLAddresses = .named, at pointer: String,
    _ faults: inout Faults
  ) -> [TrustAnchor]? {
    let paths = names.map(resolve)
    for path in paths + paths.map(TrustAnchorLoader.settingsFile) { faults.requireProtection(of: path, at: pointer) }
    return faults.attempt(pointer) {
      try TrustAnchorLoader(defaultDocTypes: docTypes, crlAddresses: addresses).load(paths)
    }
  }
}

extension Faults {
  /// Returns the value, or records the error's text and returns nil.
  mutating func attempt<Value, Failure: Error>(
    _ pointer: String, _ make: () throws(Failure) -> Value, text: (Failure) -> String
  ) -> Value? {
    do throws(Failure) { return try make() } catch {
      add(pointer, text(error))
      return nil
    }
  }

  /// Records a fault for each duplicate key. `member` is the path of the key within an element, such as `/id`.
  mutating func noteDuplicates<Key: Hashable>(
    _ keys: [Key?], at pointer: String, _ member: String, _ detail: (Key) -> String = { "duplicate id \"\($0)\"" }
  ) {
    var seen: Set<Key> = []
    for (index, key) in keys.enumerated() {
      if let key, !seen.insert(key).inserted { add("\(pointer)/\(index)\(member)", detail(key)) }
    }
  }
}

extension Shape where Value == String {
  /// A short name for logs and addresses.
  static func name(like pattern: String, _ detail: String, _ isName: @escaping @Sendable (String) -> Bool) -> Shape {
    nonEmptyString(like: pattern).checked(detail, isName)
  }
}

/// The JSON Schema of the configuration file: the rules that need no other file.
package enum ConfigurationSchema {
  static let root = ConfigurationFile(
    path: "", now: Timestamp(secondsSince1970: 0), environment: EnvironmentSecrets(), fetcher: StaticListFetcher()
  ).root.schema

  package static let json: JSON = {
    var definitions = OpenAPIComponents([], at: "#/$defs/")
    let reference = definitions.lift(root.json)
    return .object(
      [
        .init("$schema", "https://json-schema.org/draft/2020-12/schema"), .init("title", "mdoc serve --config"),
      ] + (reference.object ?? []) + [.init("$defs", .object(definitions.outermostFirst))])
  }()

  /// Ends the summary of a member that takes effect only after a restart.
  static let needsRestart = " A new value needs a restart."

  static let fixedMembers = root.members.filter {
    $0.schema["description"]?.string?.hasSuffix(needsRestart) == true
  }.map(\.name)
}

/// The reason why a server does not start: a message for the person at the terminal, and the exit code (sysexits.h).
package struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String
  package let exitCode: Int32
  /// The errors in members of the configuration; empty if there is another reason.
  package private(set) var problems: [InputError] = []

  /// `EX_CONFIG`: the configuration must be changed first.
  package static func configuration(_ message: String) -> StartError { StartError(message: message, exitCode: 78) }

  /// `EX_CONFIG`, with the errors in members of the file at `path`.
  static func configuration(_ path: String, _ problems: [InputError]) -> StartError {
    var error = configuration(problems.map { "\(path): \($0.text)" }.joined(separator: "; "))
    error.problems = problems
    return error
  }

  /// - Parameter isPassing: true if the errors may be temporary. The exit code is then `EX_TEMPFAIL`.
  static func configuration(_ path: String, _ faults: Faults, isPassing: Bool = false) -> StartError {
    let error = configuration(path, faults.all)
    return isPassing ? StartError(message: error.message, exitCode: 75, problems: error.problems) : error
  }

  /// `EX_TEMPFAIL`: something outside the configuration is unavailable; a later start may succeed.
  package static func unavailable(_ message: String) -> StartError { StartError(message: message, exitCode: 75) }

  static func checking<Value>(_ body: () throws(ConfigurationError) -> Value) throws(StartError) -> Value {
    do throws(ConfigurationError) { return try body() } catch { throw .configuration(error.message) }
  }

  /// Runs the body. A failure of the body counts as temporary: `EX_TEMPFAIL`.
  static func attempt<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(StartError) -> Value {
    do throws(Failure) { return try body() } catch { throw .unavailable("\(error)") }
  }

  package var description: String { message }
}
