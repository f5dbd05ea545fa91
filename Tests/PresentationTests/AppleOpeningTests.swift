import Base
import Cryptography
import Mdoc
import Presentation
import Testing

/// What opens one Apple answer again, without the merchant's key.
@Suite struct AppleOpeningTests {
  @Test func `opens its own answer, to the same report`() throws {
    let setup = try MockSetup()
    let answer = try setup.answerApple()
    let opening = try #require(setup.opening(of: answer))
    let read = AppleOpening(serialized: opening.serialized)
    let again = try #require(read)
    let verdict = try setup.verifyApple(answer, opening: again)
    #expect(try verdict.report == setup.verifyApple(answer).report)
    guard case .accepted = verdict.outcome else {
      Issue.record("not accepted")
      return
    }
  }

  @Test func `opens no other answer`() throws {
    let setup = try MockSetup()
    let other = try MockSetup()
    let opening = try #require(setup.opening(of: setup.answerApple()))
    let foreign = try setup.verifyApple(other.answerApple(), opening: opening)
    #expect(foreign.report.reasons.first?.code == .envelopeRecipientKeyUnknown)
    // To the same key, by another encapsulation.
    var bytes = opening.serialized.exposed()
    bytes[bytes.count - 1] ^= 1
    let spoilt = AppleOpening(serialized: SecretBytes(copying: bytes))
    let wrong = try #require(spoilt)
    #expect(
      try setup.verifyApple(setup.answerApple(), opening: wrong).report.reasons.first?.code
        == .envelopeDecryptionFailed)
    #expect(other.opening(of: try setup.answerApple()) == nil)
    let short = AppleOpening(serialized: SecretBytes(copying: [UInt8](repeating: 0, count: 32)))
    #expect(short == nil)
  }
}
