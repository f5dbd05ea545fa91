import Base
import Cryptography
import Glibc
import Testing

@testable import App

/// The permitted sources of the configuration's secrets, and who else may know them.
@Suite struct SecretTests {
  private static func apple(_ key: JSON) -> JSON {
    let members = (LiveFolder.party.object ?? []).filter { $0.name != "apple" }
    return [
      .object(
        members + [.init("apple", ["merchant_id": "merchant.example.shop", "team_id": "T", "encryption_keys": [key]])])
    ]
  }

  private func problems(_ folder: LiveFolder) -> [InputError] {
    ConfigurationCheck(path: folder.configurationFile).problems
  }

  private func withVariables<R>(_ variables: [String: String], _ body: () async throws -> R) async throws -> R {
    for (name, value) in variables { setenv(name, value, 1) }
    defer { for name in variables.keys { unsetenv(name) } }
    return try await body()
  }

  @Test(arguments: [0o644, 0o604, 0o602, 0o622, 0o660])
  func `a key file that others can read or write is refused`(mode: UInt32) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      for name in ["sealing.key", "merchant.pem"] { chmod("\(path)/\(name)", mode) }
      let found = problems(folder)
      #expect(found.map(\.pointer) == ["/sealing_keys/0/file", "/relying_parties/0/apple/encryption_keys/0"])
      #expect(found.allSatisfy { $0.detail.hasSuffix("chmod 600 it") })
    }
  }

  @Test func `a file is root's or the server's own, and root's may be its group's to read`() throws {
    #expect(throws: Never.self) { try SecretFile.check(owner: 7, mode: 0o600, user: 7) }
    #expect(throws: Never.self) { try SecretFile.check(owner: 0, mode: 0o440, user: 7) }
    #expect(throws: SecretFile.ReadError.foreign) { try SecretFile.check(owner: 8, mode: 0o600, user: 7) }
    #expect(throws: SecretFile.ReadError.open) { try SecretFile.check(owner: 7, mode: 0o640, user: 7) }
    #expect(throws: SecretFile.ReadError.open) { try SecretFile.check(owner: 0, mode: 0o444, user: 7) }
    #expect(throws: SecretFile.ReadError.open) { try SecretFile.check(owner: 0, mode: 0o460, user: 7) }
  }

  @Test func `what is no regular file of some size is no secret`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      mkfifo(path + "/pipe", 0o600)
      try folder.write("empty", [])
      for name in ["pipe", "empty", ".", "nowhere"] {
        try folder.writeConfiguration(["sealing_keys": [["id": "a", "file": .string(name)]]])
        #expect(problems(folder).map(\.pointer) == ["/sealing_keys/0/file"], "\(name)")
      }
    }
  }

  @Test func `a secret of the environment is taken out of it, and known at the next reading`() async throws {
    let key = try Hex.encode(Random.bytes(32))
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let pem = String(decoding: try folder.merchantKey.pem(), as: UTF8.self)
      try await withVariables(["MDOC_TEST_SEALING": key, "MDOC_TEST_MERCHANT": pem]) {
        try folder.writeConfiguration([
          "sealing_keys": [["id": "a", "file": ["env": "MDOC_TEST_SEALING"]]],
          "relying_parties": Self.apple(["env": "MDOC_TEST_MERCHANT"]),
        ])
        let environment = EnvironmentSecrets()
        let memory = try #require(getenv("MDOC_TEST_SEALING"))
        for _ in 0..<2 {
          let read = try ConfigurationLoader(path: folder.configurationFile, environment: environment).load()
          #expect(read.sealingKeys.map(\.id) == ["a"])
          let keys = read.relyingParties["shop"]?.apple.first?.encryptionKeys
          #expect(keys?.map(\.publicKey) == [folder.merchantKey.publicKey])
          #expect(getenv("MDOC_TEST_SEALING") == nil && getenv("MDOC_TEST_MERCHANT") == nil)
          #expect((0..<64).allSatisfy { memory[$0] == 0 }, "its bytes are overwritten")
          environment.close()
        }
        // A later reader finds nothing.
        let found = problems(folder)
        #expect(
          found.map(\.pointer) == ["/sealing_keys/0/file/env", "/relying_parties/0/apple/encryption_keys/0/env"])
        #expect(found.first?.detail.contains("MDOC_TEST_SEALING is not set") == true)
      }
    }
  }

  @Test func `after the start the environment is left alone`() async throws {
    try await withVariables(["MDOC_TEST_LATE": "x"]) {
      let environment = EnvironmentSecrets()
      environment.close()
      #expect(environment.take("MDOC_TEST_LATE") == nil && getenv("MDOC_TEST_LATE") != nil)
    }
  }

  @Test func `an encrypted key opens with a passphrase from a file or from the environment`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.write("encrypted.pem", Array(Self.encrypted.utf8))
      try folder.write("phrase", Array("correct horse\n".utf8))
      try await withVariables(["MDOC_TEST_PHRASE": "correct horse"]) {
        for phrase in ["phrase", ["file": "phrase"], ["env": "MDOC_TEST_PHRASE"]] as [JSON] {
          try folder.writeConfiguration([
            "relying_parties": Self.apple(["file": "encrypted.pem", "passphrase": phrase])
          ])
          #expect(problems(folder) == [])
        }
      }
    }
  }

  @Test func `a wrong passphrase and a missing one are said as such, and never shown`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let place = "/relying_parties/0/apple/encryption_keys/0"
      try folder.write("encrypted.pem", Array(Self.encrypted.utf8))
      try folder.write("phrase", Array("Zq7wrong\n".utf8))
      try folder.writeConfiguration(["relying_parties": Self.apple("encrypted.pem")])
      let missing = try #require(problems(folder).first)
      #expect(missing.pointer == place && missing.detail.contains("is encrypted"))
      try folder.writeConfiguration([
        "relying_parties": Self.apple(["file": "encrypted.pem", "passphrase": "phrase"])
      ])
      let wrong = try #require(problems(folder).first)
      #expect(wrong.pointer == place + "/passphrase" && wrong.detail.contains("wrong passphrase"))
      #expect(!wrong.detail.contains("Zq7wrong"))
    }
  }

  @Test(arguments: [7, [:], ["env": ""], ["env": "A", "file": "b"], ["name": "x"], ["file": 7]] as [JSON])
  func `a secret has one place`(_ value: JSON) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["sealing_keys": [["id": "a", "file": value]]])
      #expect(problems(folder).contains { $0.pointer.hasPrefix("/sealing_keys/0/file") })
    }
  }

  @Test(arguments: [
    ("pkcs11:token=a;object=b", "set pkcs11_module"), ("pkcs11:object=%zz", "RFC 7512"),
    ("pkcs11:object=b?module-path=/usr/lib/pkcs11/absent.so", "/usr/lib/pkcs11/absent.so"),
    ("pkcs11:object=b?module-path=absent.so", "module-path that is not absolute"),
    ("pkcs11:object=b?module-name=softhsm2", "module-name"), ("pkcs11:object=b?pin-value=48151623", "pin-source"),
  ])
  func `a key's name in a token says what is wrong with it, and never a PIN`(name: String, reason: String) async throws
  {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      for value in [.string(name), ["pkcs11": .string(name)]] as [JSON] {
        try folder.writeConfiguration(["sealing_keys": [["id": "a", "file": value]]])
        let found = problems(folder)
        #expect(found.allSatisfy { $0.pointer.hasPrefix("/sealing_keys/0/file") })
        #expect(found.contains { $0.detail.contains(reason) } && !"\(found)".contains("48151623"), "\(found)")
      }
    }
  }

  /// By `openssl pkcs8 -topk8`, with "correct horse".
  private static let encrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgfrEYHaf8X2AICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEFdYPvp7Eef/VgTGjs4KenkEgZBK
    QxSOY0MET9mWpXMQJ6FGBr0ROh3d0J6OG/aki9osUrFntSO/87/hy1JpD9WwSRac
    CqgobXsE5glNCNR03kd0woWQvI09M3wauV6PtFK3YfdDwNgV6fFH6A9ZRJ04htgr
    Z/D+craqy3+GgbWqkLHynBMF5Fg8ssRwPjsEO17GfuDGz7B5g3e1yTn5ExcnGGs=
    -----END ENCRYPTED PRIVATE KEY-----

    """
}
