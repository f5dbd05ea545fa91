import CBOR
import Cryptography

/// The inputs of Apple's in-app request, and the merchant's key to which the response is encrypted.
package struct MockAppleSession: Sendable {
  package var nonce: [UInt8]
  package var merchantID: String
  package var teamID: String
  /// The P-256 key of the merchant's Identity Access Certificate.
  package var recipientKey: PublicKey

  package init(nonce: [UInt8], merchantID: String, teamID: String, recipientKey: PublicKey) {
    self.nonce = nonce
    self.merchantID = merchantID
    self.teamID = teamID
    self.recipientKey = recipientKey
  }

  /// `pkRHash`: SHA-256 of the uncompressed point.
  var recipientHash: [UInt8] { HashAlgorithm.sha256.hash(recipientKey.encoded) }
}

/// The session as the device sees it, and the envelope around its response.
struct AppleEnvelopeDraft: Sendable {
  /// The session as the relying party knows it.
  let expected: MockAppleSession
  var session: MockAppleSession
  /// A transcript of another shape; nil for the correct transcript.
  var otherTranscript: CBORValue?
  /// The transcript's hash in the envelope; nil for the correct hash.
  var claimedInfoHash: [UInt8]?

  init(_ session: MockAppleSession) { (expected, self.session) = (session, session) }

  var transcript: [UInt8] { otherTranscript?.encoded() ?? MockSessionTranscript.apple(session) }

  /// HPKEEnvelope: `algorithm`, `params` and `data`. The HPKE `info` is the transcript.
  func seal(_ plaintext: [UInt8], ephemeralKey: PrivateKey) throws -> MapDraft {
    let info = transcript
    let sealed = try HPKE.p256SHA256AES128GCM.seal(
      plaintext, to: session.recipientKey, info: info, ephemeralKey: ephemeralKey)
    let parameters = MapDraft([
      ("mode", 0), ("pkEm", .bytes(sealed.encapsulatedKey)), ("pkRHash", .bytes(session.recipientHash)),
      ("infoHash", .bytes(claimedInfoHash ?? HashAlgorithm.sha256.hash(info))),
    ])
    return MapDraft([("algorithm", "APPLE-HPKE-v1"), ("params", parameters.value), ("data", .bytes(sealed.ciphertext))])
  }
}

/// SessionTranscript (ISO/IEC 18013-5, 9.1.5.1) for each protocol. It does not use the verifier's code, so that tests
/// reveal mistakes in that code.
package enum MockSessionTranscript {
  /// `[null, null, ["AppleIdentityPresentment_1.0", nonce, merchant, team, SHA-256 of the recipient's point]]`.
  package static func apple(_ session: MockAppleSession) -> [UInt8] {
    let handover: CBORValue = [
      "AppleIdentityPresentment_1.0", .bytes(session.nonce), .text(session.merchantID), .text(session.teamID),
      .bytes(session.recipientHash),
    ]
    return CBORValue.array([.null, .null, handover]).encoded()
  }

  /// `[24(DeviceEngagement), 24(EReaderKey), null]`. The arguments have no tag 24.
  package static func qr(deviceEngagement: [UInt8], readerKey: [UInt8]) -> [UInt8] {
    engaged(deviceEngagement, readerKey, handover: .null)
  }

  /// `[…, …, [Handover Select message, Handover Request message or, in static handover, null]]`.
  package static func nfc(
    deviceEngagement: [UInt8], readerKey: [UInt8], handoverSelect: [UInt8], handoverRequest: [UInt8]?
  ) -> [UInt8] {
    engaged(
      deviceEngagement, readerKey,
      handover: [.bytes(handoverSelect), handoverRequest.map { .bytes($0) } ?? .null])
  }

  /// ISO/IEC TS 18013-7, Annex C: `[null, null, ["dcapi", SHA-256([encryptionInfo, origin])]]`, with the base64url
  /// text.
  package static func digitalCredentialsAPI(encryptionInfo: String, origin: String) -> [UInt8] {
    hashed("dcapi", [.text(encryptionInfo), .text(origin)])
  }

  /// ISO/IEC TS 18013-7, B.4.4: the handover of OpenID4VP's draft 18. `mdocNonce` is the wallet's nonce.
  package static func annexB(clientID: String, responseURI: String, nonce: String, mdocNonce: String) -> [UInt8] {
    func hash(_ text: String) -> CBORValue {
      .bytes(HashAlgorithm.sha256.hash(CBORValue.array([.text(text), .text(mdocNonce)]).encoded()))
    }
    return CBORValue.array([.null, .null, [hash(clientID), hash(responseURI), .text(nonce)]]).encoded()
  }

  /// `[null, null, [name, SHA-256(info)]]`.
  static func hashed(_ name: String, _ info: [CBORValue]) -> [UInt8] {
    let hash = HashAlgorithm.sha256.hash(CBORValue.array(info).encoded())
    return CBORValue.array([.null, .null, [.text(name), .bytes(hash)]]).encoded()
  }

  /// COSE_Key of an ephemeral key, such as `readerKey` of `qr` and `nfc`.
  package static func readerKeyBytes(of key: PublicKey) -> [UInt8] { COSEKey.fields(of: key).value.encoded() }

  /// DeviceEngagement with the device's ephemeral key (ISO/IEC 18013-5:2021, 8.2.1.1): version and security.
  package static func deviceEngagement(with key: PublicKey) -> [UInt8] {
    let security: CBORValue = [1, .tagged(24, .bytes(readerKeyBytes(of: key)))]
    return CBORValue.map([(0, "1.0"), (1, security)]).encoded()
  }

  private static func engaged(_ engagement: [UInt8], _ readerKey: [UInt8], handover: CBORValue) -> [UInt8] {
    CBORValue.array([.tagged(24, .bytes(engagement)), .tagged(24, .bytes(readerKey)), handover]).encoded()
  }
}
