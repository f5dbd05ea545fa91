import Base
import Mdoc
import PKIX
import Presentation
import Testing
import Trust

@testable import Mock

/// A signer that is itself the anchor, whose certificate names a revocation list that nobody at hand can have signed.
@Suite struct PinnedRevocationTests {
  @Test(
    arguments: [
      (.requireGood, [.crlInvalid]), (.allowUndetermined, []), (.off, []),
    ] as [(RevocationPolicy, [Code])])
  func `what its issuer lists is undetermined, not undeclared`(_ policy: RevocationPolicy, _ codes: [Code]) throws {
    let attack = try Attack()
    let issuer = try attack.authority.certificateIssuer(.good)
    let signer = try DocumentSigner(authority: attack.authority, under: issuer, curve: .p256, at: attack.now)
    let certificate = try Certificate(der: #require(try signer.chain().first))
    try #require(certificate.extensions.crlDistributionPoints != nil)
    let trust = try TrustStore(
      anchors: [TrustAnchor(certificate: certificate, kind: .documentSigner)], allowsTestCertificates: true)
    let verdict = Proximity(verifier: MdocVerifier(trust: trust, revocation: policy)).authenticate(
      try attack.response(.none), transcript: attack.transcript, readerKey: nil, request: Attack.request,
      at: attack.now
    ).conclude()
    #expect(verdict.report.reasons.map(\.code) == codes)
    let status = verdict.accepted?.documents.first?.revocation
    #expect(status == (policy == .requireGood ? nil : policy == .off ? .notRun : .undetermined))
  }
}
