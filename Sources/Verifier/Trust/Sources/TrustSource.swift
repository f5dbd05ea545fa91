import Base
import PKIX

/// A named place that trust anchors come from.
public struct TrustSource: Sendable {
  /// For people, and for remembering the last list: letters, digits, `-`, `_` and `.`.
  public let name: String
  public let kind: Kind

  public enum Kind: Sendable {
    /// Certificates in PEM or DER, and folders of them, each with its settings beside it.
    /// The second says where revocation lists of authorities may be asked for whose settings say nothing of it.
    case files([String], crlAddresses: CRLAddresses = .named)
    case list(PublishedTrustList)
  }

  public init(name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

/// A list of anchors that somebody publishes and signs.
public struct PublishedTrustList: Sendable {
  public let place: Place
  public let format: Format

  public enum Place: Sendable, Hashable {
    case file(String)
    case address(String)
  }

  public enum Format: Sendable {
    case vical(VICALSource)
    case trustedEntities(TrustedEntityListSource)
  }

  public init(_ place: Place, _ format: Format) {
    self.place = place
    self.format = format
  }
}
