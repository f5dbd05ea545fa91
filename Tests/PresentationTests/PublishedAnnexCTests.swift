import Base
import Cryptography
import Mdoc
import TestSupport
import Testing
import Trust

@testable import Presentation

/// Published responses and transcripts of ISO/IEC TS 18013-7, Annex C.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedAnnexCTests {
  private struct Deterministic: Decodable {
    struct Expected: Decodable { let sessionTranscriptCborSha256Hex: HexBytes }
    let origin: String
    let encryptionInfoB64: String
    let encryptedResponseB64: String
    let recipientPrivateKeyHex: HexBytes
    let expected: Expected
  }
  private struct Transcript: Decodable {
    let encryptionInfo: String
    let origin: String
    let transcriptDigestHex: HexBytes
  }

  /// It opens, but holds no document.
  @Test func theDeterministicAnswerOpens() throws {
    let vector: Deterministic = try PublishedVectors.json("iso18013-7-annexC/ANNEXC-DETERMINISTIC-001.json")
    let verdict = try verify(vector, origin: vector.origin)
    #expect(verdict.report.checks.first { $0.code == .envelopeDecryptionFailed }?.outcome == .passed)
    #expect(!verdict.codes.isEmpty)
    let challenge = try challenge(vector, origin: vector.origin)
    let hash = HashAlgorithm.sha256.hash(challenge.transcript.encoded)
    #expect(hash == vector.expected.sessionTranscriptCborSha256Hex.bytes)
  }

  @Test func withATrailingSlashItDoesNotOpen() throws {
    let vector: Deterministic = try PublishedVectors.json("iso18013-7-annexC/ANNEXC-DETERMINISTIC-001.json")
    #expect(try verify(vector, origin: vector.origin + "/").codes == [.envelopeDecryptionFailed])
  }

  @Test func theTranscriptOfTheAgeVerificationProfileIsTheSame() throws {
    let vector: Transcript = try PublishedVectors.json("iso18013-7-annexC/eu-av-transcript-example.json")
    let transcript = AnnexCChallenge.transcript(
      encryptionInfo: .text(vector.encryptionInfo), origin: vector.origin)
    let expected = [0x83, 0xf6, 0xf6, 0x82, 0x65] + Array("dcapi".utf8) + [0x58, 0x20]
    #expect(transcript.encoded == expected + vector.transcriptDigestHex.bytes)
  }

  /// Their keys are not published, so they cannot be opened.
  @Test func publishedAnswersAreEncryptedResponses() throws {
    struct Answer: Decodable {
      struct Data: Decodable { let response: String }
      let data: Data
    }
    struct Profile: Decodable { let response: Answer.Data }
    let answer: Answer = try PublishedVectors.json("iso18013-7-annexC/vck-iso-response.json")
    let profile: Profile = try PublishedVectors.json("iso18013-7-annexC/eu-av-profile-example.json")
    for text in [answer.data.response, profile.response.response] {
      var checks = CheckList()
      let bytes = try #require(Base64.decodeURLSafe(text))
      #expect(EncryptedResponse(parsing: bytes, checks: &checks)?.ciphertext.isEmpty == false)
      #expect(!checks.hasFailed)
    }
  }

  private func challenge(_ vector: Deterministic, origin: String) throws -> AnnexCChallenge {
    try AnnexCChallenge(
      privateScalar: vector.recipientPrivateKeyHex.bytes, encryptionInfo: vector.encryptionInfoB64, origin: origin)
  }

  private func verify(_ vector: Deterministic, origin: String) throws -> Verdict {
    let answer = try #require(Base64.decodeURLSafe(vector.encryptedResponseB64))
    return AnnexC(verifier: MdocVerifier(trust: try MockSetup().trust)).authenticate(
      answer, answering: try challenge(vector, origin: origin), request: nil,
      at: Timestamp(secondsSince1970: 1_795_000_000)
    ).conclude()
  }
}
