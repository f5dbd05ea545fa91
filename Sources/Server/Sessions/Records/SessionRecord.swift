import Base
import Mdoc

/// A session as one relying party addresses it. Every store operation takes one, so that no query can forget whose
/// session it is: another's id answers exactly as an unknown one.
package struct SessionAddress: Sendable, Hashable {
  package let relyingParty: String
  package let id: SessionID

  package init(relyingParty: String, id: SessionID) {
    self.relyingParty = relyingParty
    self.id = id
  }
}

/// What the relying party asked for and attached; erased by redaction.
package struct SessionContent: Sendable, Hashable {
  package struct MetadataEntry: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package let request: PresentationRequest
  package let origin: String?
  /// Where the wallet sends the person afterwards; the result is then read with a response code.
  package let redirectURI: String?
  /// What the hosted page says and does; nil where the session has none.
  package let page: PageWishes?
  /// `intended_use_id` of the registration certificate that its requests carry.
  package let intendedUseID: String?
  package let clientReferenceID: String?
  package let metadata: [MetadataEntry]

  package init(
    request: PresentationRequest, origin: String?, redirectURI: String? = nil, page: PageWishes? = nil,
    intendedUseID: String? = nil, clientReferenceID: String?, metadata: [MetadataEntry]
  ) {
    self.request = request
    self.origin = origin
    self.redirectURI = redirectURI
    self.page = page
    self.intendedUseID = intendedUseID
    self.clientReferenceID = clientReferenceID
    self.metadata = metadata
  }
}

/// One offered protocol, with a nonce and a key of its own.
package struct ProtocolOffer: Sendable, Hashable {
  package let protocolName: String
  /// The request for the platform: `data` of an entry of `requests`. Nobody reads it between its making and its wallet.
  package let data: JSONText
  /// What opens the answer, sealed; nil once the challenge is consumed or can no longer be.
  package var sealedMaterial: [UInt8]?

  package init(protocolName: String, data: JSONText, sealedMaterial: [UInt8]?) {
    self.protocolName = protocolName
    self.data = data
    self.sealedMaterial = sealedMaterial
  }
}

/// Sealed results: one that waits to be read, and what the relying party retains, each part of it until its day.
package struct SealedResults: Sendable, Hashable {
  /// Until when the waiting result can be read.
  package var expiresAt: Timestamp?
  package var waiting: [UInt8]?
  package var kept: KeptValues
  /// What became of the evidence; nil where the policy asks for none. The bundle itself is read apart.
  package var evidence: EvidenceStatus?

  package static let none = SealedResults()

  package init(
    expiresAt: Timestamp? = nil, waiting: [UInt8]? = nil, kept: KeptValues = KeptValues(),
    evidence: EvidenceStatus? = nil
  ) {
    self.expiresAt = expiresAt
    self.waiting = waiting
    self.kept = kept
    self.evidence = evidence
  }

  /// What a reader finds at `now`, whether or not a sweep has been there.
  package func seen(at now: Timestamp) -> SealedResults {
    var seen = self
    if seen.kept.erase(dueAt: now).includesEvidence { seen.evidence = .erased }
    return seen
  }
}

/// A session as it is stored.
package struct SessionRecord: Sendable, Hashable {
  package let address: SessionAddress
  package let created: Timestamp
  package let expiresAt: Timestamp
  /// SHA-256 of the client secret; nil once the secret is dead.
  package var clientSecretHash: [UInt8]?
  /// Nil once redacted.
  package var content: SessionContent?
  /// Empty once redacted.
  package var offers: [ProtocolOffer]
  /// As last written; what a reader sees also depends on the time: `state(at:)`.
  package var state: SessionState
  package var results: SealedResults
  package var report: ReportRecord?

  package init(
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

  package func state(at now: Timestamp) -> SessionState { state.seen(at: now, expiresAt: expiresAt) }
}
