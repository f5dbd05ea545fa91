import Base
import PKIX

/// What a verified issuer certificate authority list (ISO/IEC 18013-5, C.2) says: a provider's list of the issuing
/// authorities that it has looked into, with the document types that each may issue.
///
/// Despite the list's name nothing of it is verified here: anybody may have written it. `VICAL` is the verified one.
public struct VICALContents: Sendable {
  public let provider: String
  /// A number of the provider's. Published lists show that it need not grow: `date` says which of two lists is newer.
  public let issueID: UInt64?
  public let date: Timestamp
  public let nextUpdate: Timestamp?
  /// From the second edition on: when the list is no longer to be used.
  public let notAfter: Timestamp?
  /// Where the provider says that its list is (second edition).
  public let url: String?
  /// The entries that can be used, in the order of the list.
  public let entries: [Entry]
  /// How many others there are, which are left out; the findings say why.
  public let leftOut: Int

  /// Whether the list still speaks at a time: neither of its ends is past.
  public func isCurrent(at now: Timestamp) -> Bool { expiry.map { now <= $0 } ?? true }

  /// The earlier of its ends; nil where it has none.
  public var expiry: Timestamp? { [nextUpdate, notAfter].compactMap { $0 }.min() }

  /// One issuing authority.
  public struct Entry: Sendable {
    /// The place in the list as it came, from 1.
    public let number: Int
    public let certificate: Certificate
    public let docTypes: [String]
    /// URNs of the profiles that the certificate is said to follow.
    public let profiles: [String]
    public let issuingAuthority: String?
  }
}

/// Why the payload is no VICAL that can be read.
enum VICALError: Error, Sendable, Hashable {
  case malformed(String)
  case versionUnsupported
}
