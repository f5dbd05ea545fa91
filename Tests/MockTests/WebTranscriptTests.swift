import Base
import Cryptography
import Mock
import Testing

/// The transcripts that OpenID4VP 1.0, B.2.6 and the EU age-verification profile print, and draft 18's.
@Suite struct WebTranscriptTests {
  private let nonce = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA"
  private let thumbprint = Hex.decode("4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047")

  @Test func `the printed handover of a redirect`() {
    let transcript = MockSessionTranscript.openID4VP(
      clientID: "x509_san_dns:example.com", nonce: nonce, thumbprint: thumbprint,
      responseURI: "https://example.com/response")
    #expect(
      Hex.encode(transcript)
        == "83f6f682714f70656e494434565048616e646f7665725820048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722aad38ac"
    )
  }

  @Test func `the printed handover of the Digital Credentials API`() {
    let transcript = MockSessionTranscript.openID4VP(
      origin: "https://example.com", nonce: nonce, thumbprint: thumbprint)
    #expect(
      Hex.encode(transcript) == "83f6f682764f70656e4944345650444341504948616e646f7665725820"
        + "fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a")
  }

  @Test func `without encryption the thumbprint is null`() {
    let transcript = MockSessionTranscript.openID4VP(origin: "https://example.com", nonce: nonce, thumbprint: nil)
    #expect(
      Hex.encode(transcript.suffix(32)) == "3563b629e28bf0a736c6ba6faacb60a9cd3074e51416a04565031d8690638c43")
  }

  /// RFC 7638 over the key that the specification prints: the wallet makes the thumbprint from the request alone.
  @Test func `the wallet's transcript has the thumbprint of the request's key`() throws {
    let fixture = try WebFixture()
    let point = try #require(fixture.session.encryptionKey.publicKey.coordinates)
    let canonical =
      #"{"crv":"P-256","kty":"EC","x":"\#(Base64.encodeURLSafe(point.x))","y":"\#(Base64.encodeURLSafe(point.y))"}"#
    let thumbprint = HashAlgorithm.sha256.hash(Array(canonical.utf8))
    #expect(
      try fixture.answer(.init(protocolName: "openid4vp-v1-multisigned")).sessionTranscript
        == MockSessionTranscript.openID4VP(
          origin: fixture.session.origin, nonce: fixture.session.nonceText, thumbprint: thumbprint))
    #expect(
      try fixture.answer(.init(protocolName: "openid4vp")).sessionTranscript
        == MockSessionTranscript.openID4VP(
          clientID: "x509_san_dns:shop.example", nonce: fixture.session.nonceText, thumbprint: thumbprint,
          responseURI: fixture.session.responseURI))
  }
}
