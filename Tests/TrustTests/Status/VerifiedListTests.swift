import Base
import CBOR
import Cryptography
import Mdoc
import PKIX
import Testing
import Trust

@testable import Mock

/// Findings of a verified list at later times and for other documents.
@Suite struct VerifiedListTests {
  let fixture: StatusFixture

  init() throws { fixture = try StatusFixture() }

  @Test func oneListAnswersForManyDocuments() throws {
    let list = try fixture.read(
      fixture.published { try $0.setStatuses([0, 1, 2, 3, 0, 1, 2], bits: 2) })
    let findings = (0..<9).map { list.finding(for: .mock($0), at: fixture.now).code }
    #expect(
      findings == [
        nil, .documentRevoked, .documentSuspended, .statusUnknown, nil, .documentRevoked, .documentSuspended,
        // Entries in the last byte are in the list; the next byte is not.
        nil, .statusIndexOutOfRange,
      ])
  }

  @Test func whatAListTakesToKeepIsKnown() throws {
    let statuses = try fixture.read(
      fixture.published { try $0.setStatuses([UInt8](repeating: 0, count: 800), bits: 2) })
    #expect(statuses.keptBytes == 200)
    let reference = StatusReference(.identifierList(identifier: [1]), uri: StatusFixture.uri)
    let bytes = try MockList.good(.identifiers).published(
      by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
    #expect(try fixture.read(bytes, reference).keptBytes > bytes.count)
  }

  /// A publisher elsewhere gives the authority its own addresses.
  @Test func listsAreAtTheAuthoritysAddressesUnlessAnotherIsGiven() throws {
    let status = try MockList.good(.status).status(by: fixture.authority, now: fixture.now)
    #expect(
      try fixture.finding(status, MockList.good(.status).published(by: fixture.authority, now: fixture.now)) == .good)
    let identifier = try MockList.good(.identifiers).status(by: fixture.authority, now: fixture.now)
    let list = try MockList.good(.identifiers).published(by: fixture.authority, now: fixture.now)
    #expect(try fixture.finding(identifier, list) == .good)
    #expect(fixture.authority.addresses.statusList != fixture.authority.addresses.identifierList)
  }

  @Test func aListAnswersOnlyForItsSource() throws {
    let list = try fixture.read(fixture.published())
    let other = StatusReference.mock(uri: StatusFixture.uri + "/")
    #expect(list.finding(for: other, at: fixture.now).code == .statusListInvalid)
    let named = StatusReference(.statusList(index: 0), uri: StatusFixture.uri, certificate: fixture.anchor.der)
    #expect(list.finding(for: named, at: fixture.now).code == .statusListInvalid)
    let identifier = StatusReference(.identifierList(identifier: [1]), uri: StatusFixture.uri)
    #expect(list.finding(for: identifier, at: fixture.now).code == .statusListInvalid)
  }

  @Test func aListThatExpiredInTheCacheAnswersNoMore() throws {
    let list = try fixture.read(fixture.published())
    let last = list.expires - 1
    #expect(list.finding(for: .mock(), at: last) == .good)
    #expect(list.finding(for: .mock(), at: last + 1).code == .statusListInvalid)
  }

  @Test func aListCountsNoLongerThanItsSignersCertificate() throws {
    let end = fixture.now + 100
    let list = try fixture.read(fixture.published { $0.signer.certificate.notAfter = end })
    #expect(list.expires == end + 1)
    #expect(list.finding(for: .mock(), at: end) == .good)
    #expect(list.finding(for: .mock(), at: end + 1).code == .statusListInvalid)
  }

  /// Between the minimum and the maximum, a list is kept as long as its publisher specifies, but never beyond its
  /// expiry.
  @Test func aListIsFreshForItsTimeToLiveWithinBounds() throws {
    func freshSeconds(ttl: Int64?, expiresIn: Int64) throws -> Int64 {
      let now = fixture.now
      let bytes = try fixture.published {
        $0.members[ListDraft.Label.timeToLive] = ttl.map { .integer($0) }
        $0.members[ListDraft.Label.expires] = .integer((now + expiresIn).secondsSince1970)
      }
      let until = try fixture.read(bytes).freshUntil(fetchedAt: now)
      return until.secondsSince1970 - now.secondsSince1970
    }
    #expect(try freshSeconds(ttl: 3_600, expiresIn: 100_000) == 3_600)
    #expect(try freshSeconds(ttl: 1, expiresIn: 100_000) == Limits.shortestListLifetime)
    #expect(try freshSeconds(ttl: .max, expiresIn: 1_000_000) == Limits.longestListLifetime)
    #expect(try freshSeconds(ttl: nil, expiresIn: 1_000_000) == Limits.longestListLifetime)
    #expect(try freshSeconds(ttl: nil, expiresIn: 5_000) == 5_000)
    #expect(try freshSeconds(ttl: 1, expiresIn: 30) == 30)
  }

  @Test func aDocumentSignersPurposeIsTakenAndNoted() throws {
    func deviations(_ purposes: [String]?) throws -> Set<StatusListDeviation>? {
      let bytes = try fixture.published { draft in
        draft.signer.certificate[oid: CertificateExtension.extendedKeyUsageOID] = purposes.map {
          .extendedKeyUsage($0)
        }
      }
      return try? fixture.read(bytes).deviations
    }
    #expect(try deviations(nil) == [])
    #expect(try deviations(["1.3.6.1.5.5.7.3.30"]) == [])
    #expect(try deviations(["2.5.29.37.0"]) == [])
    #expect(try deviations([MockSigner.mDLKeyUsage, "1.3.6.1.5.5.7.3.30"]) == [])
    for purpose in [MockSigner.mDLKeyUsage, "1.0.23220.4.1.2", "1.3.130.2.0.0.1.2"] {
      #expect(try deviations([purpose]) == [.documentSignerUsage])
    }
    // TLS server, OCSP, VICAL, reader.
    for purpose in ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.9", "1.0.18013.5.1.8", MockSigner.readerKeyUsage] {
      #expect(try deviations([purpose]) == nil)
    }
  }

  @Test func sourcesAreToldApartByAddressCertificateAnchorAndMechanism() throws {
    let source = StatusListSource(.mock(1), anchor: fixture.anchor)
    #expect(source == StatusListSource(.mock(2), anchor: fixture.anchor))
    let other = try Certificate(der: fixture.authority.anchors(at: fixture.now)[5].certificate)
    let others = [
      StatusListSource(.mock(1), anchor: other),
      StatusListSource(.mock(1, uri: StatusFixture.uri + "?"), anchor: fixture.anchor),
      StatusListSource(
        StatusReference(.statusList(index: 1), uri: StatusFixture.uri, certificate: [1]), anchor: fixture.anchor),
      StatusListSource(
        StatusReference(.identifierList(identifier: [1]), uri: StatusFixture.uri), anchor: fixture.anchor),
    ]
    #expect(!others.contains(source))
    #expect(Set(others + [source]).count == 5)
  }

  /// An accent with two encodings gives two addresses.
  @Test func addressesAreComparedByTheirBytes() throws {
    let composed = StatusReference.mock(uri: "https://status.example/\u{e9}")
    let decomposed = StatusReference.mock(uri: "https://status.example/e\u{301}")
    let anchor = fixture.anchor
    #expect(StatusListSource(composed, anchor: anchor) != StatusListSource(decomposed, anchor: anchor))
    let bytes = try fixture.published { $0.members[ListDraft.Label.subject] = .text(decomposed.uri) }
    #expect(fixture.finding(composed, bytes).code == .statusListInvalid)
    #expect(fixture.finding(decomposed, bytes) == .good)
  }

  @Test func aSourceIsMadeFromAQuestionAboutAStatusAlone() throws {
    let status = RevocationQuestion(.status(.mock(3)), path: [fixture.anchor])
    #expect(StatusListSource(status) == StatusListSource(.mock(3), anchor: fixture.anchor))
    #expect(StatusListSource(RevocationQuestion(.certificates, path: [fixture.anchor])) == nil)
    #expect(StatusListSource(RevocationQuestion(.status(.mock(3)), path: [])) == nil)
  }

  @Test func `a revocation service that a list of trusted entities names may sign, another may not`() throws {
    let fixture = try StatusFixture()
    let list = try #require(MockList.named("status-other-anchor"))
    let bytes = try list.published(by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
    let others = try fixture.authority.anchors(at: fixture.now).dropFirst().map { try Certificate(der: $0.certificate) }
    let source = StatusListSource(.mock(), anchor: fixture.anchor, furtherSigners: others)
    let reader = StatusListVerifier()
    #expect(try reader.read(bytes, from: source, at: fixture.now).finding(for: .mock(), at: fixture.now) == .good)
    let alone = StatusListSource(.mock(), anchor: fixture.anchor)
    #expect(throws: RevocationListError.self) { try reader.read(bytes, from: alone, at: fixture.now) }
    #expect(source != alone)
  }
}
