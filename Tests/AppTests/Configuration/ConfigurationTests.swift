import Base
import Cryptography
import Glibc
import Mock
import PKIX
import Sessions
import Testing

@testable import App

/// The configuration file: an unusable value is refused, with the names of the member and the file.
@Suite struct ConfigurationTests {
  @Test func `the contract's example is read as it says`() async throws {
    try await withFolder { path in
      _ = try LiveFolder(path)
      let configuration = try ConfigurationLoader(path: path + "/mdoc.json").load()
      #expect(configuration.mode == .live)
      #expect(configuration.listen == ListenAddress(address: "127.0.0.1", port: 0))
      #expect("\(configuration.store)" == path + "/mdoc.sqlite")
      #expect(configuration.clockSkew == 60)
      #expect(configuration.anchors.map(\.docTypes) == [["org.iso.18013.5.1.mDL"]])
      #expect(configuration.sealingKeys.map(\.id) == ["2026-11"])
      let party = try #require(configuration.relyingParties["shop"])
      #expect(party.origins == ["https://shop.example"])
      #expect(party.apiKeys.first?.scopes == [.sessionsWrite, .resultsRead])
      #expect(party.apple.first?.teamID == "ABCDE12345")
      #expect(party.apple.first?.encryptionKeys.count == 1)
      #expect(configuration.warnings == [])
    }
  }

  private static func party(_ name: String, _ value: JSON) -> JSON {
    let members = LiveFolder.party.object ?? []
    return [.object(members.filter { $0.name != name } + [.init(name, value)])]
  }

  /// The member, its value, and the pointer of the complaint.
  static let faults: [(String, JSON, String)] = [
    ("verbose", true, "/verbose"), ("mode", "test", "/mode"), ("mode", "Staging", "/mode"), ("mode", true, "/mode"),
    ("listen", "localhost:80", "/listen"), ("listen", 8080, "/listen"),
    ("listen", "0.0.0.0:8080", "/listen"), ("listen", "[::]:8080", "/listen"), ("listen", "10.1.2.3:80", "/listen"),
    ("behind_proxy", "yes", "/behind_proxy"), ("store", .null, "/store"), ("store", "mdoc.sqlite", "/store"),
    ("store", "postgresql://x", "/store"), ("store", "postgresql://127.0.0.1:%x", "/store"),
    ("store", "sqlite:", "/store"), ("trust", .null, "/trust"),
    ("trust", [], "/trust"), ("trust", ["nowhere/"], "/trust"), ("trust", "trust/", "/trust"),
    ("clock_skew", -1, "/clock_skew"), ("clock_skew", 100_000, "/clock_skew"), ("clock_skew", "60", "/clock_skew"),
    ("sealing_keys", .null, "/sealing_keys"), ("sealing_keys", [], "/sealing_keys"),
    ("sealing_keys", [["id": "a", "file": "nowhere"]], "/sealing_keys/0/file"),
    ("sealing_keys", [["id": "a", "file": "mdoc.json"]], "/sealing_keys/0/file"),
    ("sealing_keys", [["id": "a", "file": "sealing.key", "x": 1]], "/sealing_keys/0/x"),
    ("sealing_keys", [["file": "sealing.key"]], "/sealing_keys/0/id"),
    (
      "sealing_keys", [["id": "a", "file": "sealing.key"], ["id": "a", "file": "sealing.key"]], "/sealing_keys/1/id"
    ),
    ("relying_parties", [], "/relying_parties"), ("relying_parties", [1], "/relying_parties/0"),
    ("relying_parties", [LiveFolder.party, LiveFolder.party], "/relying_parties"),
    ("relying_parties", party("id", "a b"), "/relying_parties/0/id"),
    ("relying_parties", party("policies", [:]), "/relying_parties/0/policies"),
    ("relying_parties", party("origins", ["*"]), "/relying_parties/0/origins/0"),
    ("relying_parties", party("origins", ["https://shop.example/"]), "/relying_parties/0/origins/0"),
    ("relying_parties", party("origins", ["android:apk-key-hash:AA"]), "/relying_parties/0/origins/0"),
    (
      "relying_parties", party("api_keys", [["sha256": "00", "scopes": ["admin"]]]),
      "/relying_parties/0/api_keys/0/sha256"
    ),
    (
      "relying_parties",
      party("api_keys", [["sha256": .string(String(repeating: "0", count: 64)), "scopes": ["root"]]]),
      "/relying_parties/0/api_keys/0/scopes/0"
    ),
    (
      "relying_parties", party("api_keys", [["sha256": .string(String(repeating: "0", count: 64)), "scopes": []]]),
      "/relying_parties/0/api_keys/0/scopes"
    ),
    (
      "relying_parties", party("apple", ["merchant_id": "m", "team_id": "t", "encryption_keys": ["mdoc.json"]]),
      "/relying_parties/0/apple/encryption_keys/0"
    ),
    (
      "relying_parties", party("apple", ["merchant_id": "m", "team_id": "", "encryption_keys": ["merchant.pem"]]),
      "/relying_parties/0/apple/team_id"
    ),
    ("relying_parties", party("apple", ["merchant": "m"]), "/relying_parties/0/apple/merchant"),
  ]

