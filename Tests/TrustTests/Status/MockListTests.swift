import Base
import Cryptography
import Mdoc
import PKIX
import Testing

@testable import Mock
@testable import Trust

/// Every way of publishing that the mock authority has gives the finding that it says.
@Suite struct MockListTests {
  @Test(arguments: MockStatusList.all.map(\.name))
  func aStatusListIsFoundToBeWhatItIs(name: String) throws {
    let list = try #require(MockStatusList.named(name))
    let finding = try StatusFixture().finding(list)
    #expect(finding.code == list.code, "\(finding)")
  }

  @Test(arguments: MockIdentifierList.all.map(\.name))
  func anIdentifierListIsFoundToBeWhatItIs(name: String) throws {
    let list = try #require(MockIdentifierList.named(name))
    let finding = try StatusFixture().finding(list)
    #expect(finding.code == list.code, "\(finding)")
  }

  /// Why each of them is refused: what is wrong with it, and nothing that comes before.
  private static let reasons: KeyValuePairs<String, String> = [
    "other-subject": "sub is not", "without-subject": "sub is missing", "expired": "expired",
    "without-expiry": "exp is missing", "future": "issued in the future", "without-date": "iat is missing",
    "not-before": "not yet valid", "ttl-zero": "ttl is", "bad-signature": "signature does not verify",
    "unsigned": "signature does not verify", "payload-changed": "signature does not verify", "detached": "detached",
    "cwt-tag": "under tag 18", "untagged": "under tag 18", "claims-no-map": "are no map", "wrong-type": "the type",
    "without-type": "the type", "type-unprotected": "the type", "other-mechanism": "the type",
    "algorithm-rs256": "algorithm is not supported", "algorithm-other-curve": "does not go with the signer's key",
    "critical-header": "critical", "without-chain": "names no signer", "chain-unprotected": "names no signer",
    "other-root": "no anchor", "other-anchor": "no anchor", "other-key": "signature does not verify",
    "certificate-other": "no anchor", "certificate-malformed": "is malformed", "signer-reader": "extKeyUsage",
    "signer-expired": "has expired at", "signer-key-usage": "keyUsage", "signer-is-root": "is itself the anchor",
  ]

  @Test func everyWrongTokenIsRefusedForWhatIsWrongWithIt() throws {
    let fixture = try StatusFixture()
    #expect(Set(Self.reasons.map(\.key)) == Set(ListTokenDraft.wrongTokens.map(\.name)))
    for token in ListTokenDraft.wrongTokens {
      let reason = try #require(Self.reasons.first { $0.key == token.name }?.value)
      for finding in [try fixture.finding(token.statusList()), try fixture.finding(token.identifierList())] {
        #expect(finding.detail?.contains(reason) == true, "\(token.name): \(finding)")
      }
    }
  }

  @Test(arguments: Curve.allCases.filter { $0.family != .montgomery })
  func listsAreSignedOnEveryCurve(curve: Curve) throws {
    let fixture = try StatusFixture(curve: curve)
    #expect(try fixture.finding(MockStatusList.good) == .good)
    #expect(try fixture.finding(#require(MockStatusList.named("status-revoked"))).code == .documentRevoked)
    #expect(try fixture.finding(#require(MockStatusList.named("status-jwt"))) == .good)
  }

  @Test func namesAreUniqueAndSummariesSentences() {
    let all =
      MockStatusList.all.map { ($0.name, $0.summary) } + MockIdentifierList.all.map { ($0.name, $0.summary) }
    #expect(Set(all.map(\.0)).count == all.count)
    for (name, summary) in all {
      #expect(summary.hasSuffix("."), "\(name)")
      #expect(name.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }, "\(name)")
    }
  }

  @Test func everyRowOfTheNegativeCasesHasAList() {
    let covered = Set(MockStatusList.all.flatMap(\.cases) + MockIdentifierList.all.flatMap(\.cases))
    #expect(covered.isSuperset(of: ["R05", "R06", "R07", "R08", "R11", "R12"]))
  }
}

/// The rules of a list hold in its JSON form as well.
@Suite struct StatusListJWTTests {
  let fixture: StatusFixture

  init() throws { fixture = try StatusFixture() }

  private static let reasons: KeyValuePairs<String, String> = [
    "other-subject": "sub is not", "without-subject": "sub is missing", "expired": "expired",
    "without-expiry": "exp is missing", "future": "issued in the future", "without-date": "iat is missing",
    "not-before": "not yet valid", "ttl-zero": "ttl is", "without-type": "typ is not", "wrong-type": "typ is not",
    "without-chain": "names no signer", "other-root": "no anchor", "other-anchor": "no anchor",
    "other-key": "signature does not verify", "certificate-other": "no anchor", "signer-reader": "extKeyUsage",
    "signer-expired": "has expired at", "signer-key-usage": "keyUsage", "signer-is-root": "is itself the anchor",
  ]

