import Base
import CBOR
import Cryptography
import Mdoc

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
