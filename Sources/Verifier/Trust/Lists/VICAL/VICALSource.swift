import Base
import PKIX

/// What an operator configures for one VICAL: who may sign it, and what document signers under its anchors must be.
public struct VICALSource: Sendable {
  public var signers: SignerPath.Anchors
  /// What document signers under these anchors must be certified for; nil: what their documents' types ask for.
  public var extendedKeyUsages: Set<String>?
  /// Certificates between a listed authority and a document signer.
  public var maxPathLength: Int
  /// Where revocation lists of the authorities may be asked for.
  public var crlAddresses: AuthorityCRLAddresses
  public var tier: TrustAnchor.Tier
  /// Where the list is from, for people.
  public var name: String

  public init(
    signers: SignerPath.Anchors, extendedKeyUsages: Set<String>? = nil,
    maxPathLength: Int = 0, crlAddresses: AuthorityCRLAddresses = .init(.named), tier: TrustAnchor.Tier = .live,
    name: String = ""
  ) {
    self.signers = signers
    self.extendedKeyUsages = extendedKeyUsages
    self.maxPathLength = maxPathLength
    self.crlAddresses = crlAddresses
    self.tier = tier
    self.name = name
  }
}
