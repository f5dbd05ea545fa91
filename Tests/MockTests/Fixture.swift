import Base
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

  func apple(_ variant: MockVariant = .good, _ request: MockRequest = .standard) throws -> MockAnswer {
    try wallet.answerApple(request, session: session, variant: variant, at: now)
  }

  func response(
    _ variant: MockVariant = .good, _ request: MockRequest = .standard,
    _ authentication: MockDeviceAuthentication = .signature
  ) throws -> MockAnswer {
    try wallet.answer(request, transcript: transcript, authentication: authentication, variant: variant, at: now)
  }
}
