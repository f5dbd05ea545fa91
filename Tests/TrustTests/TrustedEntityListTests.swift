import Base
import Cryptography
import PKIX
import Testing
import Trust

@testable import Mock

/// Signed lists of trusted entities: each broken rule gives its own code, and a rejected list gives no anchor.
@Suite struct TrustedEntityListTests {
  let fixture: ListFixture

  init() throws { fixture = try ListFixture() }

  @Test(arguments: MockList.all(.trustedEntities).map(\.name))
  func everyVariantComesToItsCode(name: String) throws {
    let variant = try #require(MockList.named(name))
    let last = try #require(fixture.evaluate(.good(.trustedEntities)).accepted)
    let evaluation = try fixture.evaluate(variant, after: last)
    #expect(evaluation.codes(.failed) == [variant.code].compactMap { $0 })
    #expect(evaluation.isAccepted == (variant.code == nil))
    #expect((evaluation.accepted != nil) == evaluation.isAccepted)
    if evaluation.isAccepted { #expect(evaluation.codes(.warning) == variant.warnings) }
    #expect(evaluation.anchors.isEmpty == (variant.code != nil || variant.documentCode != nil))
    if !evaluation.isAccepted { #expect(evaluation.statusListSigners.isEmpty) }
  }

  @Test func everyVariantHasANameOfItsOwnAndStaysTheSame() throws {
    #expect(Set(MockList.all(.trustedEntities).map(\.name)).count == MockList.all(.trustedEntities).count)
    for variant in MockList.all(.trustedEntities) {
      let made = try [0, 1].map { _ in try variant.published(by: fixture.authority, now: fixture.now) }
      #expect(made[0] == made[1])
    }
  }

  @Test func everyCheckIsNamedInEveryEvaluation() throws {
    let good = try fixture.evaluate(.good(.trustedEntities)).checks.map(\.code)
    for variant in MockList.all(.trustedEntities) {
      #expect(try fixture.evaluate(variant).checks.map(\.code) == good, "\(variant.name)")
    }
  }

  @Test(arguments: Curve.allCases.filter { $0.family != .montgomery })
  func aSignerMayHaveAKeyOnEveryCurveThatSigns(curve: Curve) throws {
    let fixture = try ListFixture(curve: curve)
    #expect(try fixture.evaluate(.good(.trustedEntities)).codes(.failed) == [])
    let mismatch = try #require(MockList.named("lote-alg-mismatch"))
    #expect(try fixture.evaluate(mismatch).codes(.failed) == [.listAlgorithmUnsupported])
  }

  @Test func whatItListsIsTrusted() throws {
    let evaluation = try fixture.evaluate(.good(.trustedEntities))
    let anchor = try #require(evaluation.anchors.first)
    #expect(evaluation.anchors.count == 1)
    #expect(anchor.kind == .authority && anchor.docTypes == MockList.docTypes && anchor.tier == .test)
    #expect(anchor.source == "mock list" && anchor.extendedKeyUsages == nil)
    #expect(evaluation.statusListSigners.map(\.certificate.der) == [anchor.certificate.der])
    #expect(evaluation.statusListSigners.first?.issuers.map(\.der) == [anchor.certificate.der])
    #expect(evaluation.ignoredServices.isEmpty && evaluation.signerPath.count == 2)
    let store = try TrustStore(anchors: evaluation.anchors, allowsTestCertificates: true)
    #expect(try store.failures(fixture.chain(), at: fixture.now) == [])
  }

  @Test func aListedSignerIsTrustedByItselfAlone() throws {
    let evaluation = try fixture.evaluate(try #require(.named("lote-direct-trust")))
    #expect(evaluation.anchors.map(\.kind) == [.documentSigner])
    let store = try TrustStore(anchors: evaluation.anchors, allowsTestCertificates: true)
    #expect(try store.failures(fixture.chain(), at: fixture.now) == [])
    let other = try fixture.chain { $0.certificate.notAfter = $0.certificate.notAfter - 1 }
    #expect(store.failures(other, at: fixture.now) == [.issuerUnknown])
  }

  @Test func servicesOfOtherTypesAreCounted() throws {
    let other = try fixture.evaluate(try #require(.named("lote-other-service")))
    #expect(other.ignoredServices == ["http://uri.etsi.org/19602/SvcType/WRPAC/Issuance": 1])
    #expect(try fixture.evaluate(try #require(.named("lote-no-service-type"))).ignoredServices == ["": 1])
  }

  @Test func aListOnlySpeaksOfTheTypesThatItIsConfiguredFor() throws {
    var source = try fixture.source()
    source.issuance = [:]
    let evaluation = try fixture.evaluate(.good(.trustedEntities), source: source)
    #expect(evaluation.isAccepted && evaluation.anchors.isEmpty && evaluation.statusListSigners.count == 1)
    #expect(evaluation.ignoredServices == [MockList.issuanceService: 1])
  }

  @Test func itsTimesCountToTheSecond() throws {
    let bytes = try MockList.good(.trustedEntities).published(by: fixture.authority, now: fixture.now)
    let issued = Timestamp(date: fixture.now.date)
    let next = issued + 30 * 86_400
    func failures(at now: Timestamp) throws -> [Code] {
      TrustedEntityListVerifier(source: try fixture.source()).evaluate(bytes, at: now).codes(.failed)
    }
    #expect(try failures(at: next) == [])
    #expect(try failures(at: next + 1) == [.listExpired])
    // Clocks may differ by the usual skew, but no skew extends an expiry.
    #expect(try failures(at: issued - Limits.clockSkew) == [])
    #expect(try failures(at: issued - Limits.clockSkew - 1) == [.listIssuedInFuture])
  }

  @Test func aSigningTimeThatIsNoneMakesItMalformed() throws {
    let variant = try MockList(.trustedEntities, edits: #"signed.header.sigT = "soon"; .header.crit = ["sigT"]"#)
    #expect(try fixture.evaluate(variant).codes(.failed) == [.listMalformed])
  }

  @Test func theRulesOfItsProfileAreWarnedOf() throws {
    var source = try fixture.source()
    source.profile = .mDLProviders
    let check = try fixture.evaluate(.good(.trustedEntities), source: source).checks.first { $0.code == .listDeviation }
    #expect(check?.outcome == .warning)
    #expect(check?.detail?.hasPrefix("mdl-providers: LoTEType differs from the profile's; mdl-providers: ") == true)
  }

  @Test func theSameListMayComeAgainAndALaterOneMayFollow() throws {
    let first = try #require(fixture.evaluate(.good(.trustedEntities)).accepted)
    #expect(try fixture.evaluate(.good(.trustedEntities), after: first).accepted == first)
    let later = try fixture.evaluate(.good(.trustedEntities), at: fixture.now + 86_400, after: first)
    #expect(later.isAccepted)
    #expect(try fixture.evaluate(.good(.trustedEntities), after: later.accepted).codes(.failed) == [.listRollback])
    // Either is enough.
    for last in [
      AcceptedListMark(issued: first.issued, number: first.number.map { $0 + 1 }, digest: []),
      AcceptedListMark(issued: first.issued + 1, number: first.number, digest: []),
    ] {
      #expect(try fixture.evaluate(.good(.trustedEntities), after: last).codes(.failed) == [.listRollback])
    }
  }

  @Test func mockListsAreNoListsInLiveMode() throws {
    var source = try fixture.source()
    source.list.signers.allowsTestCertificates = false
    #expect(try fixture.evaluate(.good(.trustedEntities), source: source).codes(.failed) == [.listSignerUntrusted])
  }

  @Test func aSignerMayBeConfiguredByItself() throws {
    let signer = try #require(fixture.evaluate(.good(.trustedEntities)).signerPath.first)
    var source = try fixture.source()
    source.list.signers = .init(authorities: [], signers: [signer], allowsTestCertificates: true)
    #expect(try fixture.evaluate(.good(.trustedEntities), source: source).isAccepted)
    source.list.signers.signers = []
    #expect(try fixture.evaluate(.good(.trustedEntities), source: source).codes(.failed) == [.listSignerUntrusted])
  }

  @Test(arguments: [("EL", "GR"), ("EL", "EL"), ("UK", "GB"), ("UK", "UK"), ("FR", "FR")])
  func territoriesAreWrittenAsEuropeWritesThem(territory: String, country: String) throws {
    let variant = MockList(.trustedEntities) {
      $0.members["SchemeTerritory"] = .text(territory)
      $0.signer.certificate.subject.set(CertificateName.country, to: DER.printableString(country))
    }
    #expect(try fixture.evaluate(variant).codes(.failed) == [])
    let other = MockList(.trustedEntities) {
      $0.members["SchemeTerritory"] = .text(territory)
      $0.signer.certificate.subject.set(CertificateName.country, to: DER.printableString("DE"))
    }
    #expect(try fixture.evaluate(other).codes(.failed) == [.listSignerProfile])
  }

  @Test func oneCertificateOfSeveralServicesIsOneAnchor() throws {
    var source = try fixture.source()
    source.issuance["urn:other"] = ["org.example.other", MockDocType.mDL]
    let type = ".entries[1].services[0].information.ServiceTypeIdentifier"
    let variant = try MockList(.trustedEntities, edits: #"list.entries = it + it; \#(type) = "urn:other""#)
    let evaluation = try fixture.evaluate(variant, source: source)
    #expect(evaluation.anchors.map(\.docTypes) == [MockList.docTypes + ["org.example.other"]])
  }

  @Test func aLongTailOfBrokenEntriesIsToldInShort() throws {
    let broken = #"[{"information": it[0].information, "identity": {"X509Certificates": [{"val": "MAA="}]}}]"#
    let variant = try MockList(.trustedEntities, edits: "list.entries[0].services = it + repeat(100, \(broken))")
    let evaluation = try fixture.evaluate(variant)
    let detail = evaluation.checks.first { $0.code == .listEntryMalformed }?.detail
    #expect(evaluation.isAccepted && evaluation.anchors.count == 1)
    #expect(detail?.hasSuffix("; and \(100 - Limits.reportedFaults) more") == true)
  }

  @Test func bytesOfAnyKindAreRefused() throws {
    let reader = TrustedEntityListVerifier(source: try fixture.source())
    let good = try MockList.good(.trustedEntities).published(by: fixture.authority, now: fixture.now)
    for count in stride(from: 0, to: good.count, by: 97) {
      let evaluation = reader.evaluate(Array(good.prefix(count)), at: fixture.now)
      #expect(!evaluation.isAccepted && evaluation.list == nil)
    }
    #expect(reader.evaluate(good + Array("\r\n".utf8), at: fixture.now).isAccepted)
    #expect(reader.evaluate(good + Array(" ".utf8), at: fixture.now).codes(.failed) == [.listMalformed])
  }
}
