import Base
import CBOR
import Cryptography
import Mdoc

/// The Digital Credentials API's protocol `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C): opens an EncryptedResponse and
/// has its documents verified.
public struct AnnexC: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// Opens and authenticates one answer. Whatever is wrong, the challenge is used up.
  ///
  /// Devices sign: there is no reader key that a MAC could be agreed with.
  ///
  /// - Parameter otherOrigins: further origins of the relying party, to say so where a wallet answered one of these.
  public func authenticate(
    _ encryptedResponse: [UInt8], answering challenge: consuming AnnexCChallenge, request: PresentationRequest?,
    otherOrigins: [String] = [], at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(expecting: 16)
    guard let presented = open(encryptedResponse, challenge, otherOrigins, &checks) else {
      return verifier.refuse(checks.checks, at: now)
    }
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  private func open(
    _ bytes: [UInt8], _ challenge: borrowing AnnexCChallenge, _ otherOrigins: [String], _ checks: inout CheckList
  ) -> PresentedResponse? {
    defer { checks.skipRest(of: Self.codes) }
    guard let encrypted = EncryptedResponse(parsing: bytes, checks: &checks) else { return nil }
    let transcript = challenge.transcript
    guard let plaintext = encrypted.open(over: transcript, key: challenge.key) else {
      let mistake = challenge.mistakes(otherOrigins: otherOrigins).difference {
        encrypted.open(over: $0, key: challenge.key) != nil
      }
      checks.failed(.envelopeDecryptionFailed, mistake.map { "it opens with \($0)" })
      return nil
    }
    checks.passed(.envelopeDecryptionFailed)
    guard let response = DeviceResponse(parsing: plaintext, into: &checks) else { return nil }
    return PresentedResponse(response: response, transcript: transcript, macPolicy: .notAllowed)
  }

  private static let codes: [Code] = [
    .envelopeMalformed, .envelopeEncapsulatedKeyInvalid, .envelopeDecryptionFailed,
  ]
}

/// EncryptedResponse (ISO/IEC TS 18013-7, Annex C): `["dcapi", {"enc": bstr, "cipherText": bstr}]`, not yet opened.
struct EncryptedResponse {
  let encapsulatedKey: PublicKey
  let ciphertext: ArraySlice<UInt8>

  /// Notes each check; nil where one failed.
  init?(parsing bytes: [UInt8], checks: inout CheckList) {
    guard let item = CBORItem(parsing: bytes, into: &checks) else { return nil }
    let parts = item.elements.map { Array($0) } ?? []
    guard parts.count == 2, parts[0].isText(AnnexCChallenge.label),
      let encapsulatedKey = parts[1][key: "enc"]?.bytes, let ciphertext = parts[1][key: "cipherText"]?.bytes
    else {
      checks.failed(.envelopeMalformed)
      return nil
    }
    checks.passed(.envelopeMalformed)
    let point = try? PublicKey(curve: .p256, encoded: encapsulatedKey)
    checks.require(point != nil, .envelopeEncapsulatedKeyInvalid)
    guard let point else { return nil }
    self.encapsulatedKey = point
    self.ciphertext = ciphertext
  }
  /// The plaintext, or nil where the ciphertext is for another key, transcript or message.
  func open(over transcript: SessionTranscript, key: PrivateKey) -> [UInt8]? {
    try? HPKE.p256SHA256AES128GCM.open(
      ciphertext, encapsulatedKey: encapsulatedKey, recipient: key, info: transcript.encoded)
  }
}
