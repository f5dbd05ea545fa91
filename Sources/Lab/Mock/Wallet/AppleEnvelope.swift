import CBOR
import Cryptography

/// What an Apple device puts into the transcript, the key that it encrypts to, and the envelope around its answer.
struct AppleEnvelopeDraft: Sendable {
  /// The session as the relying party knows it.
  let session: MockAppleSession
  var nonce: [UInt8]
  var merchantID: String
  var teamID: String
  var recipientKey: PublicKey
  /// A transcript of another shape; nil for the right one.
  var otherTranscript: CBORValue?
  /// The hash that the envelope states for the transcript; nil for the right one.
  var claimedInfoHash: [UInt8]?

  init(_ session: MockAppleSession) {
    self.session = session
    nonce = session.nonce
    merchantID = session.merchantID
    teamID = session.teamID
    recipientKey = session.recipientKey
  }

  var recipientHash: [UInt8] { HashAlgorithm.sha256.hash(recipientKey.encoded) }

  var transcript: [UInt8] {
    otherTranscript?.encoded()
      ?? MockSessionTranscript.apple(
        nonce: nonce, merchantID: merchantID, teamID: teamID, recipientHash: recipientHash)
  }

  /// HPKEEnvelope: `algorithm`, `params` and `data`. The HPKE `info` is the transcript.
  func seal(_ plaintext: [UInt8], ephemeralKey: PrivateKey) throws -> MapDraft {
    let info = transcript
    let sealed = try HPKE.p256SHA256AES128GCM.seal(
      plaintext, to: recipientKey, info: info, ephemeralKey: ephemeralKey)
    let parameters = MapDraft([
      ("mode", 0), ("pkEm", .bytes(sealed.encapsulatedKey)), ("pkRHash", .bytes(recipientHash)),
      ("infoHash", .bytes(claimedInfoHash ?? HashAlgorithm.sha256.hash(info))),
    ])
    return MapDraft([
      ("algorithm", "APPLE-HPKE-v1"), ("params", parameters.value), ("data", .bytes(sealed.ciphertext)),
    ])
  }
}

/// What an app passes to Apple's in-app request, and the merchant's key to which the answer is encrypted.
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

/// The key to which Apple's simulator encrypts, and its team. The key's private half is published.
enum AppleSimulator {
  static let teamID = "PassKit_Identity_Test_Team_ID"
  static let recipientPoint =
    "040f1887e50e18c7752bba4136956084aeaf0df1ba82f421cb2eb0302f3e41984d5ed2cce3ede1e68dc7507d0c1d5255d24caad22065ac1c25"
    + "87ca840cc678f8f7"
}

/// SessionTranscript (ISO/IEC 18013-5, 9.1.5.1) for each protocol. It is built here without the verifier's code, so
/// that a mistake there shows.
package enum MockSessionTranscript {
  /// `[null, null, ["AppleIdentityPresentment_1.0", nonce, merchant, team, SHA-256 of the recipient's point]]`.
  package static func apple(_ session: MockAppleSession) -> [UInt8] {
    apple(
      nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID,
      recipientHash: session.recipientHash)
  }

  static func apple(nonce: [UInt8], merchantID: String, teamID: String, recipientHash: [UInt8]) -> [UInt8] {
    let handover: CBORValue = [
      "AppleIdentityPresentment_1.0", .bytes(nonce), .text(merchantID), .text(teamID), .bytes(recipientHash),
    ]
    return CBORValue.array([.null, .null, handover]).encoded()
  }

  /// `[24(DeviceEngagement), 24(EReaderKey), null]`. Both arguments come without tag 24.
  package static func qr(deviceEngagement: [UInt8], readerKey: [UInt8]) -> [UInt8] {
    engaged(deviceEngagement, readerKey, handover: .null)
  }

  /// `[…, …, [Handover Select message, Handover Request message or null]]`. It is null in static handover.
  package static func nfc(
    deviceEngagement: [UInt8], readerKey: [UInt8], handoverSelect: [UInt8], handoverRequest: [UInt8]?
  ) -> [UInt8] {
    engaged(
      deviceEngagement, readerKey,
      handover: [.bytes(handoverSelect), handoverRequest.map { .bytes($0) } ?? .null])
  }

  /// ISO/IEC TS 18013-7, Annex C: `[null, null, ["dcapi", SHA-256([encryptionInfo, origin])]]`. `encryptionInfo` is the
  /// base64url text that was sent.
  package static func digitalCredentialsAPI(encryptionInfo: String, origin: String) -> [UInt8] {
    hashed("dcapi", [.text(encryptionInfo), .text(origin)])
  }

  /// ISO/IEC TS 18013-7, B.4.4: the handover of OpenID4VP's draft 18. `mdocNonce` is a nonce of the wallet's own.
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

  /// COSE_Key of an ephemeral key, such as the argument `readerKey` of `qr` and `nfc`.
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
