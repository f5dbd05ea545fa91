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

/// What an app gives to Apple's in-app request, and the merchant's key that the answer is encrypted to.
package struct MockAppleSession: Sendable {
  package var nonce: [UInt8]
  package var merchantID: String
  package var teamID: String
  /// P-256, of the merchant's Identity Access Certificate.
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

/// What Apple's simulator encrypts to: a key whose private half is published, under this team.
enum AppleSimulator {
  static let teamID = "PassKit_Identity_Test_Team_ID"
  static let recipientPoint =
    "040f1887e50e18c7752bba4136956084aeaf0df1ba82f421cb2eb0302f3e41984d5ed2cce3ede1e68dc7507d0c1d5255d24caad22065ac1c25"
    + "87ca840cc678f8f7"
}
