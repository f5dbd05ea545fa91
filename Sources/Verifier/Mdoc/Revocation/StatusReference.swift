import Base

/// Where a document's status is published (ISO/IEC 18013-5, second edition, 12.3.6): a member of the mobile security
/// object's `status`, which the issuer signed.
public struct StatusReference: Sendable, Hashable {
  public let place: Place
  /// The address of the list, which is also the list's subject.
  public let uri: String
  /// DER of the certificate that must have issued the top of the list signer's chain; nil: the document's own anchor.
  public let certificate: [UInt8]?

  public enum Place: Sendable, Hashable {
    /// An entry of a status list (Token Status List, 6.1).
    case statusList(index: UInt64)
    /// A name that an identifier list contains where the document is revoked.
    case identifierList(identifier: [UInt8])
  }

  public init(_ place: Place, uri: String, certificate: [UInt8]? = nil) {
    self.place = place
    self.uri = uri
    self.certificate = certificate
  }

  /// Addresses are the same by their bytes only: text that is canonically equivalent is another address.
  public static func == (left: Self, right: Self) -> Bool {
    left.place == right.place && left.uri.hasSameBytes(as: right.uri) && left.certificate == right.certificate
  }
}
