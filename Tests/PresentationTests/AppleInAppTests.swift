import Base
import Cryptography
import Mdoc
import Presentation
import Testing

@testable import Mock

/// A rejected in-app response names a likely mistake; it remains rejected.
@Suite struct AppleMistakeTests {
  private let setup: MockSetup
  private let key: PrivateKey
  private let nonce = [UInt8](100..<132)
  private let own = AppleMerchant(merchantID: "merchant.example.shop", teamID: "ABCDE12345")

  init() throws {
    setup = try MockSetup()
    key = try PrivateKey(generatingOn: .p256)
  }

  /// The detail of the first failed check of a response that was made for a similar session.
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
    #expect(try detail(nonce: base64) == "infoHash belongs to a transcript with the nonce as its base64 text")
    #expect(
      try detail(nonce: Array(Hex.encode(nonce).utf8))
        == "infoHash belongs to a transcript with the nonce as hexadecimal text"
    )
  }

  @Test func `merchant and team swapped`() throws {
    let swapped = AppleMerchant(merchantID: own.teamID, teamID: own.merchantID)
    #expect(try detail(merchant: swapped) == "infoHash belongs to a transcript with merchant and team swapped")
  }

  @Test func `another of the relying party's merchants, and nobody else's`() throws {
    let other = AppleMerchant(merchantID: "merchant.example.bar", teamID: "ABCDE12345")
    #expect(try detail(merchant: other)?.hasPrefix("infoHash is not the hash of this session's transcript") == true)
    let said = try detail(merchant: other, others: .init(merchants: [other], keys: []))
    #expect(
      said == "infoHash belongs to a transcript with this relying party's other merchant merchant.example.bar "
        + "of team ABCDE12345")
  }

  @Test func `a key of another of the relying party's merchants`() throws {
    let other = try PrivateKey(generatingOn: .p256).publicKey
    #expect(
      try detail(recipient: other, is: .envelopeRecipientKeyUnknown)
        == "pkRHash does not match any of this merchant's 1 configured keys")
    let said = try detail(
      recipient: other, others: .init(merchants: [], keys: [other]), is: .envelopeRecipientKeyUnknown)
    #expect(said == "it is encrypted to the key of another merchant of this relying party")
  }

  @Test func `the hash of the SubjectPublicKeyInfo for the point's`() throws {
    let hash = HashAlgorithm.sha256.hash(PublicKey.p256InfoPrefix + setup.session.recipientKey.encoded)
    let variant = MockVariant(
      "spki", "", .init(Stages.envelope) { $0.nested("params") { $0["pkRHash"] = .bytes(hash) } })
    let verdict = try setup.verifyApple(variant)
    #expect(verdict.codes == [.envelopeRecipientKeyUnknown])
    #expect(verdict.report.checks.first { $0.outcome == .failed }?.detail?.contains("SubjectPublicKeyInfo") == true)
  }
}

/// The key material that opens one Apple response again, without the merchant's key.
@Suite struct AppleOpeningTests {
  @Test func `opens its own answer, to the same report`() throws {
    let setup = try MockSetup()
    let answer = try setup.answerApple()
    let opening = try #require(try setup.opening(of: answer))
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
    let opening = try #require(try setup.opening(of: setup.answerApple()))
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
    #expect(try other.opening(of: setup.answerApple()) == nil)
    let short = AppleOpening(serialized: SecretBytes(copying: [UInt8](repeating: 0, count: 32)))
    #expect(short == nil)
  }
}

/// The bytes of a challenge between request and response.
@Suite struct AppleChallengeTests {
  @Test func `is kept as JSON, and restored from it`() throws {
    let merchant = AppleMerchant(merchantID: "merchant.example.shop", teamID: "ABCDE12345")
    let challenge = try AppleChallenge(freshFor: merchant)
    let kept: JSON = [
      "nonce": .string(Hex.encode(challenge.nonce)), "merchant_id": "merchant.example.shop", "team_id": "ABCDE12345",
    ]
    #expect(challenge.serialized().exposed() == kept.serialized() && challenge.nonce.count == 32)
    guard let again = AppleChallenge(serialized: SecretBytes(copying: kept.serialized())) else {
      Issue.record("it is not read")
      return
    }
    #expect(again.nonce == challenge.nonce && again.merchant == merchant)
    for other: JSON in [[:], ["nonce": "00", "merchant_id": "m", "team_id": "t"], "text"] {
      if AppleChallenge(serialized: SecretBytes(copying: other.serialized())) != nil { Issue.record("\(other.text())") }
    }
  }
}

/// The values that an app must pass to `PKIdentityRequest`.
@Suite struct AppleRequestTests {
  private func request(_ elements: [(String, Retention)], ageOver: [Int] = []) -> PresentationRequest {
    PresentationRequest(documents: [
      DocumentRequest(
        docType: DocType.mDL,
        elements: elements.map { ElementRequest(ElementReference(Namespace.mDL, $0.0), retention: $0.1) },
        ageOver: ageOver)
    ])
  }

  @Test func `says of each element whether and for how long it may be stored, beside the names`() throws {
    let asked = request(
      [
        ("given_name", .none), ("portrait", .days(7)), ("document_number", .unspecified), ("age_over_18", .days(30)),
      ], ageOver: [21])
    let document = try AppleRequest(asked).json(nonce: [1], merchantID: "m")["documents"]?.array?.first
    #expect(
      document?["elements"] == ["givenName", "portrait", "documentNumber", "age(atLeast: 18)", "age(atLeast: 21)"])
    #expect(
      document?["element_intents"] == [
        ["element": "givenName", "intent_to_store": "will_not_store"],
        ["element": "portrait", "intent_to_store": "may_store", "days": 7],
        ["element": "documentNumber", "intent_to_store": "may_store"],
        ["element": "age(atLeast: 18)", "intent_to_store": "may_store", "days": 30],
        ["element": "age(atLeast: 21)", "intent_to_store": "will_not_store"],
      ])
  }

  @Test(arguments: [Retention.none, .days(8), .unspecified])
  func `one of Apple's elements has one intent`(other: Retention) {
    // Both are within `address`.
    let mixed = request([("portrait", .none), ("resident_city", .days(7)), ("resident_address", other)])
    #expect(throws: AppleRequestError.mixedIntents(document: 0, element: 2)) { try AppleRequest(mixed) }
  }

  @Test func `what an app can't ask for is no request`() throws {
    #expect(throws: AppleRequestError.ageInYearsWithThresholds(document: 0)) {
      try AppleRequest(request([("age_in_years", .none)], ageOver: [21]))
    }
    var two = request([("given_name", .none)])
    two.documents += [DocumentRequest(docType: DocType.photoID, elements: [])]
    #expect(try AppleRequest(two).documents.count == 2)
    two.requiresAllDocuments = true
    #expect(throws: AppleRequestError.severalDocumentsRequired) { try AppleRequest(two) }
  }

  @Test func `one intent for all of them is fine`() throws {
    let same = request([("resident_city", .days(7)), ("resident_address", .days(7))])
    #expect(try AppleRequest(same).documents.first?.elements.map(\.name) == ["address"])
  }
}
