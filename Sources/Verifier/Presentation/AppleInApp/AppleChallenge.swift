import Base
import CBOR
import Cryptography
import Mdoc
import PKIX

/// What an Apple in-app answer must fit: the nonce, with the merchant and team that it was given to.
///
/// It can't be copied: opening an answer with it uses it up.
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
  /// - Parameter teamID: a team to use in place of ours, for the simulator's.
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

extension AppleChallenge {
  /// Transcripts that apps and servers are known to make by mistake, to explain in the report why an answer is not this
  /// session's. If an answer fits one of them, nothing in it is ever read.
  static func mistakes(
    nonce: [UInt8], own: AppleMerchant, recipient: RecipientKeyHashes, others: [AppleMerchant]
  ) -> [AlternativeTranscript] {
    func with(_ difference: String, nonce: [UInt8]) -> AlternativeTranscript {
      .init(difference, transcript(nonce: nonce, merchant: own, recipientKeyHash: recipient.point))
    }
    func with(_ difference: String, _ merchant: AppleMerchant) -> AlternativeTranscript {
      .init(difference, transcript(nonce: nonce, merchant: merchant, recipientKeyHash: recipient.point))
    }
    return [
      with("the nonce as its base64 text", nonce: Array(Base64.encode(nonce).utf8)),
      with("the nonce as its base64url text", nonce: Array(Base64.encodeURLSafe(nonce).utf8)),
      with("the nonce as hexadecimal text", nonce: Array(Hex.encode(nonce).utf8)),
      with("merchant and team swapped", AppleMerchant(merchantID: own.teamID, teamID: own.merchantID)),
      .init(
        "the hash of the key's SubjectPublicKeyInfo",
        transcript(nonce: nonce, merchant: own, recipientKeyHash: recipient.keyInfo ?? recipient.point)),
      with(
        "the team of Apple's simulator",
        AppleMerchant(merchantID: own.merchantID, teamID: AppleInApp.simulatorTeamID)),
    ]
      + others.filter { $0 != own }.prefix(triedMerchants).map {
        with("another of this relying party's merchants, \($0.merchantID) of team \($0.teamID)", $0)
      }
  }

  private static let triedMerchants = 16
}

/// The hashes that name a recipient key, rightly or by mistake.
struct RecipientKeyHashes: Sendable {
  /// `pkRHash`: the hash of the 65-byte uncompressed point.
  let point: [UInt8]
  private let key: PublicKey?

  init(of key: PublicKey) {
    point = HashAlgorithm.sha256.hash(key.encoded)
    self.key = key
  }

  /// The hashes of a key that is known by its hash alone.
  init(point: [UInt8]) {
    self.point = point
    key = nil
  }

  /// The hash of the SubjectPublicKeyInfo, which other formats use; nil if the key is not known.
  var keyInfo: [UInt8]? { key.map { HashAlgorithm.sha256.hash(PublicKey.p256InfoPrefix + $0.encoded) } }
}

/// The certificate that Apple issued for a merchant's encryption key (Apple, Configuring your environment for the Verify
/// with Wallet API): an app's answers are encrypted to its key for as long as it is the merchant's in Apple's portal.
///
/// The subject's UID is the merchant's identifier, and its OU is the team. The certificate is not verified here,
/// because it is the relying party's own.
public struct MerchantCertificate: Sendable {
  public let certificate: Certificate

  /// Why a certificate is not that of a merchant's key, with the text that the certificate has instead.
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

  /// The merchant that a certificate names in the way of Apple's merchant certificates; nil if it names none.
  public static func merchant(named certificate: Certificate) -> AppleMerchant? {
    guard let merchant = certificate.subject.userID, let team = certificate.subject.organizationalUnit,
      certificate.publicKey?.curve == .p256
    else { return nil }
    return AppleMerchant(merchantID: merchant, teamID: team)
  }
}
