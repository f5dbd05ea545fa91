import Base
import CBOR
import Cryptography
import Mdoc
import TestSupport
import Testing

@testable import Presentation

/// A device signature over another transcript is rejected, and the report names that transcript.
@Suite struct OpenID4VPMistakeTests {
  let fixture: OpenID4VPFixture
  private var nonce: String { OpenID4VPFixture.nonce }
  private var thumbprint: CBORValue { .bytes(PresentationTests.thumbprint(of: fixture.key.publicKey)) }

  init() throws { fixture = try OpenID4VPFixture() }

  @Test func pagesThatTheAnswerIsNotForAreNamed() throws {
    for origin in [
      "https://www.shop.example", "https://shop.example/", "web-origin:https://shop.example",
      "origin:https://shop.example",
    ] {
      let transcript = OpenID4VPRecipient.origin(origin).transcript(nonce: nonce, thumbprint: thumbprint)
      try expect("the device signed for the origin \(origin)", over: transcript, as: OpenID4VPFixture.page)
    }
  }

  @Test func clientsThatTheAnswerIsNotForAreNamed() throws {
    guard case .client(let id, let uri) = OpenID4VPFixture.server else { return }
    for other in ["x509_hash:abc", "abc", "verifier.example", "redirect_uri:" + uri, uri] {
      let transcript = OpenID4VPRecipient.client(id: other, responseURI: uri)
        .transcript(nonce: nonce, thumbprint: thumbprint)
      try expect("the device signed for the client_id \(other)", over: transcript, as: OpenID4VPFixture.server)
    }
    let hashed = OpenID4VPRecipient.client(id: "x509_hash:abc", responseURI: uri)
    let named = OpenID4VPRecipient.client(id: "x509_san_dns:verifier.example", responseURI: uri)
    let verdict = fixture.verify(
      try fixture.encrypt(
        fixture.parameters(
          fixture.token(over: named.transcript(nonce: nonce, thumbprint: thumbprint)), state: OpenID4VPFixture.state)),
      as: hashed)
    #expect(detail(verdict) == "the device signed for the client_id x509_san_dns:verifier.example")
    let slashed = OpenID4VPRecipient.client(id: id, responseURI: uri + "/")
    try expect(
      "the device signed for the response_uri \(uri)/",
      over: slashed.transcript(nonce: nonce, thumbprint: thumbprint), as: OpenID4VPFixture.server)
  }

  @Test(arguments: [OpenID4VPFixture.page, OpenID4VPFixture.server])
  func aHandoverWithoutTheThumbprintIsNamed(recipient: OpenID4VPRecipient) throws {
    try expect(
      "the device signed for a response that is not encrypted, without the key's thumbprint",
      over: recipient.transcript(nonce: nonce, thumbprint: nil), as: recipient)
    let text = Base64.encodeURLSafe(PresentationTests.thumbprint(of: fixture.key.publicKey))
    try expect(
      "the device signed for the key's thumbprint as text",
      over: recipient.transcript(nonce: nonce, thumbprint: .text(text)), as: recipient)
  }

  @Test func otherHandoversAreNamed() throws {
    let page = OpenID4VPRecipient.origin("https://verifier.example")
    try expect(
      "the device signed for the handover of the Digital Credentials API",
      over: page.transcript(nonce: nonce, thumbprint: thumbprint), as: OpenID4VPFixture.server)
    let redirect = OpenID4VPRecipient.client(id: "x509_hash:abc", responseURI: "https://shop.example")
    try expect(
      "the device signed for the handover of redirects",
      over: redirect.transcript(nonce: nonce, thumbprint: thumbprint), as: OpenID4VPFixture.page)
    for id in ["x509_hash:abc", "web-origin:https://shop.example"] {
      let draft = OpenID4VPRecipient.transcript(
        "OpenID4VPDCAPIHandover", ["https://shop.example", .text(id), .text(nonce)])
      try expect(
        "the device signed for the handover of OpenID4VP's draft 24", over: draft, as: OpenID4VPFixture.page)
    }
  }

