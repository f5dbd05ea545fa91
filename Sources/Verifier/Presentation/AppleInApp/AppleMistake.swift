import Base
import CBOR
import Cryptography
import Mdoc

/// A merchant of a relying party, as Apple's transcript names it.
public struct AppleMerchant: Sendable, Hashable {
  public let merchantID: String
  public let teamID: String

  public init(merchantID: String, teamID: String) {
    self.merchantID = merchantID
    self.teamID = teamID
  }
}

/// A transcript or key hash that apps and servers are known to make by mistake, to explain in the report why an answer
/// is not this session's. Nothing is ever read of an answer that one of them fits.
enum AppleMistake {
  /// Of further merchants that a relying party has, how many are tried.
  private static let triedMerchants = 16

  /// A phrase that completes "it answers …", or nil where no mistake makes this `infoHash`.
  static func behind(
    _ infoHash: ArraySlice<UInt8>, nonce: [UInt8], own: AppleMerchant, recipient: RecipientKeyHashes,
    others: [AppleMerchant]
  ) -> String? {
    let base64 = Base64.encode(nonce)
    let swapped = AppleMerchant(merchantID: own.teamID, teamID: own.merchantID)
    var tries: [(difference: String, nonce: [UInt8], merchant: AppleMerchant, keyHash: [UInt8])] = [
      ("the nonce as its base64 text", Array(base64.utf8), own, recipient.point),
      ("the nonce as its base64url text", Array(Base64.encodeURLSafe(nonce).utf8), own, recipient.point),
      ("the nonce as hexadecimal text", Array(Hex.encode(nonce).utf8), own, recipient.point),
      ("merchant and team swapped", nonce, swapped, recipient.point),
      ("the hash of the key's SubjectPublicKeyInfo", nonce, own, recipient.keyInfo ?? recipient.point),
      (
        "the team of Apple's simulator", nonce,
        AppleMerchant(merchantID: own.merchantID, teamID: AppleInApp.simulatorTeamID), recipient.point
      ),
    ]
    tries += others.filter { $0 != own }.prefix(triedMerchants).map {
      ("another of this relying party's merchants, \($0.merchantID) of team \($0.teamID)", nonce, $0, recipient.point)
    }
    return tries.first {
      let transcript = AppleChallenge.transcript(nonce: $0.nonce, merchant: $0.merchant, recipientKeyHash: $0.keyHash)
      return HashAlgorithm.sha256.matches(infoHash, digestOf: transcript.encoded)
    }?.difference
  }
}

/// The hashes by which a recipient key is, rightly or by mistake, named.
struct RecipientKeyHashes: Sendable {
  /// `pkRHash`: of the 65-byte uncompressed point.
  let point: [UInt8]
  private let key: PublicKey?

  init(of key: PublicKey) {
    point = HashAlgorithm.sha256.hash(key.encoded)
    self.key = key
  }

  /// Of a key that is known by its hash alone.
  init(point: [UInt8]) {
    self.point = point
    key = nil
  }

  /// Of the SubjectPublicKeyInfo, which is what other formats hash.
  var keyInfo: [UInt8]? { key.map { HashAlgorithm.sha256.hash(PublicKey.p256InfoPrefix + $0.encoded) } }
}
