import CBOR
import Cryptography

/// What an Apple device puts into the transcript and encrypts to, and the envelope around the answer.
struct AppleEnvelopeDraft: Sendable {
  /// The session as the relying party knows it.
  let session: MockAppleSession
  var nonce: [UInt8]
  var merchantID: String
  var teamID: String
  var recipientKey: PublicKey
  /// A transcript of another shape.
  var otherTranscript: CBORValue?
  /// What is said to be the transcript's hash.
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

  /// HPKEEnvelope: `algorithm`, `params`, `data`; the HPKE `info` is the transcript.
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
