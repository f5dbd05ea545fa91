import Base
import CBOR
import Cryptography
import Mdoc
import PKIX

/// What an Apple in-app answer must answer: the nonce with the merchant and team that it was given to.
///
/// It can't be copied: who opens an answer with it has used it up.
public struct AppleChallenge: ~Copyable, Sendable {
  public let nonce: [UInt8]
  public let merchantID: String
  public let teamID: String

  /// - Parameter nonce: the bytes given to `PKIdentityRequest.nonce`, 16 to 64 of them.
  public init(nonce: [UInt8], merchantID: String, teamID: String) throws(AppleChallengeError) {
    guard (Limits.shortestNonceBytes...Limits.appleNonceBytes).contains(nonce.count) else { throw .nonceLength }
    self.nonce = nonce
    self.merchantID = merchantID
    self.teamID = teamID
  }

  var merchant: AppleMerchant { AppleMerchant(merchantID: merchantID, teamID: teamID) }

  /// `[null, null, ["AppleIdentityPresentment_1.0", nonce, merchant, team, SHA-256(recipient point)]]`.
  ///
  /// - Parameter teamID: in place of ours, for the simulator's.
  borrowing func transcript(recipientKeyHash: [UInt8], teamID: String? = nil) -> SessionTranscript {
    Self.transcript(
      nonce: nonce, merchant: AppleMerchant(merchantID: merchantID, teamID: teamID ?? self.teamID),
      recipientKeyHash: recipientKeyHash)
  }

  static func transcript(
    nonce: [UInt8], merchant: AppleMerchant, recipientKeyHash: [UInt8]
  ) -> SessionTranscript {
    SessionTranscript(
      written: [
        nil, nil,
        [
          "AppleIdentityPresentment_1.0", .bytes(nonce), .text(merchant.merchantID), .text(merchant.teamID),
          .bytes(recipientKeyHash),
        ],
      ])
  }
}

public enum AppleChallengeError: Error, Sendable, Hashable {
  /// The nonce has fewer than 16 or more than 64 bytes.
  case nonceLength
}

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

/// The certificate that Apple issued for a merchant's encryption key (Apple, Configuring your environment for the Verify
/// with Wallet API): an app's answers are encrypted to its key for as long as it is the merchant's in Apple's portal.
///
/// The merchant's identifier is its subject's UID, the team its OU. Nobody verifies it here: it is the relying party's own.
public struct MerchantCertificate: Sendable {
  public let certificate: Certificate

  /// Why a certificate is not that of a merchant's key. Texts are what the certificate says.
  public enum Problem: Error, Sendable, Hashable {
    case otherKey
    case otherMerchant(String?)
    case otherTeam(String?)
  }

  public init(_ certificate: Certificate, of merchant: AppleMerchant, key: PublicKey) throws(Problem) {
    guard certificate.publicKey?.encoded == key.encoded else { throw .otherKey }
    let subject = certificate.subject
    guard subject.userID == merchant.merchantID else { throw .otherMerchant(subject.userID) }
    guard subject.organizationalUnit == merchant.teamID else { throw .otherTeam(subject.organizationalUnit) }
    self.certificate = certificate
  }

  /// Whom a certificate names in the way of Apple's merchant certificates; nil where it is none.
  public static func merchant(named certificate: Certificate) -> AppleMerchant? {
    guard let merchant = certificate.subject.userID, let team = certificate.subject.organizationalUnit,
      certificate.publicKey?.curve == .p256
    else { return nil }
    return AppleMerchant(merchantID: merchant, teamID: team)
  }
}
