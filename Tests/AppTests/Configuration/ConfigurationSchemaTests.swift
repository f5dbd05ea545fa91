import Base
import Cryptography
import Glibc
import Testing

@testable import App

/// The schema and the reader know the same members and refuse the same values: neither can change without the other.
///
/// Run one at a time, since they set environment variables that the readings take.
@Suite(.serialized) struct ConfigurationSchemaTests {
  private static let schema = ConfigurationSchema.json

  /// Every member except `behind_proxy`, `public_url` and `origins`: other members depend on these.
  private static let freeMembers = SchemaWalk(schema, LiveFolder.everyMember).members.filter {
    !["/behind_proxy", "/public_url", "/relying_parties/0/origins"].contains($0.pointer)
  }

  /// Runs the body with the findings about the full configuration with one change.
  private func withChecks(_ body: ((JSON) throws -> [InputError]) throws -> Void) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader()
      try folder.writeTLS()
      try folder.writeMerchantCertificate()
      try folder.writeRegistration()
      try folder.write("logo.svg", Array("<svg/>".utf8))
      try folder.write("index.html", [])
      try folder.write("hook.secret", Array(("whsec_" + Base64.encode([UInt8](repeating: 3, count: 24))).utf8))
      // Keys that were read before remain known: the variables are set once and read many times.
      let environment = EnvironmentSecrets()
      setenv("MDOC_TEST_SCHEMA", try Hex.encode(Random.bytes(32)), 1)
      setenv("MDOC_TEST_SCHEMA_KEY", MerchantFixture.key, 1)
      // The credentials of systemd.
      setenv("CREDENTIALS_DIRECTORY", path, 1)
      try body { configuration in
        try folder.write("mdoc.json", configuration.serialized())
        do throws(StartError) {
          let loader = ConfigurationLoader(
            path: folder.configurationFile, environment: environment, network: ServerNetwork.none)
          _ = try loader.load()
          return []
        } catch {
          return error.problems
        }
      }
    }
  }

  private func violations(_ configuration: JSON) -> [InputError] {
    Schema(["$ref": "#/$defs/configuration"]).violations(
      of: configuration, with: Schema.Definitions(of: Self.schema))
  }

  @Test func `a configuration with every member is good to both`() async throws {
    #expect(violations(LiveFolder.everyMember) == [])
    #expect(SchemaWalk(Self.schema, LiveFolder.everyMember).missing == [])
    try await withChecks { check in
      let found = try check(LiveFolder.everyMember)
      #expect(found == [])
    }
  }

  @Test(arguments: ["absent", "..", ".", "../sealing.key", "/etc/passwd"])
  func `a credential is a file of its folder`(name: String) async throws {
    try await withChecks { check in
      let place = "/sealing_keys/0/file"
      let good = try check(LiveFolder.everyMember.with(["credential": "sealing.key"], at: place))
      #expect(good == [])
      let found = try check(LiveFolder.everyMember.with(["credential": .string(name)], at: place))
      #expect(found.map(\.pointer) == [place + "/credential"])
    }
  }

  @Test func `the reader knows the members of the schema, and no others`() async throws {
    let walk = SchemaWalk(Self.schema, LiveFolder.everyMember)
    try await withChecks { check in
      for (pointer, names) in walk.objects {
        let configuration = LiveFolder.everyMember.with(true, at: pointer + "/unheard_of")
        let expected = "is unknown; must be one of \(names.joined(separator: ", "))"
        let found = try check(configuration).first { $0.pointer == pointer + "/unheard_of" }
        #expect(found?.detail == expected, "\(pointer)")
        #expect(!violations(configuration).isEmpty)
      }
    }
  }

  @Test func `both refuse a value of the wrong type, in the same place`() async throws {
    // The server does not read `$schema`.
    let members = SchemaWalk(Self.schema, LiveFolder.everyMember).members.filter { $0.pointer != "/$schema" }
    #expect(members.count > 45)
    try await withChecks { check in
      for member in members {
        let configuration = LiveFolder.everyMember.with(.double(-17.5), at: member.pointer)
        let found = try check(configuration)
        #expect(found.contains { $0.pointer.hasPrefix(member.pointer) }, "\(member.pointer): \(found)")
        #expect(!violations(configuration).isEmpty, "\(member.pointer)")
      }
    }
  }

  @Test func `both demand the same members`() async throws {
    try await withChecks { check in
      for member in Self.freeMembers {
        let configuration = LiveFolder.everyMember.with(nil, at: member.pointer)
        let isRefused = try !check(configuration).isEmpty
        #expect(isRefused == member.isRequired, "\(member.pointer)")
        #expect(violations(configuration).isEmpty != member.isRequired, "\(member.pointer)")
      }
    }
  }

  @Test func `both know the same bounds of numbers, and the same words`() async throws {
    try await withChecks { check in
      for member in Self.freeMembers {
        if let least = member.schema["minimum"]?.integer, let most = member.schema["maximum"]?.integer {
          for good in [least, most] {
            #expect(try check(LiveFolder.everyMember.with(.integer(good), at: member.pointer)) == [], "\(good)")
          }
          for bad in [least - 1, most + 1] {
            let found = try check(LiveFolder.everyMember.with(.integer(bad), at: member.pointer))
            #expect(found.map(\.pointer) == [member.pointer], "\(bad)")
          }
        }
        for word in member.schema["enum"]?.array ?? [] {
          #expect(try check(LiveFolder.everyMember.with(word, at: member.pointer)) == [])
        }
      }
    }
  }

  @Test func `what the schema gives as a default may be written down`() async throws {
    try await withChecks { check in
      for member in Self.freeMembers {
        guard let fallback = member.schema["default"] else { continue }
        #expect(!member.isRequired)
        let found = try check(LiveFolder.everyMember.with(fallback, at: member.pointer))
        #expect(found == [], "\(member.pointer)")
      }
    }
  }
}
