import Base
import PKIX

/// What one VICAL came to.
public struct VICALEvaluation: Sendable {
  public let checks: [Check]
  /// The list, where its signature verified and its form is right; whether it is in force, `isAccepted` says.
  public let list: VICAL?
  /// Who signed it, first, up to the configured anchor; empty where that was not established.
  public let signerPath: [Certificate]
  /// What the list makes trusted, each for the document types of its entry; empty unless the list is accepted.
  ///
  /// They end paths and are never links of one: an authority that is listed vouches for the signers that it certifies
  /// itself.
  public let anchors: [TrustAnchor]
  /// Until when it may be relied on: its own ends and those of its signer's path. Nil unless it is accepted.
  public let validUntil: Timestamp?
  /// What is to be remembered of an accepted list, durably, and given to the next evaluation.
  public let accepted: LastAccepted?

  public var isAccepted: Bool { accepted != nil }

  /// The last list that was accepted from a source.
  public struct LastAccepted: Sendable, Hashable {
    public let date: Timestamp
    public let issueID: UInt64?
    /// SHA-256 of the payload, by which the same list is known again.
    public let digest: [UInt8]

    public init(date: Timestamp, issueID: UInt64?, digest: [UInt8]) {
      self.date = date
      self.issueID = issueID
      self.digest = digest
    }

    /// Whether this one was issued before the other. The date decides; of two lists of one second, the number.
    func isOlder(than other: LastAccepted) -> Bool {
      guard date == other.date, digest != other.digest, let issueID, let last = other.issueID else {
        return date < other.date
      }
      return issueID < last
    }
  }
}
