import Base
import PKIX

/// What an operator configures for one list of trusted entities: who may sign it, and what its services are good for.
public struct TrustedEntityListSource: Sendable {
  public var signers: SignerPath.Anchors
  /// The document types that the certificates of a service type may vouch for. Services of other types are passed over.
  public var issuance: [String: [String]]
  /// The service types whose certificates sign status lists.
  public var revocation: Set<String>
  /// What document signers under these anchors must be certified for; nil: what their documents' types ask for.
  public var extendedKeyUsages: Set<String>?
  /// Certificates between a listed authority and a document signer.
  public var maxPathLength: Int
  /// Where revocation lists of the authorities may be asked for.
  public var crlAddresses: AuthorityCRLAddresses
  public var tier: TrustAnchor.Tier
  /// What the list should keep to; nil: the general form alone.
  public var profile: TrustedEntityListProfile?
  /// Where the list is from, for people.
  public var name: String

  public init(
    signers: SignerPath.Anchors, issuance: [String: [String]], revocation: Set<String> = [],
    extendedKeyUsages: Set<String>? = nil, maxPathLength: Int = 0,
    crlAddresses: AuthorityCRLAddresses = .init(.named), tier: TrustAnchor.Tier = .live,
    profile: TrustedEntityListProfile? = nil, name: String = ""
  ) {
    self.signers = signers
    self.issuance = issuance
    self.revocation = revocation
    self.extendedKeyUsages = extendedKeyUsages
    self.maxPathLength = maxPathLength
    self.crlAddresses = crlAddresses
    self.tier = tier
    self.profile = profile
    self.name = name
  }
}
