import Base
import Cryptography
import Mdoc
import PKIX
import Testing

@testable import Mock
@testable import Trust

/// Every variant of the mock authority's lists gives its announced finding.
@Suite struct MockListTests {
  @Test(arguments: (MockList.all(.status) + MockList.all(.identifiers)).map(\.name))
  func aListIsFoundToBeWhatItIs(name: String) throws {
    let list = try #require(MockList.named(name))
    let finding = try StatusFixture().finding(list)
    #expect(finding.code == list.code, "\(finding)")
  }

  /// Each of them is rejected for its own fault, not for an earlier check.
  private static let reasons: KeyValuePairs<String, String> = [
    "other-subject": "sub is not", "without-subject": "sub is missing", "expired": "expired",
    "without-expiry": "exp is missing", "future": "issued in the future", "without-date": "iat is missing",
    "not-before": "not yet valid", "ttl-zero": "ttl is", "bad-signature": "signature does not verify",
    "unsigned": "signature does not verify", "payload-changed": "signature does not verify", "detached": "detached",
    "cwt-tag": "tag 18", "untagged": "tag 18", "claims-no-map": "are not a map", "wrong-type": "the type",
    "without-type": "the type", "type-unprotected": "the type", "other-mechanism": "the type",
    "algorithm-rs256": "algorithm is not supported", "algorithm-other-curve": "does not fit the signer's key",
    "critical-header": "critical", "without-chain": "names no signer", "chain-unprotected": "names no signer",
    "other-root": "no anchor", "other-anchor": "no anchor", "other-key": "signature does not verify",
    "certificate-other": "no anchor", "certificate-malformed": "is malformed", "signer-reader": "extKeyUsage",
    "signer-expired": "has expired at", "signer-key-usage": "keyUsage", "signer-is-root": "with the CA flag",
  ]

  @Test func everyWrongTokenIsRefusedForWhatIsWrongWithIt() throws {
    let fixture = try StatusFixture()
    let names = [MockList.Kind.status, .identifiers].map { kind in
      Set(MockList.all(kind).map { $0.name.dropFirst(kind.rawValue.count + 1) })
    }
    let own: Set<Substring> = ["revoked", "short-type", "without-list"]
    #expect(Set(Self.reasons.map { $0.key[...] }) == names[0].intersection(names[1]).subtracting(own))
    for (name, reason) in Self.reasons {
      for kind in ["status", "identifiers"] {
        let finding = try fixture.finding(#require(MockList.named("\(kind)-\(name)")))
        #expect(finding.detail?.contains(reason) == true, "\(name): \(finding)")
      }
    }
  }

  @Test(arguments: Curve.allCases.filter { $0.family != .montgomery })
  func listsAreSignedOnEveryCurve(curve: Curve) throws {
    let fixture = try StatusFixture(curve: curve)
    #expect(try fixture.finding(MockList.good(.status)) == .good)
    #expect(try fixture.finding(#require(MockList.named("status-revoked"))).code == .documentRevoked)
    #expect(try fixture.finding(#require(MockList.named("status-jwt"))) == .good)
  }

  @Test func namesAreUniqueAndSummariesSentences() {
    let all =
      MockList.all(.status).map { ($0.name, $0.summary) } + MockList.all(.identifiers).map { ($0.name, $0.summary) }
    #expect(Set(all.map(\.0)).count == all.count)
    for (name, summary) in all {
      #expect(summary.hasSuffix("."), "\(name)")
      #expect(name.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }, "\(name)")
    }
  }

  @Test func everyRowOfTheNegativeCasesHasAList() {
    let covered = Set(MockList.all(.status).flatMap(\.cases) + MockList.all(.identifiers).flatMap(\.cases))
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
    "signer-expired": "has expired at", "signer-key-usage": "keyUsage", "signer-is-root": "with the CA flag",
  ]

  @Test func everyWrongTokenIsRefusedForWhatIsWrongWithIt() throws {
    for (name, reason) in Self.reasons {
      var list = try #require(MockList.named("status-\(name)"))
      list.isJWT = true
      let finding = try fixture.finding(list)
      #expect(finding.code == .statusListInvalid)
      #expect(finding.detail?.contains(reason) == true, "\(name): \(finding)")
    }
  }

  private func parts() throws -> [String] {
    let bytes = try #require(MockList.named("status-jwt"))
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
    #expect(mismatch.detail?.contains("does not fit the signer's key") == true)
  }
}

/// Statuses that must not be good, and publishers that must not delay callers.
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

  /// A slow publisher.
  private final class SlowFetcher: ListFetcher {
    let asked = Locked(0)

    func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
      asked.withLock { $0 += 1 }
      try? await Task.sleep(for: .milliseconds(500))
      throw .unavailable("too slow")
    }
  }

  /// Both name one address, for two authorities: concurrent callers share the fetch.
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

  /// A list's signer must meet the rules for a document's signer: except under a test anchor, a test certificate is not
  /// accepted, regardless of its list.
  @Test func `a mock certificate signs no status under another authority's anchor`() throws {
    let issuer = try fixture.authority.certificateIssuer(.good)
    var template = try fixture.authority.anchorTemplate(.good, at: fixture.now)
    template[oid: MockCertificateMarker.oid] = nil
    let unmarked = try Certificate(der: template.signed(by: issuer.key))
    let bytes = try MockList.good(.status).published(by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
    for (anchor, isRead) in [(fixture.anchor, true), (unmarked, false)] {
      let source = StatusListSource(.mock(), anchor: anchor, furtherSigners: [fixture.anchor])
      let list = Result { () throws(RevocationListError) in
        try StatusListVerifier().read(bytes, from: source, at: fixture.now)
      }
      switch list {
      case .success: #expect(isRead)
      case .failure(let fault): #expect(!isRead && fault.detail.contains("made by the mock authority"), "\(fault)")
      }
    }
  }
}
