import Base
import Cryptography
import Mdoc
import Mock
import PKIX
import Presentation
import Testing
import Trust

/// Every wrong variant of the mock wallet is rejected with exactly its announced codes, and every right variant
/// verifies. The mock shares no parser with the verifier.
@Suite struct MockVariantTests {
  static let inApp = MockVariant.all.filter {
    [.anyProtocol, .appleInApp, .withoutReaderKey].contains($0.applicability) && $0.request.documents.count == 1
  }
  static let proximity = MockVariant.all.filter {
    [.anyProtocol, .notAppleInApp, .withoutReaderKey].contains($0.applicability) && $0.request.documents.count == 1
  }
  static let mac = MockVariant.all.filter { $0.applicability == .deviceMAC }

  let setup: MockSetup

  init() throws { setup = try MockSetup() }

  @Test(arguments: inApp.map(\.name))
  func appleAnswersGiveTheirCodes(name: String) throws {
    let variant = try #require(MockVariant.named(name))
    try expect(setup.verifyApple(variant), variant)
  }

  @Test(arguments: proximity.map(\.name))
  func responsesWithSignaturesGiveTheirCodes(name: String) throws {
    let variant = try #require(MockVariant.named(name))
    try expect(setup.verifyProximity(variant, readerKey: nil), variant)
  }

  @Test(arguments: mac.map(\.name))
  func responsesWithMacsGiveTheirCodes(name: String) throws {
    let variant = try #require(MockVariant.named(name))
    let readerKey = try PrivateKey(generatingOn: .p256)
    try expect(setup.verifyProximity(variant, readerKey: readerKey), variant)
  }

  private func expect(_ verdict: Verdict, _ variant: MockVariant) throws {
    let name = Comment(rawValue: variant.name)
    #expect(Set(verdict.codes) == Set(variant.codes), name)
    #expect(verdict.codes.first == variant.codes.first, name)
    let warnings = (verdict.report.checks + verdict.report.documents.flatMap(\.checks)).filter {
      $0.outcome == .warning
    }
    if variant.codes.isEmpty {
      guard case .accepted = verdict.outcome else {
        Issue.record("\(variant.name) is refused")
        return
      }
      #expect(Set(warnings.map(\.code)) == Set(variant.warnings), name)
    }
  }
}

/// A mock authority, everything that a verifier in test mode trusts, and one session.
struct MockSetup {
  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let authority: MockAuthority
  let wallet: MockWallet
  let trust: TrustStore
  private let key: PrivateKey

  init(documents: [MockDocumentData] = MockPerson.documents) throws {
    authority = try MockAuthority(seed: Array("mdoc tests".utf8))
    wallet = MockWallet(authority: authority, documents: documents)
    let anchors = try authority.anchors(at: now).map { anchor in
      TrustAnchor(
        certificate: try Certificate(der: anchor.certificate), docTypes: anchor.docTypes,
        extendedKeyUsages: Set(anchor.extendedKeyUsages), maxPathLength: anchor.maxPathLength, tier: .test)
    }
    trust = try TrustStore(anchors: anchors, allowsTestCertificates: true)
    key = try PrivateKey(generatingOn: .p256)
  }

  var session: MockAppleSession {
    MockAppleSession(
      nonce: Array(0..<32), merchantID: "merchant.example.shop", teamID: "ABCDE12345", recipientKey: key.publicKey)
  }

  func answerApple(_ variant: MockVariant = .good, request: MockRequest = .standard) throws -> [UInt8] {
    try wallet.answerApple(request, session: session, variant: variant, at: now).bytes
  }

  func verifyApple(
    _ answer: [UInt8], request: MockRequest = .standard, publishedKey: AppleInApp.PublishedKeyPolicy = .refuse
  ) throws -> Verdict {
    let challenge = try AppleChallenge(nonce: Array(0..<32), merchantID: session.merchantID, teamID: session.teamID)
    let apple = AppleInApp(verifier: MdocVerifier(trust: trust), keys: [key], publishedKey: publishedKey)
    return apple.authenticate(answer, answering: challenge, request: PresentationRequest(request), at: now).conclude()
  }

  /// The secret that opened the response; nil if it does not open.
  func opening(of answer: [UInt8]) throws -> AppleOpening? {
    let challenge = try AppleChallenge(nonce: Array(0..<32), merchantID: session.merchantID, teamID: session.teamID)
    let heard = Locked<AppleOpening?>(nil)
    var apple = AppleInApp(verifier: MdocVerifier(trust: trust), keys: [key])
    apple.didOpen = { opening in heard.withLock { $0 = opening } }
    _ = apple.authenticate(answer, answering: challenge, request: PresentationRequest(.standard), at: now).conclude()
    return heard.withLock { $0 }
  }

  func verifyApple(_ answer: [UInt8], opening: AppleOpening) throws -> Verdict {
    let challenge = try AppleChallenge(nonce: Array(0..<32), merchantID: session.merchantID, teamID: session.teamID)
    return AppleInApp(verifier: MdocVerifier(trust: trust), opening: opening)
      .authenticate(answer, answering: challenge, request: PresentationRequest(.standard), at: now).conclude()
  }

  func verifyApple(_ variant: MockVariant) throws -> Verdict {
    try verifyApple(answerApple(variant, request: .standard))
  }

  func verifyProximity(_ variant: MockVariant, readerKey: PrivateKey?) throws -> Verdict {
    let readerPublicKey = try readerKey?.publicKey ?? PrivateKey(generatingOn: .p256).publicKey
    let transcript = try SessionTranscript(
      encoded: MockSessionTranscript.qr(
        deviceEngagement: MockSessionTranscript.deviceEngagement(with: PrivateKey(generatingOn: .p256).publicKey),
        readerKey: MockSessionTranscript.readerKeyBytes(of: readerPublicKey)))
    let answer = try wallet.answer(
      .standard, transcript: transcript.encoded,
      authentication: readerKey.map { .mac(readerKey: $0.publicKey) } ?? .signature, variant: variant, at: now)
    return Proximity(verifier: MdocVerifier(trust: trust)).authenticate(
      answer.bytes, transcript: transcript, readerKey: readerKey, request: PresentationRequest(.standard), at: now
    ).conclude()
  }
}

extension PresentationRequest {
  init(_ request: MockRequest) {
    self.init(
      documents: request.documents.map { document in
        DocumentRequest(
          docType: document.docType,
          elements: document.elements.map { ElementRequest(ElementReference($0.namespace, $0.identifier)) },
          ageOver: document.ageOver)
      })
  }
}
