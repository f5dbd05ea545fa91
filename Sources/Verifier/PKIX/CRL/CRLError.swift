import Base

/// Why a revocation list cannot be used. Nothing then follows about any certificate, neither good nor revoked.
public enum CRLError: Error, Sendable, Hashable {
  case tooLarge, malformed, versionUnsupported
  /// Another name or another key identifier than the authority's.
  case otherIssuer, otherKey
  /// The authority's certificate does not say that its key may sign lists.
  case issuerMayNotSign
  case algorithmUnsupported, signatureInvalid
  case issuedInFuture(Timestamp)
  case withoutNextUpdate
  case expired(Timestamp)
  /// Only what changed since another list, or only some certificates or reasons, or certificates of other issuers.
  case delta, scoped, indirect
  case criticalExtension(String)
  /// An entry that takes another back, which a full list has no use for.
  case removal

  /// For people; it stands in the finding `revocation.crl_invalid`.
  public var detail: String {
    switch self {
    case .tooLarge: "larger than \(Limits.listBytes) bytes"
    case .malformed: "not one well-formed list in DER or PEM"
    case .versionUnsupported: "not of version 2"
    case .otherIssuer: "issued under another name than the authority's"
    case .otherKey: "for another key than the authority's, by its authority key identifier"
    case .issuerMayNotSign: "the authority's key usage does not allow signing lists"
    case .algorithmUnsupported: "signed with an algorithm that is not one of the standard's, or names two"
    case .signatureInvalid: "the signature does not verify with the authority's key"
    case .issuedInFuture(let time): "dated in the future, \(time)"
    case .withoutNextUpdate: "without the time of the next update"
    case .expired(let time): "the next update was due at \(time)"
    case .delta: "a delta list"
    case .scoped: "restricted by an issuing distribution point"
    case .indirect: "an indirect list"
    case .criticalExtension(let oid): "a critical extension that is not understood, \(oid)"
    case .removal: "an entry with the reason removeFromCRL, which only delta lists have"
    }
  }
}
