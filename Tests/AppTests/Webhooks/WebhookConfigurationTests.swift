import Base
import Glibc
import Sessions
import Testing
import Trust

@testable import App
@testable import TestMode

/// `webhooks` of a relying party.
@Suite struct WebhookConfigurationTests {
  private static let secret = "whsec_" + Base64.encode([UInt8](repeating: 3, count: 24))
  private static let good: [JSON.Member] = [
    .init("id", "main"), .init("url", "https://shop.example/hooks"), .init("secrets", [["file": "hook.secret"]]),
  ]

  private static func hook(_ name: String? = nil, _ value: JSON = .null) -> JSON {
    .object(good.filter { $0.name != name } + (name.map { [.init($0, value)] } ?? []))
  }

  private func load(_ webhooks: JSON, in path: String) throws -> ServerConfiguration {
    let folder = try LiveFolder(path)
    try folder.write("hook.secret", Array((Self.secret + "\n").utf8))
    try folder.write("short.secret", Array("whsec_AAAA".utf8))
    let party = JSON.object((LiveFolder.party.object ?? []) + [.init("webhooks", webhooks)])
    try folder.writeConfiguration(["relying_parties": [party]])
    return try ConfigurationLoader(path: folder.configurationFile).load()
  }

  @Test func `endpoints are read as they are written`() async throws {
    try await withFolder { path in
      let second: JSON = .object(
        Self.good.filter { $0.name != "id" } + [
          .init("id", "second"), .init("events", ["verification_session.verified"]),
        ])
      let configuration = try load([Self.hook(), second], in: path)
      let webhooks = configuration.relyingParties["shop"]?.webhooks ?? []
      #expect(webhooks.map(\.id) == ["main", "second"])
      #expect(webhooks.map(\.url) == ["https://shop.example/hooks", "https://shop.example/hooks"])
      #expect(webhooks.map { $0.secrets.map(\.exposed) } == [[Self.secret], [Self.secret]])
      #expect(webhooks.map(\.types) == [Set(EventType.allCases), [.verified]])
      #expect(configuration.warnings == [])
    }
  }

  private static func internalHook(_ url: String, _ allow: JSON) -> JSON {
    .object(good.filter { $0.name != "url" } + [.init("url", .string(url)), .init("allow", allow)])
  }

  @Test(
    arguments: [
      ("https://10.20.0.1/", ["networks": ["10.20.0.0/16"]]), ("https://10.20.0.1/", ["hosts": ["10.20.0.1"]]),
      ("https://shop.internal:8443/", ["hosts": ["Shop.Internal"], "ports": [8443]]),
      ("https://169.254.10.1/", ["networks": ["169.254.10.0/24"]]),
      ("https://localhost:8443/", ["networks": ["127.0.0.0/8"], "ports": [8443]]),
      ("https://[fd12::1]/", ["networks": ["fd12::/16"]]),
    ] as [(String, JSON)])
  func `a receiver inside is reached where its endpoint allows it`(_ url: String, _ allow: JSON) async throws {
    try await withFolder { path in
      let webhooks = try load([Self.internalHook(url, allow)], in: path).relyingParties["shop"]?.webhooks
      #expect(webhooks?.map(\.url) == [url])
      #expect(webhooks?.first?.targets != InternalTargets.none)
    }
  }

  static let faults: [(JSON, String)] = [
    ([hook("url", "http://shop.example/")], "0/url"), ([hook("url", "https://10.0.0.1/")], "0/url"),
    ([hook("url", "https://127.0.0.1/")], "0/url"), ([hook("url", "https://shop.example:8443/")], "0/url"),
    ([hook("url")], "0/url"), ([hook("id", "a b")], "0/id"), ([hook("id", "")], "0/id"),
    ([hook("id", .string(String(repeating: "x", count: 29)))], "0/id"), ([hook(), hook()], "1/id"),
    ([hook("secrets", [])], "0/secrets"), ([hook("secrets", [["file": "short.secret"]])], "0/secrets/0"),
    ([hook("secrets", [["file": "nowhere"]])], "0/secrets/0/file"),
    ([hook("secrets", .array((0..<5).map { _ in ["file": "hook.secret"] }))], "0/secrets"),
    ([hook("events", [])], "0/events"), ([hook("events", ["verified"])], "0/events/0"),
    ([hook("verify", false)], "0/verify"), ([hook("allow", ["host": ["shop.example"]])], "0/allow/host"),
    ([hook("allow", ["hosts": ["other.example"]])], "0/allow/hosts"),
    ([hook("allow", ["ports": [0]])], "0/allow/ports/0"),
    ([hook("allow", ["ports": [8443, 65_536]])], "0/allow/ports/1"),
    ([hook("allow", ["networks": ["10.20.0.0/8"]])], "0/allow/networks/0"),
    ([hook("allow", ["networks": ["intranet"]])], "0/allow/networks/0"),
    ([internalHook("https://10.20.0.1/", ["networks": ["10.21.0.0/16"]])], "0/url"),
    ([internalHook("https://10.20.0.1:8443/", ["networks": ["10.20.0.0/16"]])], "0/url"),
    ([internalHook("https://169.254.169.254/", ["networks": ["0.0.0.0/0"]])], "0/url"),
    ([internalHook("https://127.0.0.1/", ["hosts": ["127.0.0.1"]])], "0/url"),
    ([internalHook("http://10.20.0.1/", ["networks": ["10.20.0.0/16"]])], "0/url"),
  ]

  @Test(arguments: faults)
  func `a fault names file and member`(_ webhooks: JSON, _ pointer: String) async throws {
    try await withFolder { path in
      let error = #expect(throws: StartError.self) { try load(webhooks, in: path) }
      #expect(
        error?.message.hasPrefix("\(path)/mdoc.json: /relying_parties/0/webhooks/\(pointer):") == true,
        "\(error?.message ?? "")")
      #expect(error?.message.contains("whsec_AAAA") == false)
    }
  }

  @Test(arguments: [
    ("https://shop.example/hooks", true), ("http://127.0.0.1:9000/hooks", true), ("http://localhost:9000/", true),
    ("http://[::1]:9000/", true), ("http://shop.example/hooks", false), ("ftp://127.0.0.1/", false), ("x", false),
  ])
  func `test mode sends without TLS to this machine alone`(_ url: String, _ isTaken: Bool) {
    #expect(TestServer.isWebhookURL(url) == isTaken)
  }
}
