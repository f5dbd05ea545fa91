import Base
import Mdoc
import PKIX
import Testing
import Trust

@testable import Mock

/// Mock VICALs: valid lists, and each rule broken by itself.
@Suite struct VICALTests {
  let fixture: TrustFixture
  let reader: VICALVerifier

  init() throws {
    fixture = try TrustFixture()
    reader = try VICALVerifier(source: Self.source(fixture))
  }

  @Test func `A good list makes its authorities trusted, each for its document types`() throws {
    let evaluation = try evaluate(.good(.vical))
    #expect(evaluation.isAccepted && evaluation.checks.allSatisfy { $0.outcome == .passed })
    #expect(evaluation.checks.count == 14)
    #expect(
      evaluation.anchors.map(\.docTypes) == [[TrustFixture.mDL, "org.iso.23220.photoid.1"], ["org.iso.7367.1.mVRC"]])
    #expect(evaluation.anchors.first?.certificate.der == (try fixture.rootDER()))
    #expect(evaluation.anchors.first?.source == "tests: VICAL of mdoc Mock, \(day), entry 1")
    #expect(evaluation.signerPath.count == 2)
    #expect(evaluation.validUntil == day + 2 * Seconds.day)
    let list = try #require(evaluation.list).contents
    #expect(list.provider == "mdoc Mock" && list.issueID == 20_775 && list.date == day)
    #expect(list.entries.map(\.number) == [1, 2])
    #expect(list.entries.first?.profiles == ["urn:oid:1.0.18013.5.1.7"])
  }

  @Test(arguments: MockList.all(.vical))
  func `Every mock list comes out as it says`(mock: MockList) throws {
    let last = mock.followsGood ? try evaluate(.good(.vical)).accepted : nil
    let evaluation = try evaluate(mock, after: last)
    #expect(evaluation.checks.codes(.failed) == [mock.code].compactMap { $0 })
    #expect(evaluation.isAccepted == (mock.code == nil))
    #expect((evaluation.accepted == nil) == (mock.code != nil) && (evaluation.validUntil == nil) == (mock.code != nil))
    if mock.code == nil {
      #expect(evaluation.checks.codes(.warning) == mock.warnings)
      #expect(try documentFailures(evaluation.anchors) == [mock.documentCode].compactMap { $0 })
    } else {
      #expect(evaluation.anchors.isEmpty)
    }
  }

  @Test func `Names of mock lists are their own, and every code of a list is reached`() {
    #expect(Set(MockList.all(.vical).map(\.name)).count == MockList.all(.vical).count)
    let codes = Set(MockList.all(.vical).compactMap(\.code) + MockList.all(.vical).flatMap(\.warnings))
    let all = Set(CodeGroup.trustLists.codes)
    #expect(all.subtracting(codes) == [.listEntryNotGranted, .listSourceNotAllowed, .listUnavailable])
    #expect(Set(MockList.all(.vical).flatMap(\.cases)) == ["V01", "V02", "V03", "V04"])
  }

  @Test func `An entry that is no map is said to be none`() throws {
    let evaluation = try evaluate(MockList(.vical) { $0.entries = try $0.entries?.adding([1]) })
    let check = evaluation.checks.first { $0.code == .listEntryMalformed }
    #expect(check?.outcome == .warning && check?.detail == "entry 3: it is not a map")
    #expect(evaluation.anchors.count == 2)
  }

  /// They cannot certify others, so they would make nothing trusted.
  @Test func `Authorities whose key certifies nothing, or is on no known curve, are left out`() throws {
    let changes: [@Sendable (inout CertificateTemplate) -> Void] = [
      { $0[oid: CertificateExtension.keyUsageOID] = .keyUsage(.crlSign) },
      { $0.publicKeyInfo = SubjectPublicKeyInfo.rsa(modulus: [UInt8](repeating: 0xc5, count: 256)).der },
    ]
    for change in changes {
      let evaluation = try evaluate(
        MockList(.vical) {
          var template = try $0.authority.anchorTemplate(.good, at: $0.now)
          change(&template)
          let issuer = try $0.authority.certificateIssuer(.good)
          let entry = try $0.entry(template, signedBy: issuer, docTypes: [TrustFixture.mDL])
          $0.entries = [entry.value, try $0.entry(of: .otherDocType)]
        })
      #expect(evaluation.checks.codes(.warning) == [.listEntryMalformed])
      #expect(evaluation.anchors.count == 1)
    }
  }

  @Test func `A key identifier that the certificate does not have contradicts nothing`() throws {
    let evaluation = try evaluate(
      MockList(.vical) {
        var template = try $0.authority.anchorTemplate(.good, at: $0.now)
        template[oid: CertificateExtension.subjectKeyIdentifierOID] = nil
        let issuer = try $0.authority.certificateIssuer(.good)
        let entry = try $0.entry(template, signedBy: issuer, docTypes: [TrustFixture.mDL])
        $0.entries = [entry.value, try $0.entry(of: .otherDocType)]
      })
    #expect(evaluation.checks.codes(.warning) == [.listDeviation] && evaluation.anchors.count == 2)
  }

  // MARK: Time and order

  @Test func `A list is current up to the second of its next update`() throws {
    let bytes = try MockList.good(.vical).published(by: fixture.authority, now: fixture.now)
    let end = day + 2 * Seconds.day
    #expect(reader.evaluate(bytes, at: end).isAccepted)
    #expect(reader.evaluate(bytes, at: end + 1).checks.codes(.failed) == [.listExpired])
  }

  @Test func `Only the clock's error is granted to a list's date`() throws {
    let bytes = try MockList.good(.vical).published(by: fixture.authority, now: fixture.now)
    #expect(reader.evaluate(bytes, at: day - 60).isAccepted)
    #expect(reader.evaluate(bytes, at: day - 61).checks.codes(.failed) == [.listIssuedInFuture])
  }

  @Test func `The list that was accepted last is accepted again`() throws {
    let accepted = try #require(try evaluate(.good(.vical)).accepted)
    #expect(try evaluate(.good(.vical), after: accepted).accepted == accepted)
  }

  @Test func `An older list says which is which`() throws {
    let mock = try #require(MockList.named("vical-older"))
    let evaluation = try evaluate(mock, after: evaluate(.good(.vical)).accepted)
    let detail = evaluation.checks.first { $0.code == .listRollback }?.detail
    #expect(detail == "issued at \(day - 1), accepted before: \(day)")
    #expect(try evaluate(mock).isAccepted)
  }

  @Test func `A newer list may have a lower number, and one of the same second a higher or none`() throws {
    for (issued, number) in [(day - 1, UInt64.max), (day, 1), (day, nil)] as [(Timestamp, UInt64?)] {
      let last = AcceptedListMark(issued: issued, number: number, digest: [])
      #expect(try evaluate(.good(.vical), after: last).isAccepted)
    }
  }

  // MARK: Signers

  @Test func `No anchors for signers, no list`() throws {
    let bytes = try MockList.good(.vical).published(by: fixture.authority, now: fixture.now)
    let source = TrustListSource(signers: .init(authorities: [], allowsTestCertificates: true))
    #expect(
      VICALVerifier(source: source).evaluate(bytes, at: fixture.now).checks.codes(.failed) == [.listSignerUntrusted])
  }

  @Test func `A mock list is refused in live mode`() throws {
    let bytes = try MockList.good(.vical).published(by: fixture.authority, now: fixture.now)
    var source = reader.source
    source.signers.allowsTestCertificates = false
    #expect(
      VICALVerifier(source: source).evaluate(bytes, at: fixture.now).checks.codes(.failed) == [.listSignerUntrusted])
  }

  @Test func `Nothing of the entries is told where the list is refused for its signature`() throws {
    let evaluation = try evaluate(#require(MockList.named("vical-bad-signature")))
    #expect(evaluation.list == nil)
    let codes: [Code] = [.listVersionUnsupported, .listExpired, .listRollback, .listEntryMalformed, .listEntryMismatch]
    #expect(evaluation.checks.filter { codes.contains($0.code) }.allSatisfy { $0.outcome == .notRun })
    #expect(evaluation.checks.count == 14)
  }

  @Test func `A source's settings go to every anchor`() throws {
    var source = reader.source
    source.extendedKeyUsages = ["1.2.3"]
    source.maxPathLength = 1
    source.allowsJWTStatusLists = true
    source.tier = .test
    let bytes = try MockList.good(.vical).published(by: fixture.authority, now: fixture.now)
    let anchors = VICALVerifier(source: source).evaluate(bytes, at: fixture.now).anchors
    #expect(anchors.allSatisfy { $0.extendedKeyUsages == ["1.2.3"] && $0.maxPathLength == 1 && $0.tier == .test })
    #expect(anchors.allSatisfy { $0.allowsJWTStatusLists })
  }

  /// A listed authority that certifies another authority does not list it, and cannot be an intermediate of a path.
  @Test func `A listed authority is an anchor and never an intermediate`() throws {
    let anchors = try evaluate(.good(.vical)).anchors
    var chain = try fixture.chain()
    chain.append(try fixture.rootDER()[...])
    let listed = try TrustStore(
      anchors: anchors.filter { $0.source.hasSuffix("entry 2") }, allowsTestCertificates: true)
    #expect(listed.failures(chain, at: fixture.now) == [.issuerUnknown])
  }

  @Test func `No byte of a list can be changed`() throws {
    let bytes = try MockList.good(.vical).published(by: fixture.authority, now: fixture.now)
    for index in stride(from: 0, to: bytes.count, by: 7) {
      var changed = bytes
      changed[index] ^= 0x01
      #expect(!reader.evaluate(changed, at: fixture.now).isAccepted, "byte \(index)")
    }
  }

  @Test func `No cut list is accepted`() throws {
    let bytes = try MockList.good(.vical).published(by: fixture.authority, now: fixture.now)
    for count in stride(from: 0, to: bytes.count, by: 13) {
      #expect(reader.evaluate(Array(bytes[..<count]), at: fixture.now).checks.codes(.failed) == [.listMalformed])
    }
  }

  // MARK: Support

  private var day: Timestamp { Timestamp(date: fixture.now.date) }

  private func evaluate(
    _ mock: MockList, after last: AcceptedListMark? = nil
  ) throws -> TrustListEvaluation<VICAL> {
    reader.evaluate(try mock.published(by: fixture.authority, now: fixture.now), at: fixture.now, after: last)
  }

  /// The failed checks of a driving licence's chain if only these anchors are trusted.
  private func documentFailures(_ anchors: [TrustAnchor]) throws -> [Code] {
    let validator = PathValidator(anchors: anchors, allowsTestCertificates: true)
    let evaluation = try validator.evaluate(
      chain: fixture.chain(), docType: TrustFixture.mDL, at: fixture.now, skew: 0)
    return evaluation.checks.codes(.failed)
  }

  private static func source(_ fixture: TrustFixture) throws -> TrustListSource {
    let root = try Certificate(der: MockList.Kind.vical.signerAnchor(of: fixture.authority, at: fixture.now))
    return TrustListSource(signers: .init(authorities: [root], allowsTestCertificates: true), name: "tests")
  }
}

extension MockList: CustomTestStringConvertible {
  public var testDescription: String { name }
}

extension [Check] {
  func codes(_ outcome: Check.Outcome) -> [Code] { filter { $0.outcome == outcome }.map(\.code) }
}
