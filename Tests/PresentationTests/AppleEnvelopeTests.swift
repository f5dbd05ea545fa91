import Base
import CBOR
import Cryptography
import Mdoc
import PKIX
import Testing

@testable import Mock
@testable import Presentation

/// The envelope's members, and the checks before it is opened.
@Suite struct AppleEnvelopeTests {
  private let setup: MockSetup
  private let merchant = AppleMerchant(merchantID: "merchant.example.shop", teamID: "ABCDE12345")
  private let nonce = [UInt8](100..<132)
  private let key: PrivateKey

  init() throws {
    setup = try MockSetup()
    key = try PrivateKey(generatingOn: .p256)
  }

  private func answer(nonce: [UInt8]? = nil) throws -> [UInt8] {
    let session = MockAppleSession(
      nonce: nonce ?? self.nonce, merchantID: merchant.merchantID, teamID: merchant.teamID, recipientKey: key.publicKey)
    return try setup.wallet.answerApple(.standard, session: session, at: setup.now).bytes
  }

  private func codes(_ change: (inout MapDraft) -> Void) throws -> [Code] {
    let item = try CBORItem(parsing: answer())
    var members = MapDraft(
      try #require(item.entries).map { (.text($0.key.text ?? ""), .encoded(Array($0.value.encoded))) })
    change(&members)
    let challenge = try AppleChallenge(nonce: nonce, merchantID: merchant.merchantID, teamID: merchant.teamID)
    return AppleInApp(verifier: MdocVerifier(trust: setup.trust), keys: [key])
      .authenticate(members.value.encoded(), answering: challenge, request: nil, at: setup.now).conclude().codes
  }

  @Test func `an algorithm that is no text is none, and hashes have 32 bytes`() throws {
    #expect(try codes { _ in } == [])
    #expect(try codes { $0["algorithm"] = .bytes(Array("APPLE-HPKE-v1".utf8)) } == [.envelopeMalformed])
    let item = try CBORItem(parsing: answer())
    let params = try #require(item[key: "params"]?.entries).map {
      (CBORValue.text($0.key.text ?? ""), CBORValue.encoded(Array($0.value.encoded)))
    }
    for (name, count) in [("pkRHash", 31), ("pkRHash", 33), ("infoHash", 31), ("infoHash", 33), ("infoHash", 0)] {
      var changed = MapDraft(params)
      changed[.text(name)] = .bytes([UInt8](repeating: 1, count: count))
      #expect(try codes { $0["params"] = changed.value } == [.envelopeMalformed], "\(name)")
    }
  }

  @Test func `only an answer to this key and this session has signature inputs`() throws {
    let challenge = try AppleChallenge(nonce: nonce, merchantID: merchant.merchantID, teamID: merchant.teamID)
    let inspection = AppleInspection(of: challenge, recipient: key.publicKey)
    #expect(try inspection.signatureInputs(of: answer(), key: key).count == 1)
    let other = try AppleInspection(of: challenge, recipient: PrivateKey(generatingOn: .p256).publicKey)
    let unknown = #expect(throws: AppleInspectionError.self) { try other.signatureInputs(of: answer(), key: key) }
    #expect(unknown?.code == .envelopeRecipientKeyUnknown)
    let late = #expect(throws: AppleInspectionError.self) {
      try inspection.signatureInputs(of: answer(nonce: [UInt8](0..<32)), key: key)
    }
    #expect(late?.code == .envelopeTranscriptMismatch)
  }

  @Test func `a merchant's certificate has its key, its name and its team`() throws {
    func problem(_ certified: PublicKey, merchant name: String?, team: String?) throws -> MerchantCertificateError? {
      var subject = CertificateName(country: "US", state: nil, organization: nil, commonName: "merchant")
      if let name { subject.attributes.append(("0.9.2342.19200300.100.1.1", DER.utf8String(name))) }
      if let team { subject.attributes.append(("2.5.4.11", DER.utf8String(team))) }
      let template = CertificateTemplate(
        issuer: subject, notBefore: setup.now - 1, notAfter: setup.now + 1, subject: subject,
        publicKeyInfo: SubjectPublicKeyInfo.der(of: certified), extensions: [])
      let certificate = try Certificate(der: template.signed(by: key))
      do throws(MerchantCertificateError) {
        _ = try MerchantCertificate(certificate, of: merchant, key: key.publicKey)
        return nil
      } catch {
        return error
      }
    }
    let (own, team) = (merchant.merchantID, merchant.teamID)
    #expect(try problem(key.publicKey, merchant: own, team: team) == nil)
    #expect(try problem(PrivateKey(generatingOn: .p256).publicKey, merchant: own, team: team) == .otherKey)
    #expect(try problem(key.publicKey, merchant: "merchant.b", team: team) == .otherMerchant("merchant.b"))
    #expect(try problem(key.publicKey, merchant: nil, team: team) == .otherMerchant(nil))
    #expect(try problem(key.publicKey, merchant: own, team: "FGHIJ") == .otherTeam("FGHIJ"))
  }
}
