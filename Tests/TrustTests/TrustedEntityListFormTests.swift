import Base
import TestSupport
import Testing
import Trust

/// Unsigned payloads: required members, tolerated deviations with their notes, and omitted entries.
@Suite struct TrustedEntityListFormTests {
  @Test func theLeastThatAListMustSay() throws {
    let list = try read(Self.least)
    #expect(list.scheme.sequenceNumber == 1 && list.scheme.operatorNames == ["Operator"])
    #expect(list.entities.isEmpty && list.findings == [] && list.scheme.nextUpdate != nil)
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"LoTE":[]}"#, #"{"LoTE":{"ListAndSchemeInformation":1}}"#, "{\"LoTE\":\(least),\"LoTE\":1}",
  ])
  func whatIsNoListIsRefused(text: String) { #expect(throws: TrustListError.self) { try read(text) } }

  @Test func whatIsNoObjectIsSaidToBeNone() {
    #expect(throws: TrustListError.malformed("the payload is not a JSON object")) { try read("[]") }
    #expect(throws: TrustListError.malformed("ListAndSchemeInformation is missing")) {
      try read(#"{"LoTE":{"ListAndSchemeInformation":1}}"#)
    }
  }

  @Test(
    arguments: [
      ("LoTEVersionIdentifier", nil), ("LoTEVersionIdentifier", "\"1\""), ("LoTESequenceNumber", nil),
      ("LoTESequenceNumber", "-1"), ("LoTESequenceNumber", "1.5"), ("LoTESequenceNumber", "\"1\""),
      ("LoTESequenceNumber", "9223372036854775808"), ("SchemeOperatorName", nil), ("SchemeOperatorName", "[]"),
      ("SchemeOperatorName", "\"Operator\""), ("SchemeOperatorName", #"[{"value":"Operator"}]"#),
      ("SchemeOperatorName", #"[{"lang":"en","value":1}]"#), ("ListIssueDateTime", nil), ("ListIssueDateTime", "1"),
      ("ListIssueDateTime", "\"2026-11-01\""), ("ListIssueDateTime", "\"2026-11-01T00:00:00+01:00\""),
      ("NextUpdate", nil), ("NextUpdate", "\"soon\""), ("NextUpdate", "\"2026-10-31T00:00:00Z\""),
      ("SchemeExtensions", "{}"),
    ] as [(String, String?)])
  func whatTheSchemeMustSayIsRequired(name: String, value: String?) throws {
    let error = #expect(throws: TrustListError.self) { try read(changed(name, value)) }
    #expect(error?.code == .listMalformed)
  }

  @Test func anotherVersionIsNotRead() throws {
    #expect(throws: TrustListError.versionUnsupported("2")) { try read(changed("LoTEVersionIdentifier", "2")) }
    #expect(throws: TrustListError.versionUnsupported("0")) { try read(changed("LoTEVersionIdentifier", "0")) }
  }

  @Test(arguments: [
    #"[{"Critical":true,"A":1}]"#, #"[{"critical":true}]"#, #"[{"Critical":"true"}]"#, #"[{"Critical":1}]"#,
    #"[{"Critical":null}]"#, #"[{"Critical":false},{"CRITICAL":true}]"#,
  ])
  func whateverIsNotPlainlyUncriticalEndsTheList(extensions: String) throws {
    let error = #expect(throws: TrustListError.self) { try read(changed("SchemeExtensions", extensions)) }
    #expect(error?.code == .listCriticalExtension)
  }

  @Test func anExtensionWithoutCriticalityIsADeviation() throws {
    #expect(try read(changed("SchemeExtensions", #"[{"Critical":false}]"#)).findings == [])
    #expect(try deviations(changed("SchemeExtensions", #"[{"A":1}]"#)).count == 1)
  }

  @Test func aMemberBesideTheListIsADeviation() throws {
    let text = Self.least.replacing("{\"LoTE\":", with: "{\"A\":1,\"LoTE\":")
    #expect(try deviations(text).map(\.detail) == ["members beside LoTE"])
  }

  @Test func aMissingTerritoryOrNameIsADeviation() throws {
    #expect(try deviations(changed("SchemeTerritory", nil)).map(\.detail) == ["SchemeTerritory is missing"])
    let nameless = try read(Self.pid.replacing("TEName", with: "Name"))
    #expect(nameless.findings.map(\.detail) == ["entity 1: TEName is missing"] && nameless.entities.count == 1)
  }

  /// The rest of the list is read.
  @Test(arguments: [
    ("ServiceDigitalIdentity\":{", "ServiceDigitalIdentity\":1,\"A\":{", "ServiceDigitalIdentity is missing"),
    ("ServiceDigitalIdentity", "DigitalIdentity", "ServiceDigitalIdentity is missing"),
    ("ServiceInformation", "Information", "ServiceDigitalIdentity is missing"),
    (
      "ServiceTypeIdentifier\":", "ServiceTypeIdentifier\":1,\"A\":",
      "a member of ServiceInformation is of another type"
    ),
    ("ServiceName\":", "ServiceStatus\":1,\"A\":", "a member of ServiceInformation is of another type"),
    ("ServiceName\":", "StatusStartingTime\":\"now\",\"A\":", "a member of ServiceInformation is of another type"),
    ("X509Certificates\":", "X509Certificates\":1,\"A\":", "X509Certificates or X509SKIs is not a list"),
    ("X509Certificates\":", "X509SKIs\":1,\"X509Certificates\":", "X509Certificates or X509SKIs is not a list"),
    ("X509Certificates\":", "X509SKIs\":[\"*\"],\"X509Certificates\":", "X509SKIs is not base64"),
    ("val\":\"", "val\":\"*", "certificate 1 is not base64"), ("val\":", "A\":", "certificate 1 is not base64"),
  ])
  func aServiceThatCantBeReadIsLeftOut(old: String, new: String, reason: String) throws {
    let list = try read(Self.pid.replacing(old, with: new, maxReplacements: 1))
    #expect(list.findings.map(\.code) == [.listEntryMalformed])
    #expect(list.findings.first?.detail == "entity 1, service 1: \(reason)")
    #expect(list.entities.count == 1 && list.entities.flatMap(\.services).flatMap(\.certificates).isEmpty)
  }

  @Test(arguments: [
    ("2026-08-31T00:00:00Z", "2027-03-01T00:00:00Z", false), ("2026-08-31T00:00:00Z", "2027-03-01T00:00:01Z", true),
    ("2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z", false), ("2026-01-15T12:00:00Z", "2026-07-15T12:00:01Z", true),
    ("2026-11-20T00:00:00Z", "2027-05-20T00:00:00Z", false), ("2026-11-20T00:00:00Z", "2027-05-21T00:00:00Z", true),
  ])
  func sixMonthsAreThoseOfTheCalendar(issued: String, next: String, isTooLong: Bool) throws {
    let text = try changed("ListIssueDateTime", "\"\(issued)\"", in: changed("NextUpdate", "\"\(next)\""))
    #expect(try deviations(text).isEmpty != isTooLong)
  }

  /// README of the vectors, 9: the parse passes, the profile of Annex D does not.
  @Test(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
  func readsTheReferenceImplementationsList() throws {
    let list = try TrustedEntityList(
      parsing: PublishedVectors.bytes("lote/eudi-refimpl-pid-providers-2026-03-16.json"))
    let certificates = list.entities.flatMap(\.services).flatMap(\.certificates)
    #expect(list.findings == [])
    #expect(certificates.count == 7 && certificates.allSatisfy(\.extensions.isCA))
    #expect(list.scheme.type == TrustedEntityListProfile.pidProviders.type && list.scheme.sequenceNumber == 1)
    #expect(list.scheme.nextUpdate == Timestamp(rfc3339: "2026-09-12T16:34:24Z"))
    #expect(
      TrustedEntityListProfile.pidProviders.deviations(of: list) == [
        "PointersToOtherLoTE does not point to the list itself", "a service has no ServiceTypeIdentifier",
      ])
  }

  @Test(.enabled(if: PublishedVectors.areHere, "published vectors are not here"))
  func readsTheConsortiumsList() throws {
    let list = try TrustedEntityList(parsing: PublishedVectors.bytes("lote/webuild-wrpac-providers-lote.json"))
    #expect(list.scheme.nextUpdate == Timestamp(rfc3339: "2026-11-06T00:00:00Z"))
    #expect(list.entities.count == 1 && list.entities.first?.services.count == 2)
    #expect(list.scheme.pointers.count == 1)
    // Its signature is beside the list, in another form.
    #expect(list.findings.map(\.code) == [.listDeviation])
    #expect(!TrustedEntityListProfile.pidProviders.deviations(of: list).isEmpty)
  }

  @Test func aListOfThePIDProfileKeepsToIt() throws {
    #expect(TrustedEntityListProfile.pidProviders.deviations(of: try read(Self.pid)) == [])
    let changes = [
      ("LoTEType\":\"http://uri.etsi.org/19602/LoTEType/EUPIDProvidersList", "LoTEType\":\"urn:other"),
      ("PIDProvidersList/StatusDetn/EU", "other"), ("schemerules/EU", "schemerules/FR"),
      ("SchemeTerritory\":\"EU", "SchemeTerritory\":\"FR"), ("PointersToOtherLoTE", "Pointers"),
      ("ServiceTypeIdentifier", "Type"), ("PID/Issuance", "WRPAC/Issuance"), ("X509Certificates", "Certificates"),
      ("ServiceName", "ServiceStatus\":\"granted\",\"ServiceName"),
      ("SchemeTerritory\"", "HistoricalInformationPeriod\":65535,\"SchemeTerritory\""),
    ]
    for (old, new) in changes {
      let list = try read(Self.pid.replacing(old, with: new, maxReplacements: 1))
      #expect(TrustedEntityListProfile.pidProviders.deviations(of: list).count == 1, "\(new)")
    }
  }

  // MARK: Helpers

  private static let least = """
    {"LoTE":{"ListAndSchemeInformation":{"LoTEVersionIdentifier":1,"LoTESequenceNumber":1,"SchemeTerritory":"EU",\
    "SchemeOperatorName":[{"lang":"en","value":"Operator"}],"ListIssueDateTime":"2026-11-01T00:00:00Z",\
    "NextUpdate":"2027-01-01T00:00:00Z"}}}
    """

  private static let pid = least.replacing(
    #""SchemeTerritory":"EU","#,
    with: """
      "LoTEType":"http://uri.etsi.org/19602/LoTEType/EUPIDProvidersList","SchemeTerritory":"EU",\
      "StatusDeterminationApproach":"http://uri.etsi.org/19602/PIDProvidersList/StatusDetn/EU",\
      "SchemeTypeCommunityRules":[{"lang":"en","uriValue":"http://uri.etsi.org/19602/PIDProviders/schemerules/EU"}],\
      "PointersToOtherLoTE":[{"LoTELocation":"https://list.example/",\
      "LoTEQualifiers":[{"LoTEType":"http://uri.etsi.org/19602/LoTEType/EUPIDProvidersList"}]}],
      """
  ).replacing(
    "\"}}}",
    with: """
      "},"TrustedEntitiesList":[{"TrustedEntityInformation":{"TEName":[{"lang":"en","value":"A"}]},\
      "TrustedEntityServices":[{"ServiceInformation":{"ServiceName":[{"lang":"en","value":"B"}],\
      "ServiceTypeIdentifier":"http://uri.etsi.org/19602/SvcType/PID/Issuance",\
      "ServiceDigitalIdentity":{"X509Certificates":[{"val":"\(certificate)"}]}}}]}]}}
      """)

  /// Self-signed, CN=test, on P-256.
  private static let certificate = """
    MIIBdTCCARugAwIBAgIUNV5emlMviRWm/MVTWKOOz1A/F9AwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjAx\
    NDI5MDFaGA8yMTI2MTAyNzE0MjkwMVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHfpjYCDfTqZ\
    p/ZdGg/Kl2e15oYNO/vtmpn6Mi3W5bXiVUhMgccozrjrbu80HISBq4RpX6qLXHBmZGvhCuSkwzCjUzBRMB0GA1UdDgQWBBQ4sOBl\
    k1hgTUDqMIA6ZqdDbSYlhzAfBgNVHSMEGDAWgBQ4sOBlk1hgTUDqMIA6ZqdDbSYlhzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49\
    BAMCA0gAMEUCIC+hpI2Jh0vnLq7rlOwYfuofBFmX5iU4BegDh1NHWszUAiEA4mCIDNPM0SroZezS0iLlujqZVwefpzNrcZeNeSP0\
    d6c=
    """

  private func read(_ text: String) throws -> TrustedEntityList { try TrustedEntityList(parsing: Array(text.utf8)) }

  private func deviations(_ text: String) throws -> [Check] {
    try read(text).findings.filter { $0.code == .listDeviation }
  }

  /// The smallest list, with or without a scheme member in JSON.
  private func changed(_ name: String, _ value: String?, in text: String = least) throws -> String {
    let members = try JSON(parsing: Array(text.utf8))["LoTE"]?["ListAndSchemeInformation"]?.object ?? []
    let others = members.filter { $0.name != name }.map { "\"\($0.name)\":\($0.value.text())" }
    let all = others + (value.map { ["\"\(name)\":\($0)"] } ?? [])
    return "{\"LoTE\":{\"ListAndSchemeInformation\":{\(all.joined(separator: ","))}}}"
  }
}