  @Test func theHandoverOfAnnexBIsNamedWhereTheHeaderHasItsNonce() throws {
    guard case .client(_, let uri) = OpenID4VPFixture.server else { return }
    let transcript = AnnexB.transcript(
      clientID: "verifier.example", responseURI: uri, nonce: nonce, mdocNonce: "1234567890abcdefgh")
    let parameters = fixture.parameters(
      try fixture.token(over: transcript), state: OpenID4VPFixture.state)
    let response = try fixture.encrypt(parameters) {
      $0["apu"] = .string(Base64.encodeURLSafe("1234567890abcdefgh".utf8))
    }
    let verdict = fixture.verify(response, as: OpenID4VPFixture.server)
    #expect(verdict.codes == [.deviceSignatureInvalid])
    #expect(detail(verdict) == "the device signed for the handover of ISO/IEC TS 18013-7, Annex B")
  }

  @Test func aMACIsExplainedAsWell() throws {
    let transcript = OpenID4VPFixture.page.transcript(nonce: nonce, thumbprint: nil)
    let bytes = try fixture.deviceResponse(
      over: transcript, authentication: .mac(readerKey: fixture.key.publicKey))
    let token: JSON = ["document_0": [.string(Base64.encodeURLSafe(bytes))]]
    let verdict = fixture.verify(try fixture.encrypt(fixture.parameters(token)))
    #expect(verdict.codes == [.deviceMacInvalid])
    #expect(detail(verdict)?.hasPrefix("the device signed for a response that is not encrypted") == true)
  }

  /// Otherwise a response of many documents with keys on the slowest curve would cause thousands of verifications.
  @Test func theFirstDocumentAloneIsExplained() throws {
    let fixture = try OpenID4VPFixture(request: OpenID4VPFixture.bothDocuments)
    let thumbprint = CBORValue.bytes(PresentationTests.thumbprint(of: fixture.key.publicKey))
    let transcript = OpenID4VPRecipient.origin("https://www.shop.example")
      .transcript(nonce: nonce, thumbprint: thumbprint)
    func presentation(_ document: DocumentRequest) throws -> JSON {
      [.string(Base64.encodeURLSafe(try fixture.deviceResponse(document, over: transcript)))]
    }
    let verdict = fixture.verify(
      try fixture.encrypt(
        fixture.parameters([
          "document_0": try presentation(OpenID4VPFixture.mDL),
          "document_1": try presentation(OpenID4VPFixture.photoID),
        ])))
    #expect(verdict.codes == [.deviceSignatureInvalid, .deviceSignatureInvalid])
    let details = verdict.report.documents.map { document in
      document.checks.first { $0.outcome == .failed }?.detail
    }
    #expect(details[0] == "the device signed for the origin https://www.shop.example")
    #expect(details[1]?.contains("the signature does not verify with the device key") == true)
  }

  /// Another nonce, key or stranger's origin has no explanation, and no report shows a nonce or a key.
  @Test func whatIsNotKnownIsNotExplained() throws {
    let page = OpenID4VPFixture.page
    let others = [
      page.transcript(nonce: "another", thumbprint: thumbprint),
      page.transcript(nonce: nonce, thumbprint: .bytes([UInt8](repeating: 1, count: 32))),
      OpenID4VPRecipient.origin("https://evil.example").transcript(nonce: nonce, thumbprint: thumbprint),
    ]
    let words =
      "alg (label 1) is ES256 (-7), and the signature does not verify with the device key, on P-256, over this"
    for transcript in others { try expect(words + " session's transcript", over: transcript, as: page) }
  }

  private func expect(
    _ detail: String?, over transcript: SessionTranscript, as recipient: OpenID4VPRecipient,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let state: String? = if case .client = recipient { OpenID4VPFixture.state } else { nil }
    let parameters = fixture.parameters(try fixture.token(over: transcript), state: state)
    let verdict = fixture.verify(try fixture.encrypt(parameters), as: recipient)
    #expect(verdict.codes == [.deviceSignatureInvalid], sourceLocation: sourceLocation)
    #expect(self.detail(verdict) == detail, sourceLocation: sourceLocation)
  }

  private func detail(_ verdict: Verdict) -> String? {
    verdict.report.documents.first?.checks.first { $0.outcome == .failed }?.detail
  }
}
