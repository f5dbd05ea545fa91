import Glibc
import Primitives

/// What `mdoc serve --check-config` says: everything that a start would refuse in the file and in the files it names.
///
/// It opens no socket and no store, and fetches nothing: what a published list says is not known before the start.
public struct ConfigurationCheck: Sendable {
  public let path: String
  /// None: a server may be started with it.
  public let problems: [ConfigurationProblem]
  /// What is allowed and yet better changed.
  public let warnings: [String]

  public init(path: String) {
    self.path = path
    let now = Timestamp.systemNow()
    do throws(StartError) {
      let loader = ConfigurationLoader(path: path, network: ServerNetwork.none)
      let configuration = try loader.load(at: now)
      problems = Self.storeProblems(configuration.store)
      warnings =
        configuration.warnings + AnchorCertificates.warnings(of: configuration.anchors, at: now)
        + ReaderCertificates.warnings(of: configuration.relyingParties, at: now)
    } catch {
      problems = error.problems
      warnings = []
    }
  }

  /// The file is made by the start; its folder must be there.
  private static func storeProblems(_ store: StoreLocation) -> [ConfigurationProblem] {
    guard case .sqlite(let path) = store else { return [] }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard access(folder, W_OK | X_OK) != 0 else { return [] }
    let reason = FileFault.reason(errno)
    return [
      ConfigurationProblem(
        pointer: "/store",
        detail: "the folder \(folder): \(reason); the server's user must be able to make files in it")
    ]
  }

  public var json: JSON {
    [
      "object": "configuration_check", "file": .string(path), "is_good": .bool(problems.isEmpty),
      "problems": .array(
        problems.map { ["pointer": .string($0.pointer), "detail": .string($0.detail)] }),
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }
}
