import Base
import CorpusMaking
import Cryptography
import Mock
import Testing

/// One clock, one seed, one merchant for all tests of this module.
struct Fixture {
  let now = Timestamp(secondsSince1970: 1_795_168_800)
  let authority: MockAuthority
  let wallet: MockWallet
  let recipient: PrivateKey
  let reader: PrivateKey
  let session: MockAppleSession
  let transcript: [UInt8]

  init(seed: UInt8 = 7, issuerCurve: Curve = .p256, deviceCurve: Curve = .p256) throws {
    authority = try MockAuthority(seed: [UInt8](repeating: seed, count: 32), issuerCurve: issuerCurve)
    wallet = MockWallet(authority: authority, deviceCurve: deviceCurve)
    recipient = try PrivateKey(curve: .p256, scalar: [UInt8](repeating: 0x11, count: 32))
    reader = try PrivateKey(
      curve: deviceCurve.family == .edwards ? .p256 : deviceCurve,
      scalar: [UInt8](repeating: 0x01, count: deviceCurve.family == .edwards ? 32 : deviceCurve.coordinateLength))
    session = MockAppleSession(
      nonce: [UInt8](repeating: 0xab, count: 32), merchantID: "merchant.example.shop", teamID: "ABCDE12345",
      recipientKey: recipient.publicKey)
    transcript = MockSessionTranscript.qr(
      deviceEngagement: [0xa0], readerKey: MockSessionTranscript.readerKeyBytes(of: reader.publicKey))
  }

  func apple(_ variant: MockVariant = .good, _ request: MockRequest = .standard) throws -> MockWalletResponse {
    try wallet.answerApple(request, session: session, variant: variant, at: now)
  }

  func response(
    _ variant: MockVariant = .good, _ request: MockRequest = .standard,
    _ authentication: MockDeviceAuthentication = .signature
  ) throws -> MockWalletResponse {
    try wallet.answer(request, transcript: transcript, authentication: authentication, variant: variant, at: now)
  }
}

/// One verifier's session over the web protocols, beside the fixture of this module.
struct WebFixture {
  /// The protocol by its name in the HTTP API, and its form.
  struct Way: Sendable, CustomTestStringConvertible {
    var protocolName: String
    var isEncrypted = true

    var testDescription: String { protocolName + (isEncrypted ? "" : " in clear") }

    static let all = [
      Way(protocolName: "org-iso-mdoc"), Way(protocolName: "openid4vp-v1-unsigned"),
      Way(protocolName: "openid4vp-v1-unsigned", isEncrypted: false), Way(protocolName: "openid4vp-v1-signed"),
      Way(protocolName: "openid4vp-v1-multisigned"), Way(protocolName: "openid4vp"),
      Way(protocolName: "openid4vp", isEncrypted: false), Way(protocolName: "openid4vp-iso-18013-7-annex-b"),
    ]
  }

  let fixture: Fixture
  var session: MockWebSession

  init(deviceCurve: Curve = .p256) throws {
    fixture = try Fixture(deviceCurve: deviceCurve)
    session = MockWebSession(
      encryptionKey: try PrivateKey(curve: .p256, scalar: [UInt8](repeating: 0x21, count: 32)),
      nonce: [UInt8](repeating: 0xcd, count: 32), origin: "https://shop.example",
      reader: try fixture.authority.reader(dnsName: "shop.example", at: fixture.now),
      responseURI: "https://shop.example/response", state: "state-0123456789")
  }

  func answer(
    _ way: Way, _ variant: MockVariant = .good, _ request: MockRequest = .standard, requiresAll: Bool = false,
    held: [MockDocumentData] = MockPerson.documents, authentication: MockWebAuthentication = .signature
  ) throws -> MockWebResponse {
    var session = session
    session.isEncrypted = way.isEncrypted
    let wallet = MockWallet(
      authority: fixture.authority, documents: held, deviceCurve: fixture.wallet.deviceCurve)
    switch way.protocolName {
    case "openid4vp":
      return try wallet.answer(
        requestObject: session.requestObject(request, requiresAll: requiresAll), authentication: authentication,
        variant: variant, at: fixture.now)
    case "openid4vp-iso-18013-7-annex-b":
      return try wallet.answer(
        requestObject: session.annexBRequestObject(request), authentication: authentication, variant: variant,
        at: fixture.now)
    default:
      return try wallet.answer(
        digitalCredential: way.protocolName,
        data: session.data(for: way.protocolName, request, requiresAll: requiresAll), origin: session.origin,
        authentication: authentication, variant: variant, at: fixture.now)
    }
  }
}
