import Mdoc
import MockIssuance
import PKIX
import Primitives
import Testing

@testable import VerifierHTTP

/// What `--check-config` finds beside what a start would refuse.
@Suite(.onOwnThreads) struct ConfigurationCheckTests {
  private func check(_ changes: [String: JSON] = [:], _ party: [String: JSON] = [:]) async throws -> ConfigurationCheck
  {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let members = (LiveFolder.party.object ?? []).filter { party[$0.name] == nil }
      let changed = JSON.object(members + party.map { JSON.Member($0.key, $0.value) })
      try folder.writeConfiguration(changes.merging(["relying_parties": [changed]]) { first, _ in first })
      return ConfigurationCheck(path: folder.configurationFile)
    }
  }

  @Test func `a good configuration has no problem`() async throws {
    #expect(try await check().problems == [])
  }

  @Test func `the store's folder must be there`() async throws {
    let found = try await check(["store": "sqlite:nowhere/mdoc.sqlite"])
    #expect(found.problems.map(\.pointer) == ["/store"])
    #expect(found.problems.first?.detail.contains("there is no such file or folder") == true)
    #expect(found.json["is_good"] == false)
  }

  @Test func `nobody can use a relying party without keys`() async throws {
    let found = try await check([:], ["api_keys": []])
    #expect(found.problems == [] && found.warnings.contains { $0.contains("\"shop\" has no api_keys") })
  }

  @Test func `an origin is written as browsers write it`() async throws {
    for origin in ["https://shop.example:443", "https://shop.example/", "http://localhost:80"] {
      let found = try await check([:], ["origins": [.string(origin)]])
      #expect(found.problems.map(\.pointer) == ["/relying_parties/0/origins/0"], "\(origin)")
    }
    #expect(try await check([:], ["origins": ["https://shop.example:8443", "http://localhost:8080"]]).problems == [])
  }

  @Test(arguments: [true, false])
  func `results are retained where the configuration says so`(retains: Bool) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let party = JSON.object((LiveFolder.party.object ?? []) + [JSON.Member("retain_results", .bool(retains))])
      try folder.writeConfiguration(["relying_parties": [party]])
      let loader = ConfigurationLoader(path: folder.configurationFile, network: ServerNetwork.none)
      let loaded = try loader.load(at: .systemNow())
      #expect(loaded.relyingParties.all.map(\.policies.retainsResults) == [retains])
    }
  }

  @Test func `anchors that are no good are named with what is wrong`() throws {
    let now = Timestamp(secondsSince1970: 1_795_000_000)
    let authority = try MockAuthority(seed: Array("anchors".utf8))
    let anchors = try authority.anchors(at: now).reduce(into: [String: TrustAnchor]()) { anchors, anchor in
      anchors[anchor.name] = TrustAnchor(certificate: try Certificate(der: anchor.certificate))
    }
    func warnings(_ names: String...) -> [String] {
      AnchorCertificates.warnings(of: names.compactMap { anchors[$0] }, at: now)
    }
    #expect(warnings("iaca") == [])
    #expect(warnings("iaca", "iaca-expired").count == 1)
    #expect(warnings("iaca", "iaca-expired").first?.contains("trust.certificate") == true)
    #expect(warnings("iaca", "iaca-not-ca").count == 1)
    #expect(warnings("iaca-expired").last == "no trust anchor is valid now: every document would be refused")
  }
}
