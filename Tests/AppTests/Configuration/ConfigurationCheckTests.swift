import Base
import Mdoc
import PKIX
import Sessions
import TestSupport
import Testing

@testable import App
@testable import Mock

/// The findings of `--check-config` that do not prevent a start.
@Suite(.onOwnThreads) struct ConfigurationCheckTests {
  @Test(
    arguments: [
      (["doc_type": "d", "age_over": [18]], nil), (["doc_type": "d"], "/documents/0"),
      (["doc_type": "org.iso.18013.5.1.mDL", "elements": [["apple_element": "givenName"]]], nil),
      (["doc_type": "org.iso.18013.5.1.mDL", "age_over": [18], "zk": "required"], "/documents/0/zk"),
      (["doc_type": "d", "age_over": [18, 19, 20]], "/documents/0/age_over"),
      (["doc_type": "d", "age_over": [0]], "/documents/0/age_over/0"),
      (["doc_type": "d", "ages": [18]], "/documents/0/ages"),
    ] as [(JSON, String?)])
  func `a template is checked like a request`(_ document: JSON, _ pointer: String?) async throws {
    let found = try await check([:], ["templates": ["adult": ["documents": [document]]]])
    #expect(found.problems.map(\.pointer) == (pointer.map { ["/relying_parties/0/templates/adult" + $0] } ?? []))
  }

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

  @Test func `a list's file must be there where nothing else gives an anchor, and is warned of where something does`()
    async throws
  {
    let list: JSON = ["name": "a", "vical": "list.cbor", "signer_anchors": ["trust/iaca.pem"]]
    let alone = try await check(["trust": [list]])
    #expect(alone.problems.map(\.pointer) == ["/trust"])
    let beside = try await check(["trust": ["trust/", list]])
    #expect(beside.problems == [])
    for found in [alone, beside] { #expect(found.warnings.contains { $0.contains("list.cbor cannot be read") }) }
  }

  @Test func `nobody can use a relying party without keys`() async throws {
    let found = try await check([:], ["api_keys": []])
    #expect(found.problems == [] && found.warnings.contains { $0.contains("\"shop\" has no api_keys") })
  }

  @Test func `a key with admin alone reads its own relying party's entries and reloads nothing, as the check says`()
    async throws
  {
    let hash = JSON.string(String(repeating: "a", count: 64))
    for (scopes, wanted): (JSON, [String]) in [
      (["admin"], ["audit:read_all", "server:operate"]), (["admin", "audit:read_all"], ["server:operate"]),
      (["admin", "audit:read_all", "server:operate"], []), (["sessions:write"], []),
    ] {
      let found = try await check([:], ["api_keys": [["sha256": hash, "scopes": scopes]]])
      #expect(found.problems == [])
      for scope in ["audit:read_all", "server:operate"] {
        #expect(found.warnings.contains { $0.contains(scope) } == wanted.contains(scope))
      }
    }
  }

  @Test func `a quota is a number or false, and has a default`() {
    func quota(_ json: JSON) -> Quota? {
      var faults = Faults()
      let quota = Quota.shape.read(json, "", &faults)
      #expect(faults.isEmpty == (quota != nil))
      return quota
    }
    #expect(quota([:]) == .standard)
    #expect(
      quota(["open_sessions": 5, "bytes": false])
        == Quota(openSessions: 5, bytes: nil, idempotencyBytes: Limits.idempotencyBytes))
    for wrong: JSON in [["bytes": 0], ["bytes": true], ["bytes": "1"], ["open_sessions": -1], 7] {
      #expect(quota(wrong) == nil)
    }
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
    #expect(warnings("iaca-expired").last == "no trust anchor is valid now: every document is rejected")
  }

  @Test func `authorities whose revocation lists will not be asked for are named`() throws {
    let now = Timestamp(secondsSince1970: 1_795_000_000)
    let authority = try MockAuthority(seed: Array("anchors".utf8))
    func warnings(_ addresses: CRLAddresses, _ uri: String, _ second: String? = nil) throws -> [String] {
      var template = try authority.anchorTemplate(.good, at: now)
      template[oid: CertificateExtension.crlDistributionPointsOID] =
        second.map { .crlDistributionPoint([.address(uri), .address($0)]) } ?? .crlDistributionPoint(uri: uri)
      let key = try authority.certificateIssuer(.good).key
      var anchor = TrustAnchor(certificate: try Certificate(der: template.signed(by: key)), source: "state")
      anchor.crlAddresses = addresses
      return AnchorCertificates.loadWarnings(of: [anchor]).filter { $0.contains("revocation.") }
    }
    for uri in ["http://crl.state.example/1", "https://crl.state.example:5443/1"] {
      #expect(try warnings(.named, uri) == [])
      let line = try #require(try warnings(.https, uri).first)
      #expect(line.hasPrefix("state: revocation.source_not_allowed: ") && line.contains(uri))
      // One allowed address is enough.
      #expect(try warnings(.https, uri, "https://crl.state.example/1") == [])
    }
    for uri in ["http://10.0.0.1/1", "ldap://crl.state.example/1", "https://crl.state.example:22/1"] {
      #expect(try warnings(.named, uri).count == 1, "\(uri)")
    }
  }
}
