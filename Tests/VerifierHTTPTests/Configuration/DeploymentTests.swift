import FoundationEssentials
import Testing
import VerificationService

@testable import VerifierHTTP

/// The files in `.deploy/` speak of what there is.
@Suite(.onOwnThreads) struct DeploymentTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: name)), as: UTF8.self)
  }

  /// The words of the text that begin so.
  private static func words(_ text: String, _ prefix: String) -> Set<String> {
    let parts = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
    return Set(parts.map(String.init).filter { $0.hasPrefix(prefix) })
  }

  @Test func `alert rules name metrics that there are`() async throws {
    let rules = try Self.text(".deploy/alerts.yml")
    let named = Self.words(rules, "mdoc_")
    try await withTestMode { bed in
      let metrics = try await bed.api.get("/metrics").body
      let lines = metrics.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
      let families = lines.map { $0.split(separator: " ").map(String.init) }
      let printed = families.flatMap { words in
        words[3] == "histogram" ? ["_bucket", "_sum", "_count"].map { words[2] + $0 } : [words[2]]
      }
      #expect(named.count >= 10 && named.subtracting(printed) == [])
    }
  }

  @Test func `alert rules name routes, outcomes and states that there are`() throws {
    let rules = try Self.text(".deploy/alerts.yml")
    let routes = RouteTable.routes(isLive: true).map { "route=\"\($0.path.text)\"" }
    let labels = rules.components(separatedBy: "route=\"").dropFirst().map { rest in
      "route=\"" + rest.prefix { $0 != "\"" } + "\""
    }
    #expect(labels.count == 2 && Set(labels).isSubset(of: routes))
    #expect(rules.contains("outcome=\"\(Answer.Verification.failed.rawValue)\""))
  }

  @Test func `the README says what to do about each alert`() throws {
    let alerts = Self.words(try Self.text(".deploy/alerts.yml"), "Mdoc")
    let readme = try Self.text("README.md")
    #expect(alerts.count >= 10)
    for alert in alerts { #expect(readme.contains("| `\(alert)` |"), "\(alert)") }
  }

  @Test func `a stop by systemd waits for the longest stop by default`() throws {
    let unit = try Self.text(".deploy/mdoc.service")
    let line = unit.split(separator: "\n").first { $0.hasPrefix("TimeoutStopSec=") }
    let seconds = try #require(line.flatMap { Int64($0.dropFirst("TimeoutStopSec=".count)) })
    #expect(seconds > StopTimes.standard.notice + StopTimes.standard.drain)
  }
}
