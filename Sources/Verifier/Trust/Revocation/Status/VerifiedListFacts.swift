import Base
import PKIX

/// What is known of a list that was verified: how long it counts, and what about it was not as it should be.
public struct VerifiedListFacts: Sendable {
  public let source: StatusListSource
  public let signer: Certificate
  public let issuedAt: Timestamp
  /// The first instant at which the list no longer counts: its own expiry, or the end of its signer's certificates.
  public let expires: Timestamp
  /// Seconds after which the publisher wants the list to be fetched anew; it counts until it expires all the same.
  public let timeToLive: Int64?
  public let deviations: Set<StatusListDeviation>

  /// Until when a list fetched at this time is to be taken from the cache: for its time to live, or until it expires,
  /// but for at least and at most what the limits say, and never beyond its expiry.
  public func freshUntil(fetchedAt: Timestamp) -> Timestamp {
    let wanted = timeToLive.map { fetchedAt + $0 } ?? expires
    let bounded = min(max(wanted, fetchedAt + Limits.shortestListLifetime), fetchedAt + Limits.longestListLifetime)
    return min(bounded, expires)
  }
}

/// What deviates from the standard in a list that is used all the same.
public enum StatusListDeviation: String, Sendable, Hashable, CaseIterable {
  /// The signer's certificate is a document signer's: its extended key usage names only that.
  case documentSignerUsage = "document_signer_usage"
}