  @Test func everyWrongTokenIsRefusedForWhatIsWrongWithIt() throws {
    for (name, reason) in Self.reasons {
      let token = try #require(ListTokenDraft.wrongTokens.first { $0.name == name })
      let finding = try fixture.finding(MockStatusList("test", "A test.", nil, isJWT: true, token.change))
      #expect(finding.code == .statusListInvalid)
      #expect(finding.detail?.contains(reason) == true, "\(name): \(finding)")
    }
  }

  private func parts() throws -> [String] {
    let bytes = try MockStatusList("test", "A test.", nil, isJWT: true)
      .published(by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
    return String(decoding: bytes, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false).map(
      String.init)
  }

  private func finding(_ parts: [String]) -> RevocationFinding {
    fixture.finding(.mock(), Array(parts.joined(separator: ".").utf8), allowsJWT: true)
  }

  @Test func aTokenThatWasChangedAfterItWasSignedIsRefused() throws {
    let parts = try parts()
    #expect(finding(parts) == .good)
    let payload = try #require(Base64.decodeURLSafe(parts[1]))
    let longer = Base64.encodeURLSafe(payload + Array(" ".utf8))
    #expect(finding([parts[0], longer, parts[2]]).detail?.contains("does not verify") == true)
    #expect(finding([parts[0], parts[1], ""]).detail?.contains("does not verify") == true)
    #expect(finding([parts[0], parts[1], parts[2] + "="]).code == .statusListInvalid)
    #expect(finding([parts[0], parts[1]]).code == .statusListInvalid)
  }

  @Test func aTokenThatSaysItNeedsNoSignatureIsRefused() throws {
    let parts = try parts()
    let header = try #require(Base64.decodeURLSafe(parts[0]))
    for algorithm in ["none", "HS256", "RS256", "es256"] {
      let text = String(decoding: header, as: UTF8.self).replacing("\"ES256\"", with: "\"\(algorithm)\"")
      let changed = Base64.encodeURLSafe(Array(text.utf8))
      #expect(finding([changed, parts[1], ""]).detail?.contains("algorithm is not supported") == true)
    }
    let other = String(decoding: header, as: UTF8.self).replacing("\"ES256\"", with: "\"ES384\"")
    let mismatch = finding([Base64.encodeURLSafe(Array(other.utf8)), parts[1], parts[2]])
    #expect(mismatch.detail?.contains("does not go with the signer's key") == true)
  }
}

/// What may not be answered with good, and what may not make anybody wait.
@Suite struct RevocationAnswerTests {
  let fixture: StatusFixture
  let signer: Certificate

  init() throws {
    fixture = try StatusFixture()
    let issuer = try fixture.authority.certificateIssuer(.good)
    let made = try MockSigner(authority: fixture.authority, under: issuer, curve: .p256, at: fixture.now)
    signer = try Certificate(der: #require(try made.chain().first))
  }

  @Test func `a question about certificates with nobody above them is not answered with good`() async {
    let question = RevocationQuestion(.certificates, path: [signer])
    let evidence = await RevocationChecker(fetcher: StaticListFetcher()).evidence(for: [question], at: fixture.now)
    #expect(evidence.finding(for: question).code == .revocationSourceNotAllowed)
  }

  /// A publisher that takes its time.
  private final class SlowFetcher: ListFetcher {
    let asked = Locked(0)

    func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
      asked.withLock { $0 += 1 }
      try? await Task.sleep(for: .milliseconds(500))
      throw .unavailable("too slow")
    }
  }

  /// Both name one address, for two authorities: who asks at the same time shares the fetch.
  @Test func `the lists of a path are asked for at the same time`() async throws {
    let issuer = try fixture.authority.certificateIssuer(.notCA)
    let other = try Certificate(
      der: fixture.authority.anchorTemplate(.notCA, at: fixture.now).signed(by: issuer.key))
    let question = RevocationQuestion(.certificates, path: [signer, fixture.anchor, other])
    try #require(Set(CRLLink.links(of: question).map(\.source)).count == 2)
    let fetcher = SlowFetcher()
    let evidence = await RevocationChecker(fetcher: fetcher).evidence(for: [question], at: fixture.now)
    #expect(evidence.finding(for: question).code == .revocationUnavailable)
    #expect(fetcher.asked.withLock { $0 } == 1)
  }

  /// A list's signer is held to what a document's is held to: under an anchor that is none for tests, a test
  /// certificate signs nothing, whoever lists it.
  @Test func `a mock certificate signs no status under another authority's anchor`() throws {
    let issuer = try fixture.authority.certificateIssuer(.good)
    var template = try fixture.authority.anchorTemplate(.good, at: fixture.now)
    template[oid: MockCertificateMarker.oid] = nil
    let unmarked = try Certificate(der: template.signed(by: issuer.key))
    let bytes = try MockStatusList.good.published(by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
    for (anchor, isRead) in [(fixture.anchor, true), (unmarked, false)] {
      let source = StatusListSource(.mock(), anchor: anchor, furtherSigners: [fixture.anchor])
      let list = Result { () throws(ListFault) in try StatusListVerifier().read(bytes, from: source, at: fixture.now) }
      switch list {
      case .success: #expect(isRead)
      case .failure(let fault): #expect(!isRead && fault.detail.contains("made by the mock authority"), "\(fault)")
      }
    }
  }
}
