import Base
import Cryptography
import Mdoc
import Presentation
import Testing

@testable import Mock

/// A refused in-app answer says which mistake would have made it; it stays refused.
@Suite struct AppleMistakeTests {
  private let setup: MockSetup
  private let key: PrivateKey
  private let nonce = [UInt8](100..<132)
  private let own = AppleMerchant(merchantID: "merchant.example.shop", teamID: "ABCDE12345")

  init() throws {
    setup = try MockSetup()
    key = try PrivateKey(generatingOn: .p256)
  }

  /// The detail of the first failed check of an answer that was made for a session like this.
  private func detail(
    nonce: [UInt8]? = nil, merchant: AppleMerchant? = nil, recipient: PublicKey? = nil,
    others: AppleInApp.Others = .none,
    is code: Code = .envelopeTranscriptMismatch
  ) throws -> String? {
    let merchant = merchant ?? own
    let session = MockAppleSession(
      nonce: nonce ?? self.nonce, merchantID: merchant.merchantID, teamID: merchant.teamID,
      recipientKey: recipient ?? key.publicKey)
    let answer = try setup.wallet.answerApple(.standard, session: session, at: setup.now).bytes
    let challenge = try AppleChallenge(nonce: self.nonce, merchantID: own.merchantID, teamID: own.teamID)
    let verdict = AppleInApp(verifier: MdocVerifier(trust: setup.trust), keys: [key], others: others)
      .authenticate(answer, answering: challenge, request: nil, at: setup.now).conclude()
    guard case .refused(let reasons) = verdict.outcome else {
      Issue.record("accepted")
      return nil
    }
    #expect(reasons.map(\.code) == [code])
    return verdict.report.checks.first { $0.outcome == .failed }?.detail
  }

  @Test func `the nonce as text`() throws {
    let base64 = Array(Base64.encode(nonce).utf8)
    #expect(try detail(nonce: base64) == "it answers the nonce as its base64 text")
    #expect(try detail(nonce: Array(Hex.encode(nonce).utf8)) == "it answers the nonce as hexadecimal text")
  }

  @Test func `merchant and team swapped`() throws {
    let swapped = AppleMerchant(merchantID: own.teamID, teamID: own.merchantID)
    #expect(try detail(merchant: swapped) == "it answers merchant and team swapped")
  }

  @Test func `another of the relying party's merchants, and nobody else's`() throws {
    let other = AppleMerchant(merchantID: "merchant.example.bar", teamID: "ABCDE12345")
    #expect(try detail(merchant: other) == nil)
    let said = try detail(merchant: other, others: .init(merchants: [other], keys: []))
    #expect(said == "it answers another of this relying party's merchants, merchant.example.bar of team ABCDE12345")
  }

  @Test func `a key of another of the relying party's merchants`() throws {
    let other = try PrivateKey(generatingOn: .p256).publicKey
    #expect(try detail(recipient: other, is: .envelopeRecipientKeyUnknown) == nil)
    let said = try detail(
      recipient: other, others: .init(merchants: [], keys: [other]), is: .envelopeRecipientKeyUnknown)
    #expect(said == "it is encrypted to a key of another of this relying party's merchants")
  }

  @Test func `the hash of the SubjectPublicKeyInfo for the point's`() throws {
    let hash = HashAlgorithm.sha256.hash(PublicKey.p256InfoPrefix + setup.session.recipientKey.encoded)
    let variant = MockVariant("spki", "", .envelope { $0.nested("params") { $0["pkRHash"] = .bytes(hash) } })
    let verdict = try setup.verifyApple(variant)
    #expect(verdict.codes == [.envelopeRecipientKeyUnknown])
    #expect(verdict.report.checks.first { $0.outcome == .failed }?.detail?.contains("SubjectPublicKeyInfo") == true)
  }
}
