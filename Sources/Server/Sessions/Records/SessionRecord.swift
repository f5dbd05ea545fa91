import Mdoc
import Base

/// A session as one relying party addresses it. Every store operation takes one, so that no query can forget whose
/// session it is: another's id answers exactly as an unknown one.
public struct SessionAddress: Sendable, Hashable {
  public let relyingParty: String
  public let id: SessionID

  public init(relyingParty: String, id: SessionID) {
    self.relyingParty = relyingParty
    self.id = id
  }
}

/// What the relying party asked for and attached; erased by redaction.
public struct SessionContent: Sendable, Hashable {
  public struct MetadataEntry: Sendable, Hashable {
    public let name: String
    public let value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public let request: PresentationRequest
  public let origin: String?
  /// Where the wallet sends the person afterwards; the result is then read with a response code.
  public let redirectURI: String?
  public let clientReferenceID: String?
  public let metadata: [MetadataEntry]

  public init(
    request: PresentationRequest, origin: String?, redirectURI: String? = nil, clientReferenceID: String?,
    metadata: [MetadataEntry]
  ) {
    self.request = request
    self.origin = origin
    self.redirectURI = redirectURI
    self.clientReferenceID = clientReferenceID
    self.metadata = metadata
  }
}

/// One offered protocol, with a nonce and a key of its own.
public struct ProtocolOffer: Sendable, Hashable {
  public let protocolName: String
  /// The request for the platform: `data` of an entry of `requests`. Nobody reads it between its making and its wallet.
  public let data: JSONText
  /// What opens the answer, sealed; nil once the challenge is consumed or can no longer be.
  public var sealedMaterial: [UInt8]?

  public init(protocolName: String, data: JSONText, sealedMaterial: [UInt8]?) {
    self.protocolName = protocolName
    self.data = data
    self.sealedMaterial = sealedMaterial
  }
}

/// Sealed results: one that waits to be read, and what the relying party retains, each part of it until its day.
public struct SealedResults: Sendable, Hashable {
  /// Until when the waiting result can be read.
  public var expiresAt: Timestamp?
  public var waiting: [UInt8]?
  public var kept: KeptValues
  /// What became of the evidence; nil where the policy asks for none. The bundle itself is read apart.
  public var evidence: EvidenceStatus?

  public static let none = SealedResults()

  public init(
    expiresAt: Timestamp? = nil, waiting: [UInt8]? = nil, kept: KeptValues = KeptValues(),
    evidence: EvidenceStatus? = nil
  ) {
    self.expiresAt = expiresAt
    self.waiting = waiting
    self.kept = kept
    self.evidence = evidence
  }

  /// What a reader finds at `now`, whether or not a sweep has been there.
  public func seen(at now: Timestamp) -> SealedResults {
    var seen = self
    if seen.kept.erase(dueAt: now).includesEvidence { seen.evidence = .erased }
    return seen
  }
}

/// A session as it is stored.
public struct SessionRecord: Sendable, Hashable {
  public let address: SessionAddress
  public let created: Timestamp
  public let expiresAt: Timestamp
  /// SHA-256 of the client secret; nil once the secret is dead.
  public var clientSecretHash: [UInt8]?
  /// Nil once redacted.
  public var content: SessionContent?
  /// Empty once redacted.
  public var offers: [ProtocolOffer]
  /// As last written; what a reader sees also depends on the time: `state(at:)`.
  public var state: SessionState
  public var results: SealedResults
  public var report: ReportRecord?

  public init(
    address: SessionAddress, created: Timestamp, expiresAt: Timestamp, clientSecretHash: [UInt8]?,
    content: SessionContent?, offers: [ProtocolOffer], state: SessionState = .requiresInput,
    results: SealedResults = .none, report: ReportRecord? = nil
  ) {
    self.address = address
    self.created = created
    self.expiresAt = expiresAt
    self.clientSecretHash = clientSecretHash
    self.content = content
    self.offers = offers
    self.state = state
    self.results = results
    self.report = report
  }

  public func state(at now: Timestamp) -> SessionState { state.seen(at: now, expiresAt: expiresAt) }
}
