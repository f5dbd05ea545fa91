import Base
import Cryptography
import PKIX

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
