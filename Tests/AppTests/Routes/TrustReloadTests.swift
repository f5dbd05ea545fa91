import Base
import FoundationEssentials
import Glibc
import PKIX
import TestSupport
import Testing
import Trust

@testable import App
@testable import Mock

/// Trust anchors are reloaded while the server runs; a failed load changes nothing.
@Suite(.onOwnThreads) struct TrustReloadTests {
  private static func withLiveServer(
    _ body: (LiveFolder, APIClient, LogCapture) async throws -> Void
  ) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["relying_parties": [party]])
      try await folder.serve { _, api, log in try await body(folder, api, log) }
    }
  }

  /// The shop with every scope.
  private static var party: JSON {
    let key: JSON = [
      "sha256": LiveFolder.party["api_keys"]?.array?.first?["sha256"] ?? .null,
      "scopes": ["trust:read", "server:operate"],
    ]
    let members = (LiveFolder.party.object ?? []).map { member in
      JSON.Member(member.name, member.name == "api_keys" ? [key] : member.value)
    }
    return .object(members)
  }

  private static func root(_ seed: String) throws -> String {
    let authority = try MockAuthority(seed: Array(seed.utf8))
    var template = try authority.anchorTemplate(.good, at: .systemNow())
    template[oid: MockCertificateMarker.oid] = nil
    return PEM.encode(certificate: try template.signed(by: authority.certificateIssuer(.good).key))
  }

  @Test func `a reload puts a new anchor in force, under a new snapshot`() async throws {
    try await Self.withLiveServer { folder, api, log in
      let before = try await api.get("/v1/trust_anchors").json
      try folder.write("trust/second.pem", Array(Self.root("second").utf8))
      let reply = try await api.post("/v1/trust/reload")
      #expect(reply.status == 200 && reply.json["is_current"] == true)
      #expect(reply.json["sources"]?.array?.first?["anchors"] == 2)
      let after = try await api.get("/v1/trust_anchors").json
      #expect(after["data"]?.array?.count == 2 && before["data"]?.array?.count == 1)
      #expect(after["trust_snapshot"] != before["trust_snapshot"])
      #expect(log.all.contains { $0.contains("trust.reloaded") })
    }
  }

  @Test func `a reload that fails keeps what was in force, and says so`() async throws {
    try await Self.withLiveServer { folder, api, log in
      let before = try await api.get("/v1/trust_anchors").json
      try folder.write("trust/second.pem", Array("no certificate".utf8))
      let reply = try await api.post("/v1/trust/reload")
      #expect(reply.status == 409 && reply.code == "api.trust_reload_failed")
      let after = try await api.get("/v1/trust_anchors").json
      #expect(after["trust_snapshot"] == before["trust_snapshot"])
      #expect(after["loaded"]?["is_current"] == false)
      #expect(log.all.contains { $0.contains("trust.reload_failed") && $0.contains("second.pem") })
      let metrics = try await api.get("/metrics").body
      #expect(metrics.contains("mdoc_trust_reload_failures_total 1\n"))
    }
  }

  @Test func `a reload that would leave nothing to trust keeps what was in force`() async throws {
    try await Self.withLiveServer { folder, api, _ in
      try FileManager.default.removeItem(atPath: folder.path + "/trust/iaca.pem")
      #expect(try await api.post("/v1/trust/reload").code == "api.trust_reload_failed")
      #expect(try await api.get("/v1/trust_anchors").json["data"]?.array?.count == 1)
    }
  }

  @Test func `a mock root does not come in by a reload`() async throws {
    try await Self.withLiveServer { folder, api, _ in
      let mock = try MockAuthority(seed: [1]).anchor(at: .systemNow())
      try folder.write("trust/mock.pem", Array(PEM.encode(certificate: mock.certificate).utf8))
      #expect(try await api.post("/v1/trust/reload").code == "api.trust_reload_failed")
    }
  }

  /// Its anchors are not trusted for longer than the list that another list replaced.
  @Test func `a list that names nobody any more ends the trust in those that it named`() async throws {
    let now = Timestamp(secondsSince1970: 1_795_000_000)
    let authority = try MockAuthority(seed: Array("withdrawn".utf8))
    let root = try Certificate(der: MockList.Kind.vical.signerAnchor(of: authority, at: now))
    let source = TrustListSource(signers: .init(authorities: [root], allowsTestCertificates: true))
    let path = FileManager.default.temporaryDirectory.path + "/mdoc-\(UUID().uuidString)"
    defer { unlink(path) }
    let loader = TrustLoader(
      sources: [TrustSource(name: "list", .list(PublishedTrustList(.file(path), .vical(source))))],
      defaultDocTypes: nil, fetcher: StaticListFetcher(), memory: nil)
    func publish(_ list: MockList) throws {
      #expect(FileManager.default.createFile(atPath: path, contents: Data(try list.published(by: authority, now: now))))
    }
    try publish(.good(.vical))
    let store = try TrustStore(anchors: await loader.load(at: now).anchors, allowsTestCertificates: false)
    let plan = TrustPlan(loader: loader, files: [:], hasLists: true, refreshSeconds: 60, mode: .live)
    let updater = TrustUpdater(
      CurrentTrust(store), plan: plan, sources: [], log: Log(sink: { _ in }), clock: { now })
    try publish(#require(MockList.named("vical-empty")))
    let status = await updater.reload()
    #expect(status.problem == nil && updater.inForce.current.anchors.isEmpty)
    // An unavailable list changes nothing.
    updater.inForce.replace(by: store)
    unlink(path)
    #expect(await updater.reload().problem != nil)
    #expect(!updater.inForce.current.anchors.isEmpty)
    #expect(!updater.status.sources.flatMap(\.checks).contains { $0.detail?.contains(path) == true })
  }

  /// A publisher that replies on demand.
  private final class HeldFetcher: ListFetcher {
    let (asked, arrivals) = AsyncStream<CheckedContinuation<Void, Never>>.makeStream()

    func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
      await withCheckedContinuation { _ = arrivals.yield($0) }
      throw .unavailable("held")
    }
  }

  /// A reload after an anchor's removal does not reuse an earlier load that had read the anchor.
  @Test(.timeLimit(.minutes(1)))
  func `a reload during another one reads what has changed since that began`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.write("trust/second.pem", Array(Self.root("second").utf8))
      let source = TrustListSource(signers: .init(authorities: [], allowsTestCertificates: false))
      let list = PublishedTrustList(.address("https://lists.example/vc"), .vical(source))
      let fetcher = HeldFetcher()
      let loader = TrustLoader(
        sources: [TrustSource(name: "files", .files([path + "/trust"])), TrustSource(name: "list", .list(list))],
        defaultDocTypes: nil, fetcher: fetcher, memory: nil)
      let anchors = try TrustAnchorLoader(defaultDocTypes: nil).load([path + "/trust"])
      let updater = TrustUpdater(
        CurrentTrust(try TrustStore(anchors: anchors, allowsTestCertificates: false)),
        plan: TrustPlan(loader: loader, files: [:], hasLists: true, refreshSeconds: 60, mode: .live), sources: [],
        log: Log(sink: { _ in }), clock: Timestamp.systemNow)
      var asked = fetcher.asked.makeAsyncIterator()
      async let first = updater.reload()
      let held = await asked.next()
      try FileManager.default.removeItem(atPath: path + "/trust/second.pem")
      async let second = updater.reload()
      // Long enough for the second to be in the queue.
      try await Task.sleep(for: .milliseconds(200))
      held?.resume()
      await asked.next()?.resume()
      #expect(await first.sources.first?.anchorCount == 2)
      #expect(await second.sources.first?.anchorCount == 1)
      #expect(updater.inForce.current.anchors.count == 1)
    }
  }

  @Test(arguments: ["mock", "test"])
  func `what only tests trust signs no list`(_ kind: String) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      if kind == "mock" {
        let mock = try MockAuthority(seed: [1]).anchor(at: .systemNow())
        try folder.write("signer.pem", Array(PEM.encode(certificate: mock.certificate).utf8))
      } else {
        try folder.write("signer.pem", Array(Self.root("signer").utf8))
        try folder.write("signer.json", Array(#"{ "tier": "test" }"#.utf8))
      }
      let list: JSON = ["name": "a", "vical": "list.cbor", "signer_anchors": ["signer.pem"]]
      try folder.writeConfiguration(["trust": ["trust/", list]])
      let error = #expect(throws: StartError.self) { try folder.start() }
      #expect(error?.message.contains("signer_anchors") == true, "\(error?.message ?? "")")
    }
  }

  @Test func `only an operator reloads`() async throws {
    try await withFolder { path in
      try await LiveFolder(path).serve { _, api, _ in
        let forbidden = try await api.post("/v1/trust/reload")
        #expect(forbidden.status == 403)
        let unknown = try await api.with(nil).post("/v1/trust/reload")
        #expect(unknown.status == 401)
      }
    }
  }

  private static let anchors: JSON = ["trust/iaca.pem"]
  private static let wrongLists: [String: JSON] = [
    "/trust/0/vical": ["name": "a", "signer_anchors": anchors],
    "/trust/0/name": ["name": "A b", "vical": "list.cbor", "signer_anchors": anchors],
    "not https": ["name": "a", "vical": "http://lists.example/vc", "signer_anchors": anchors],
    "not lead to a public host": ["name": "a", "vical": "https://127.0.0.1/vc", "signer_anchors": anchors],
    "/trust/0/signer_anchors": ["name": "a", "vical": "list.cbor", "signer_anchors": []],
    "/trust/0/services": ["name": "a", "trusted_entities": "list.jwt", "signer_anchors": anchors],
    "/trust/0/secret": ["name": "a", "vical": "list.cbor", "secret": "x", "signer_anchors": anchors],
  ]

  @Test(arguments: wrongLists)
  func `a list that is wrongly configured stops the start`(_ complaint: String, _ list: JSON) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["trust": .array([list])])
      let error = #expect(throws: StartError.self) { try folder.start() }
      #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
    }
  }
}
