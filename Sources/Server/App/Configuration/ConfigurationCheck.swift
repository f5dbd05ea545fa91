import Base
import Glibc

/// What `mdoc serve --check-config` says: everything that a start would refuse in the file and in the files it names.
///
/// It opens no socket and no store, and fetches nothing: of a published list that is fetched it knows what the last
/// accepted one said.
package struct ConfigurationCheck: Sendable {
  package let path: String
  /// None: a server may be started with it.
  package let problems: [Schema.Fault]
  /// What is allowed and yet better changed.
  package let warnings: [String]

  package init(path: String) {
    self.path = path
    let now = Timestamp.systemNow()
    do throws(StartError) {
      let loader = ConfigurationLoader(path: path, network: ServerNetwork.none)
      let configuration = try loader.load(at: now)
      let lists = configuration.trust?.loader
      let listed = lists?.listedAnchorsAtHand(at: now) ?? []
      let missing = (lists?.missingLists ?? []).map { "trust: the list \($0) cannot be read" }
      let isTrusting = !(configuration.anchors + listed).isEmpty || lists?.fetchesLists == true
      problems =
        Self.storeProblems(configuration.store)
        + (isTrusting
          ? [] : [Schema.Fault("/trust", "no trust anchor for live mode in what is here now")])
      warnings =
        configuration.warnings + missing + AnchorCertificates.warnings(of: configuration.anchors, at: now)
        + AnchorCertificates.crlWarnings(of: configuration.anchors + listed)
        + PartyCertificates.warnings(of: configuration.relyingParties, at: now)
    } catch {
      problems = error.problems
      warnings = []
    }
  }

  /// The file is made by the start; its folder must be there.
  private static func storeProblems(_ store: StoreLocation) -> [Schema.Fault] {
    guard case .sqlite(let path) = store else { return [] }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard access(folder, W_OK | X_OK) != 0 else { return [] }
    let reason = FileFault.reason(errno)
    return [
      Schema.Fault(
        "/store",
        "the folder \(folder): \(reason); the server's user must be able to make files in it")
    ]
  }

  package var json: JSON {
    [
      "object": "configuration_check", "file": .string(path), "is_good": .bool(problems.isEmpty),
      "problems": .array(
        problems.map { ["pointer": .string($0.pointer), "detail": .string($0.detail)] }),
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }
}
