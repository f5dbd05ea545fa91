import Base
import FoundationEssentials
import Glibc
import Sessions
import TestSupport
import Testing

@testable import App

/// The files in `.deploy/` name only things that exist.
@Suite(.onOwnThreads) struct DeploymentTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: name)), as: UTF8.self)
  }

  /// The words of the text with this prefix.
  private static func words(_ text: String, _ prefix: String) -> Set<String> {
    let parts = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
    return Set(parts.map(String.init).filter { $0.hasPrefix(prefix) })
  }

  private static func article(_ name: String) throws -> String {
    try text("Sources/Tool/Documentation.docc/\(name).md")
  }

  @Test func `alert rules, dashboard and articles name metrics that there are`() async throws {
    let articles = try ["WatchTheServer", "ReceiveEvents", "Audit", "ConfigureTheServer"].map(Self.article)
    let files = try [".deploy/alerts.yml", ".deploy/dashboard.json"].map(Self.text)
    let named = (files + articles).reduce(into: Set<String>()) { names, text in
      names.formUnion(Self.words(text, "mdoc_"))
    }
    try await withTestMode { bed in
      let metrics = try await bed.api.get("/metrics").body
      let lines = metrics.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
      let families = lines.map { $0.split(separator: " ").map(String.init) }
      let printed = families.flatMap { words in
        words[3] == "histogram" ? ["", "_bucket", "_sum", "_count"].map { words[2] + $0 } : [words[2]]
      }
      #expect(named.count >= 10 && named.subtracting(printed) == [])
    }
  }

  @Test func `alert rules name routes, outcomes and states that there are`() throws {
    let rules = try Self.text(".deploy/alerts.yml")
    let routes = RouteTable.routes(with: .none).map { "route=\"\($0.path.text)\"" }
    let labels = rules.components(separatedBy: "route=\"").dropFirst().map { rest in
      "route=\"" + rest.prefix { $0 != "\"" } + "\""
    }
    #expect(labels.count == 2 && Set(labels).isSubset(of: routes))
    #expect(rules.contains("outcome=\"\(Reply.Verification.failed.rawValue)\""))
  }

  @Test func `the dashboard has panels with queries, no two of one number, and names routes that there are`() throws {
    let text = try Self.text(".deploy/dashboard.json")
    let dashboard = try JSON(parsing: Array(text.utf8))
    let panels = dashboard["panels"]?.array ?? []
    #expect(panels.count > 12 && Set(panels.compactMap { $0["id"]?.integer }).count == panels.count)
    for panel in panels where panel["type"] != "row" {
      let queries = panel["targets"]?.array ?? []
      #expect(!queries.isEmpty && queries.allSatisfy { $0["expr"]?.string?.contains("mdoc_") == true })
    }
    let routes = Set(RouteTable.routes(with: .none).map(\.path.text))
    let named = text.matches(of: /route=\\"([^"\\]+)\\"/).map { String($0.1) }
    #expect(!named.isEmpty && routes.isSuperset(of: named))
  }

  @Test func `an article says what to do about each alert`() throws {
    let alerts = Self.words(try Self.text(".deploy/alerts.yml"), "Mdoc")
    let article = try Self.article("WatchTheServer")
    #expect(alerts.count >= 10)
    for alert in alerts { #expect(article.contains("| `\(alert)` |"), "\(alert)") }
  }

  @Test func `a stop by systemd waits for the longest stop by default`() throws {
    let unit = try Self.text(".deploy/mdoc.service")
    let line = unit.split(separator: "\n").first { $0.hasPrefix("TimeoutStopSec=") }
    let seconds = try #require(line.flatMap { Int64($0.dropFirst("TimeoutStopSec=".count)) })
    #expect(seconds > StopTimes.standard.total)
    let dockerfile = try Self.text(".deploy/Dockerfile")
    #expect(dockerfile.contains("--stop-timeout \(seconds) "))
  }

  /// The command of the image's health check, in the same shell, with this server's port.
  @Test func `the container's health check finds a server with the configuration that its file describes`() async throws
  {
    let dockerfile = try Self.text(".deploy/Dockerfile")
    let lines = dockerfile.split(separator: "\n")
    #expect(dockerfile.contains("\"listen\": \"0.0.0.0:8080\"") && lines.contains("EXPOSE 8080"))
    #expect(lines.contains("ENV MDOC_HEALTH=http://127.0.0.1:8080/healthz"))
    let check = try #require(lines.first { $0.hasPrefix("HEALTHCHECK ") }?.components(separatedBy: " CMD ").last)
    try await withFolder { path in
      let folder = try LiveFolder(path)
      for isEncrypted in [false, true] {
        try folder.writeTLS()
        let tls: JSON = ["certificate": "tls-chain.pem", "key": "tls.pem"]
        try folder.writeConfiguration([
          "listen": "0.0.0.0:0", "behind_proxy": true, "trusted_proxies": ["172.16.0.0/12"],
          "tls": isEncrypted ? tls : .null,
        ])
        try await folder.serve { server, _, _ in
          let place = "\(isEncrypted ? "https" : "http")://127.0.0.1:\(server.listen.port)/healthz"
          #expect(await Self.status(of: check, ["MDOC_HEALTH=\(place)"]) == 0)
          #expect(await Self.status(of: check, ["MDOC_HEALTH=\(place)/nowhere"]) != 0)
        }
      }
    }
  }

  /// The exit status of a shell command, awaited on its own thread.
  private static func status(of command: String, _ environment: [String]) async -> Int32 {
    let status = Locked<Int32>(-1)
    await BackgroundThread.run {
      var process: pid_t = 0
      let words: [String] = ["sh", "-c", "\(command) >/dev/null 2>&1"]
      var arguments = words.map { strdup($0) } + [nil]
      var variables = (environment + ["PATH=/usr/local/bin:/usr/bin:/bin"]).map { strdup($0) } + [nil]
      defer { for pointer in arguments + variables { free(pointer) } }
      guard posix_spawn(&process, "/bin/sh", nil, nil, &arguments, &variables) == 0 else { return }
      var ended: Int32 = 0
      while waitpid(process, &ended, 0) < 0, errno == EINTR {}
      status.withLock { $0 = ended }
    }
    return status.withLock { $0 }
  }
}