  @Test(arguments: faults)
  func `a fault names file and member`(member: String, value: JSON, pointer: String) async throws {
    try await withFolder { path in
      try LiveFolder(path).writeConfiguration([member: value])
      let error = #expect(throws: StartError.self) { try ConfigurationLoader(path: path + "/mdoc.json").load() }
      #expect(error?.message.hasPrefix("\(path)/mdoc.json: \(pointer):") == true, "\(error?.message ?? "")")
      #expect(error?.exitCode == 78)
    }
  }

  @Test func `plain HTTP beyond loopback is for a proxy`() async throws {
    try await withFolder { path in
      try LiveFolder(path).writeConfiguration(["listen": "0.0.0.0:8080", "behind_proxy": true])
      #expect(try ConfigurationLoader(path: path + "/mdoc.json").load().isBehindProxy)
    }
  }

  @Test func `test roots stop the start, wherever they are`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let mock = try MockAuthority(seed: [1]).anchor(at: .systemNow())
      try folder.write("trust/mock.pem", Array(PEM.encode(certificate: mock.certificate).utf8))
      let error = #expect(throws: StartError.self) { try folder.start() }
      #expect(error?.message.contains("trust/mock.pem (CN=mdoc Mock IACA") == true)
      #expect(error?.exitCode == 78)
    }
  }

  @Test func `an empty trust folder stops the start`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      mkdir(path + "/empty", 0o700)
      try folder.writeConfiguration(["trust": ["empty"]])
      let empty = #expect(throws: StartError.self) { try folder.start() }
      #expect(empty?.message.contains("no trust anchor") == true)
      // Test anchors alone are not enough.
      try folder.writeConfiguration()
      try folder.write("trust/iaca.json", Array("{\"tier\": \"test\"}".utf8))
      #expect(throws: StartError.self) { try folder.start() }
      try folder.write("trust/iaca.json", Array("{\"tier\": \"life\"}".utf8))
      let wrong = #expect(throws: StartError.self) { try folder.start() }
      #expect(wrong?.message.contains("trust/iaca.json: tier") == true)
    }
  }

  @Test func `all problems are told at once`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      chmod(path + "/merchant.pem", 0o644)
      let party: JSON = [
        "id": "a b", "origins": ["*"], "api_keys": [["sha256": "00", "scopes": ["root"], "name": "x"]],
        "apple": ["merchant_id": "", "team_id": "T", "encryption_keys": ["merchant.pem", "nowhere.pem"]],
      ]
      try folder.writeConfiguration([
        "listen": "localhost:80", "verbose": true, "clock_skew": -1, "trust": ["nowhere/", ["name": "A B"]],
        "sealing_keys": [["id": "a", "file": "nowhere"], ["file": "sealing.key"]], "relying_parties": [party],
      ])
      let check = ConfigurationCheck(path: folder.configurationFile)
      #expect(
        Set(check.problems.map(\.pointer)) == [
          "/listen", "/verbose", "/clock_skew", "/trust", "/trust/1/name", "/trust/1/vical", "/trust/1/signer_anchors",
          "/sealing_keys/0/file", "/sealing_keys/1/id",
          "/relying_parties/0/id", "/relying_parties/0/origins/0", "/relying_parties/0/api_keys/0/sha256",
          "/relying_parties/0/api_keys/0/scopes/0", "/relying_parties/0/api_keys/0/name",
          "/relying_parties/0/apple/merchant_id", "/relying_parties/0/apple/encryption_keys/0",
          "/relying_parties/0/apple/encryption_keys/1",
        ])
      #expect(check.problems.count == 17)
    }
  }

  @Test func `a check opens no store and makes no file`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let check = ConfigurationCheck(path: folder.configurationFile)
      #expect(check.problems == [] && check.warnings == [])
      #expect(access(path + "/mdoc.sqlite", F_OK) != 0)
    }
  }

  @Test(arguments: [[UInt8](repeating: 0, count: 32), Array("change me change me change me!!".utf8) + [0x21]])
  func `a sealing key that is a placeholder does not start a server`(_ key: [UInt8]) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.write("sealing.key", key)
      let error = #expect(throws: StartError.self) {
        try ConfigurationLoader(path: folder.configurationFile).load()
      }
      #expect(error?.exitCode == 78)
      #expect(error?.message.contains("/sealing_keys/0/file") == true)
    }
  }

  @Test func `evidence has a key of its own`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      func load(_ evidence: JSON) throws -> ServerConfiguration {
        let party = JSON.object((LiveFolder.party.object ?? []) + [.init("evidence", evidence)])
        try folder.writeConfiguration(["relying_parties": [party]])
        return try ConfigurationLoader(path: folder.configurationFile).load()
      }
      let configuration = try load(["key": "evidence.key"])
      #expect(configuration.relyingParties.all.first?.policies.evidenceKey != nil)
      for (wrong, pointer) in [
        (["key": "sealing.key"], "/relying_parties/0/evidence/key"), (["key": "mdoc.json"], "evidence/key"),
        ([:], "/relying_parties/0/evidence"), (["seal": "x"], "/relying_parties/0/evidence"),
      ] as [(JSON, String)] {
        let error = #expect(throws: StartError.self) { try load(wrong) }
        #expect(error?.exitCode == 78 && error?.message.contains(pointer) == true, "\(error?.message ?? "")")
      }
      // Two relying parties must not share one either.
      let members = (LiveFolder.party.object ?? []).filter { $0.name != "api_keys" && $0.name != "id" }
      let other = JSON.object(
        members + [
          .init("id", "other"),
          .init(
            "api_keys", [["sha256": .string(String(repeating: "ab", count: 32)), "scopes": ["sessions:write"]]]),
          .init("evidence", ["key": "evidence.key"]),
        ])
      let first = JSON.object((LiveFolder.party.object ?? []) + [.init("evidence", ["key": "evidence.key"])])
      try folder.writeConfiguration(["relying_parties": [first, other]])
      let error = #expect(throws: StartError.self) {
        try ConfigurationLoader(path: folder.configurationFile).load()
      }
      #expect(error?.message.contains("/relying_parties/1/evidence/key") == true, "\(error?.message ?? "")")
    }
  }

  @Test func `a sealing key is 32 bytes, or their text`() {
    let key = (0..<32).map { UInt8($0) }
    func read(_ content: [UInt8]) -> [UInt8]? {
      content.withUnsafeBytes { bytes in
        guard let secret = SealingKey.secret(in: bytes) else { return nil }
        return secret.exposed()
      }
    }
    let base64 = Base64.encode(key)
    #expect(read(key) == key)
    for text in [Hex.encode(key), Hex.encode(key).uppercased(), base64, Base64.encodeURLSafe(key)] {
      #expect(read(Array((text + "\n").utf8)) == key)
    }
    let wrong = [[], Array(key.dropLast()), Array("short\n".utf8), Array(Hex.encode(key).dropLast(2).utf8)]
    // A stray bit in the last character, white space within, a character of the other alphabet.
    let misspelt = [base64.dropLast(2) + "9=", base64.prefix(4) + " " + base64.dropFirst(5), "-" + base64.dropFirst()]
    for content in wrong + misspelt.map({ Array($0.utf8) }) { #expect(read(content) == nil) }
  }
}
