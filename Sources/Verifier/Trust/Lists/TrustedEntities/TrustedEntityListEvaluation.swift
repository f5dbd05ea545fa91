import Base
import PKIX

/// What one signed list of trusted entities came to.
public struct TrustedEntityListEvaluation: Sendable {
  public let checks: [Check]
  /// The list, from where its signature verified on; whether it is in force, `isAccepted` says.
  public let list: TrustedEntityList?
  /// Who signed it, first, up to the configured anchor; empty where that was not established.
  public let signerPath: [Certificate]
  /// What the list makes trusted; empty unless it is accepted.
  public let anchors: [TrustAnchor]
  /// Who may sign status lists; empty unless the list is accepted.
  public let statusListSigners: [StatusListSigner]
  /// Services of types that are not configured, by type; those without a type under the empty text.
  public let ignoredServices: [String: Int]

  public var isAccepted: Bool { list != nil && !checks.contains { $0.outcome == .failed } }

  /// Until when it may be relied on: its own end and those of its signer's path. Nil unless it is accepted.
  public var validUntil: Timestamp? {
    guard isAccepted, let end = list?.scheme.nextUpdate else { return nil }
    return ([end] + signerPath.map(\.validity.upperBound)).min()
  }

  /// What is to be remembered of an accepted list, durably, and given to the next evaluation.
  public var accepted: LastAccepted? {
    guard isAccepted, let scheme = list?.scheme else { return nil }
    return LastAccepted(sequenceNumber: scheme.sequenceNumber, issued: scheme.issued)
  }

  public struct LastAccepted: Sendable, Hashable {
    public let sequenceNumber: Int64
    public let issued: Timestamp

    public init(sequenceNumber: Int64, issued: Timestamp) {
      self.sequenceNumber = sequenceNumber
      self.issued = issued
    }
  }

  /// A certificate of an entity's revocation service: an authority or the signer itself.
  public struct StatusListSigner: Sendable {
    public let certificate: Certificate
    /// The certificates of the same entity's issuance services: whose documents' status it may speak of.
    public let issuers: [Certificate]
  }
}
