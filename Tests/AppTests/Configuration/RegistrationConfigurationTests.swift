import Base
import Cryptography
import Mdoc
import Presentation
import Sessions
import TestSupport
import Testing
import Trust

@testable import App
@testable import Mock

/// `registrars` and `registration_certificates` of the configuration file.
@Suite struct RegistrationConfigurationTests {
  private static let place = "/relying_parties/0/registration_certificates/0"

  private let registrar: RegistrationFixture
  private let now = Timestamp.systemNow()

  init() throws { registrar = try RegistrationFixture() }

  /// The warnings of a check for a party with these certificates, whose reader is registered as `identifier`.
  private func check(
    _ certificates: [[UInt8]], identifier: String = RegistrationFixture.party, registrars: [JSON] = ["registrars.pem"]
  ) async throws -> ConfigurationCheck {
    try await configured(certificates, identifier: identifier, registrars: registrars) { file in
      ConfigurationCheck(path: file)
    }
  }

  private func configured<Made>(
    _ certificates: [[UInt8]], identifier: String = RegistrationFixture.party, registrars: [JSON] = ["registrars.pem"],
    _ make: (String) async throws -> Made
  ) async throws -> Made {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader { $0.subject.set("2.5.4.97", to: DER.utf8String(identifier)) }
      try folder.write("registrars.pem", registrar.authority)
      let names = try certificates.enumerated().map { index, bytes -> JSON in
        try folder.write("\(index).jwt", bytes)
        return .string("\(index).jwt")
      }
      let party = LiveFolder.partyWithReader([:], [.init("registration_certificates", .array(names))])
      try folder.writeConfiguration(["relying_parties": [party], "registrars": .array(registrars)])
      return try await make(folder.configurationFile)
    }
  }

  @Test func `a certificate in either form is good, with a line end or an older signing time`() async throws {
    let good = [
      try registrar.jws(at: now), try registrar.jws(at: now) + [0x0a],
      try registrar.jws(header: ["iat": 1, "crit": ["iat"]], at: now),
      try registrar.jws(header: ["sigT": "2026-01-01T00:00:00Z", "b64": true, "crit": ["sigT", "b64"]], at: now),
      try registrar.jws(["exp": .null], at: now), try registrar.jws(["intended_use_id": .null], at: now),
      try registrar.jws(["sub": "other", "intermediary": ["sub": .string(RegistrationFixture.party)]], at: now),
      try registrar.jws(["sub": "other", "act": ["sub": .string(RegistrationFixture.party)]], at: now),
    ]
    for certificate in good {
      let found = try await check([certificate])
      #expect(found.problems == [] && found.warnings == [])
    }
    for tag: UInt64? in [18, nil] {
      let found = try await check([registrar.cwt(tag: tag, at: now)])
      #expect(found.problems == [] && found.warnings.map { $0.contains("is a CWT") } == [true], "\(found.warnings)")
    }
  }

  @Test func `what wallets cannot read is refused, and says why`() async throws {
    let problems = try await check([registrar.jws(header: ["typ": "rc-rp+jwt"], at: now)]).problems
    #expect(problems.map(\.pointer) == [Self.place])
    #expect(problems.first?.detail.contains("0.jwt has the type rc-rp+jwt, which belongs to another profile") == true)
  }

  @Test func `what wallets may object to is warned of`() async throws {
    let day: Int64 = 86_400
    let warned: [([UInt8], String)] = [
      (try registrar.jws(["iat": .integer(now.secondsSince1970 + day)], at: now), "was issued in the future"),
      (try registrar.jws(["status": .null], at: now), "names no status list"),
      (try registrar.jws(["sub": "VATDE-1"], at: now), "is for another party"),
      (try registrar.jws(["entitlements": ["x"]], at: now), "lacks the entitlement Service_Provider"),
      (
        try registrar.jws(["exp": .integer(now.secondsSince1970 + 29 * day)], at: now),
        "the registration certificate use-1 expires at"
      ),
      (
        try registrar.jws(["exp": .integer(now.secondsSince1970 - 1)], at: now),
        "use-1 is expired or not yet valid; requests are sent without it"
      ),
      (try registrar.jws(["credentials": []], at: now), "registers no data in the format mso_mdoc"),
      (try RegistrationFixture().jws(at: now), "is not signed by one of `registrars`: "),
    ]
    for (certificate, warning) in warned {
      let found = try await check([certificate])
      #expect(found.problems == [] && found.warnings.count == 1, "\(found.warnings)")
      #expect(found.warnings.first?.contains(warning) == true, "\(found.warnings)")
    }
    let another = try await check([registrar.jws(at: now)], identifier: "VATDE-1")
    #expect(another.warnings.map { $0.contains("is for another party") } == [true])
    let unknown = try await check([registrar.jws(at: now)], registrars: [])
    #expect(unknown.warnings.map { $0.contains("is not signed by one of `registrars`") } == [true])
  }

  private struct Registrar: RevocationSource {
    let finding: RevocationFinding

    func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
      var evidence = RevocationEvidence()
      for question in questions where question.allowsJWT {
        let expected = StatusReference(.statusList(index: 0), uri: "https://registrar.example/status")
        if question.subject == .status(expected) { evidence.note(finding, for: question) }
      }
      return evidence
    }
  }

  /// A stranger's list is not fetched.
  @Test(arguments: [
    (RevocationFinding.good, [String]()),
    (.revoked(.documentRevoked), ["revocation.document_revoked"]),
    (.undetermined(.unavailable), ["revocation.unavailable"]),
  ])
  func `its registrar is asked whether it still holds`(finding: RevocationFinding, codes: [String]) async throws {
    let strange = try RegistrationFixture().jws(["intended_use_id": "use-2"], at: now)
    try await configured([registrar.jws(at: now), strange]) { file in
      let parties = try ConfigurationLoader(path: file).load().relyingParties
      let warnings = await PartyCertificates.statusWarnings(of: parties, asking: Registrar(finding: finding), at: now)
      #expect(
        warnings == codes.map { "relying party \"shop\": the registration certificate use-1: \($0)" }, "\(warnings)")
    }
  }

  @Test func `of several each is of an intended use of its own`() async throws {
    let first = try registrar.jws(at: now)
    #expect(try await check([first, registrar.jws(["intended_use_id": "use-2"], at: now)]).problems == [])
    for second in [first, try registrar.jws(["intended_use_id": .null], at: now)] {
      let problems = try await check([first, second]).problems
      #expect(problems.map(\.pointer) == ["/relying_parties/0/registration_certificates/1"])
      #expect(problems.first?.detail.contains("needs its own intended_use_id") == true)
    }
  }

  @Test func `registrars are certificates`() async throws {
    #expect(try await check([], registrars: ["mdoc.json"]).problems.map(\.pointer) == ["/registrars"])
  }

  /// HAIP 1.0, 5.1.
  @Test(arguments: [
    ("https://shop.example/done", true), ("https://other.example/", false), ("https://shop.example/#x", false),
  ])
  func `the redirect of every session is at an origin of the relying party`(address: String, isGood: Bool)
    async throws
  {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader()
      let openID4VP: JSON = ["redirect_uri": .string(address), "device_mac": false]
      let party = LiveFolder.partyWithReader([:], [.init("openid4vp", openID4VP)])
      try folder.writeConfiguration(["relying_parties": [party]])
      let problems = ConfigurationCheck(path: folder.configurationFile).problems
      #expect(problems.map(\.pointer) == (isGood ? [] : ["/relying_parties/0/openid4vp/redirect_uri"]))
    }
  }
}
