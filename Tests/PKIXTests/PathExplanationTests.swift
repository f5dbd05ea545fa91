import Base
import Cryptography
import PKIX
import Testing

@testable import Mock

/// The reasons why a chain leads to one anchor and to no other.
@Suite struct PathExplanationTests {
  let maker: CertificateMaker

  init() throws { maker = try CertificateMaker() }

  private func explain(_ chain: [[UInt8]], _ anchors: [TrustAnchor], at now: Timestamp? = nil) -> PathExplanation {
    PathValidator(anchors: anchors, allowsTestCertificates: false)
      .explain(
        chain: chain.map { $0[...] }, docType: CertificateMaker.docType, at: now ?? maker.now, skew: 0)
  }

  @Test func `It finds what an evaluation finds, and names each anchor once, the chosen one first`() throws {
    let other = try CertificateMaker(named: "other").anchor()
    let good = try maker.anchor()
    let explanation = explain([try maker.signer()], [other, good])
    #expect(explanation.evaluation.isTrusted)
    #expect(explanation.candidates.map(\.isChosen) == [true, false])
    #expect(explanation.candidates.map(\.anchor.certificate.sha256) == [good, other].map(\.certificate.sha256))
    #expect(explanation.candidates.map(\.obstacles) == [[], [.nameDiffers, .keyIdentifierDiffers]])
  }

  @Test func `Of one authority anchored twice, the second would do as well or says what is in its way`() throws {
    var first = try maker.anchor()
    first.source = "first"
    var second = first
    second.source = "second"
    var third = first
    third.docTypes = ["other"]
    let explanation = explain([try maker.signer()], [first, second, third])
    #expect(explanation.candidates.map(\.isChosen) == [true, false, false])
    #expect(
      explanation.candidates.map { $0.obstacles.map(\.name) }
        == [[], [], [Code.issuerNotTrustedForDocType.rawValue]])
  }

  @Test func `An authority of the same name and identifier, but another key, has not signed`() throws {
    let impostor = try CertificateMaker().anchor {
      $0.extensions.removeAll { $0.oid == "2.5.29.14" }
    }
    let explanation = explain([try maker.signer()], [impostor])
    #expect(
      explanation.candidates.map { $0.obstacles.map(\.name) } == [[Code.certificateSignatureInvalid.rawValue]])
  }

  @Test func `A pinned signer is no other, and is itself`() throws {
    let signer = try maker.signer()
    let pinned = TrustAnchor(
      certificate: try Certificate(der: signer), kind: .documentSigner, docTypes: [CertificateMaker.docType])
    #expect(explain([signer], [pinned]).candidates.map(\.obstacles) == [[]])
    #expect(explain([try maker.signer()], [pinned]).candidates.map(\.obstacles) == [[.otherSigner]])
  }

  @Test func `A root that comes with the chain is not asked, but what it has certified is`() throws {
    let root = try maker.rootTemplate().signed(by: maker.root.key)
    let other = try CertificateMaker(named: "other").anchor()
    let explanation = explain([try maker.signer(), root], [other])
    #expect(explanation.candidates.map(\.obstacles) == [[.nameDiffers, .keyIdentifierDiffers]])
    #expect(explain([root], [other]).candidates.map(\.obstacles) == [[.ownRoot]])
  }

  @Test func `A chain that can't be read is so under every anchor`() throws {
    let explanation = explain([[0x30]], [try maker.anchor()])
    #expect(explanation.chain.isEmpty && explanation.evaluation.anchor == nil)
    #expect(
      explanation.candidates.map(\.obstacles) == [
        [.check(Check(.certificateMalformed, .failed, detail: "certificate 1 is not valid DER"))]
      ])
    #expect(explain([], [try maker.anchor()]).candidates.map(\.isChosen) == [false])
  }

  @Test func `Every obstacle has a name and a sentence of its own`() {
    let all: [PathObstacle] = [
      .ownRoot, .nameDiffers, .keyIdentifierDiffers, .signatureDiffers, .otherSigner,
      .check(Check(.certificateExpired, .failed, detail: "which")),
    ]
    #expect(Set(all.map(\.name)).count == all.count && Set(all.map(\.summary)).count == all.count)
    #expect(all.last?.name == "trust.certificate.expired" && all.last?.summary.hasSuffix(": which") == true)
  }
}
