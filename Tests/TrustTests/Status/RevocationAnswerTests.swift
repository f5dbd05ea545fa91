import Base
import Mdoc
import PKIX
import Testing

@testable import Mock
@testable import Trust

/// What may not be answered with good, and what may not make anybody wait.
@Suite struct RevocationAnswerTests {
  let fixture: StatusFixture
  let signer: Certificate

  init() throws {
    fixture = try StatusFixture()
    let issuer = try fixture.authority.certificateIssuer(.good)
    let made = try DocumentSigner(authority: fixture.authority, under: issuer, curve: .p256, at: fixture.now)
    signer = try Certificate(der: #require(try made.chain().first))
  }

  @Test func `a question about certificates with nobody above them is not answered with good`() async {
    let question = RevocationQuestion(.certificates, path: [signer])
    let evidence = await RevocationChecker(fetcher: KeptLists()).evidence(for: [question], at: fixture.now)
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

  /// In live mode a list's signer is held to what a document's is held to.
  @Test func `a mock certificate signs no status in live mode, whoever lists it`() throws {
    var anchor = TrustAnchor(certificate: fixture.anchor)
    anchor.statusSigners = [fixture.anchor]
    for (allowed, count) in [(true, 1), (false, 0)] {
      let store = try TrustStore(anchors: [anchor], allowsTestCertificates: allowed)
      #expect(store.anchors.first?.statusSigners.count == count)
    }
  }
}
