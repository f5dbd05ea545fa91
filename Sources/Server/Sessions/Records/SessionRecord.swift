import Base
import Cryptography
import Mdoc

/// The address of a session in every store operation. A relying party cannot address another party's session.
package struct SessionAddress: Sendable, Hashable {
  package let relyingParty: String
  package let id: SessionID

  package init(relyingParty: String, id: SessionID) {
    self.relyingParty = relyingParty
    self.id = id
  }
}

/// A text with its name or language.
package struct NamedText: Sendable, Hashable {
  package let name: String
  package let value: String
}

/// The relying party's request and notes. Redaction erases them.
package struct SessionContent: Sendable, Hashable {
  package let request: PresentationRequest
  package let origin: String?
  /// The address to which the wallet sends the person after its response. Reading the result then requires a response
  /// code.
  package let redirectURI: String?
  package let page: HostedPageOptions?
  /// Selects the registration certificate of the session's requests.
  package let intendedUseID: String?
  package let clientReferenceID: String?
  package let metadata: [NamedText]

  package init(
    request: PresentationRequest, origin: String?, redirectURI: String? = nil, page: HostedPageOptions? = nil,
    intendedUseID: String? = nil, clientReferenceID: String?, metadata: [NamedText]
  ) {
    self.request = request
    self.origin = origin
    self.redirectURI = redirectURI
    self.page = page
    self.intendedUseID = intendedUseID
    self.clientReferenceID = clientReferenceID
    self.metadata = metadata
  }

  /// The requested document types, by which stores filter lists.
  package var docTypeLines: String { Self.lines(of: request.documents.map(\.docType)) }

  /// The types, with a line break before and after each type.
  package static func lines(of docTypes: [String]) -> String { "\n" + docTypes.joined(separator: "\n") + "\n" }
}

package struct ProtocolOffer: Sendable, Hashable {
  package let protocolName: String
  /// `data` of an entry of `requests`. It is not parsed on its way to the wallet.
  package let data: JSONText
  /// The sealed material that opens the response; nil once the challenge can no longer be consumed.
  package var sealedMaterial: [UInt8]?

  package init(protocolName: String, data: JSONText, sealedMaterial: [UInt8]?) {
    self.protocolName = protocolName
    self.data = data
    self.sealedMaterial = sealedMaterial
  }
}

/// Sealed results: a result that waits to be read, and the parts that the relying party retains.
package struct SealedResults: Sendable, Hashable {
  /// The expiry of the waiting result.
  package var expiresAt: Timestamp?
  package var waiting: [UInt8]?
  package var kept: KeptValues
  /// The status of the evidence; nil if the policy asks for none. The bundle itself is read separately.
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

  /// The results as of `now`, whether or not a sweep has run.
  package func seen(at now: Timestamp) -> SealedResults {
    var seen = self
    if seen.kept.erase(dueAt: now) { seen.evidence = .erased }
    return seen
  }
}

package struct SessionRecord: Sendable, Hashable {
  package let address: SessionAddress
  package let created: Timestamp
  package let expiresAt: Timestamp
  /// SHA-256 of the client secret; nil once the secret has ended.
  package var clientSecretHash: [UInt8]?
  /// Nil once redacted.
  package var content: SessionContent?
  /// Empty once redacted.
  package var offers: [ProtocolOffer]
  /// The state as last written. Read it with `state(at:)`.
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

/// The retained values of a verified session. Each is erased when its retention period ends. The record remains until
/// the last value is erased.
package struct KeptValues: Sendable, Hashable {
  /// Sealed values that are erased at the same time.
  package struct Part: Sendable, Hashable {
    package let eraseAt: Timestamp
    package let sealed: [UInt8]

    package init(eraseAt: Timestamp, sealed: [UInt8]) {
      self.eraseAt = eraseAt
      self.sealed = sealed
    }
  }

  /// The retained values. They never include elements requested with `intent_to_retain: false`.
  package private(set) var parts: [Part]
  /// The erasure time of the evidence bundle, which contains all values. Nil erases the bundle with the record.
  package private(set) var evidenceUntil: Timestamp?

  package init(parts: [Part] = [], evidenceUntil: Timestamp? = nil) {
    self.parts = parts
    self.evidenceUntil = evidenceUntil
  }

  /// The time of the next erasure. Nil means that nothing remains to erase and the record may be deleted.
  package var nextErasure: Timestamp? { (parts.map(\.eraseAt) + [evidenceUntil].compactMap { $0 }).min() }

  /// Erases due values. Returns true if the evidence was also erased.
  package mutating func erase(dueAt now: Timestamp) -> Bool {
    parts.removeAll { $0.eraseAt <= now }
    guard let evidenceUntil, evidenceUntil <= now else { return false }
    self.evidenceUntil = nil
    return true
  }
}

extension KeptValues.Part: StoredValue {
  package static let stored = StoredShape<Self>(Self.init, .init("eraseAt", \.eraseAt), .init("sealed", \.sealed))
}

extension KeptValues: StoredValue {
  package static let stored = StoredShape<KeptValues>(
    KeptValues.init(parts:evidenceUntil:), .list("parts", \.parts), .optional("evidenceUntil", \.evidenceUntil))

  /// The encoding for a store's column; nil if nothing is kept.
  package var stored: [UInt8]? { nextErasure.map { _ in StoredForm.encode(self) } }

  /// - Parameter end: the erasure time for an earlier version's single sealed result. It is the end of the session's
  ///   record, or now in a sweep. The first byte of such a result is a version number, which distinguishes it from
  ///   JSON.
  package init(stored bytes: [UInt8]?, end: Timestamp) throws(StoreError) {
    guard let bytes else {
      self.init()
      return
    }
    guard bytes.first == UInt8(ascii: "{") else {
      self.init(parts: [Part(eraseAt: end, sealed: bytes)])
      return
    }
    self = try StoredForm.decode(KeptValues.self, from: bytes)
  }

  /// The values that a sweep leaves in a column at `now`. The sweep erases unreadable values, since nobody can ever
  /// read them.
  package static func left(of bytes: [UInt8]?, at now: Timestamp) -> (kept: KeptValues, erasesEvidence: Bool) {
    guard var kept = try? KeptValues(stored: bytes, end: now) else { return (KeptValues(), true) }
    let erasesEvidence = kept.erase(dueAt: now)
    return (kept, erasesEvidence)
  }
}

package enum SessionStatus: String, Sendable, Hashable, CaseIterable {
  case requiresInput = "requires_input"
  case processing
  case verified
  case failed
  case canceled
  case expired
  case redacted

  package var isFinal: Bool { self != .requiresInput && self != .processing }
}

/// A session's state, with the data of that state only: `requires_input` → `processing` → `verified` | `failed` |
/// `canceled`; or `canceled`, `expired`; afterwards `redacted`. A challenge allows one attempt, and no transition goes
/// back.
package enum SessionState: Sendable, Hashable {
  case requiresInput
  case processing(Attempt)
  case verified(at: Timestamp)
  case failed(LastError, at: Timestamp)
  /// Canceled by the relying party, or declined by the wallet after the challenge was consumed. `lastError` is the
  /// wallet's reason.
  case canceled(at: Timestamp, lastError: LastError? = nil)
  case expired
  /// Only ids, times, status and codes remain.
  case redacted(at: Timestamp, lastError: LastError?)

  package struct Attempt: Sendable, Hashable {
    package let id: AttemptID
    /// The protocol that consumed the challenge; nil in older sessions.
    package let protocolName: String?
    package let startedAt: Timestamp

    package init(id: AttemptID, protocolName: String?, startedAt: Timestamp) {
      self.id = id
      self.protocolName = protocolName
      self.startedAt = startedAt
    }
  }

  package var status: SessionStatus {
    switch self {
    case .requiresInput: .requiresInput
    case .processing: .processing
    case .verified: .verified
    case .failed: .failed
    case .canceled: .canceled
    case .expired: .expired
    case .redacted: .redacted
    }
  }

  package var lastError: LastError? {
    switch self {
    case .failed(let error, _): error
    case .canceled(_, let error), .redacted(_, let error): error
    default: nil
    }
  }

  /// The state at `now`: a session expires at `expiresAt`, and is interrupted after 30 seconds of `processing`.
  package func seen(at now: Timestamp, expiresAt: Timestamp) -> SessionState {
    switch self {
    case .requiresInput where now >= expiresAt: .expired
    case .processing(let attempt) where now > attempt.startedAt + Limits.processingTimeout:
      .failed(.interrupted, at: attempt.startedAt + (Limits.processingTimeout + 1))
    default: self
    }
  }
}

extension SessionRecord {
  /// Requests of the Digital Credentials API.
  var webOffers: [ProtocolOffer] { offers.filter { ProtocolFamily(ofProtocol: $0.protocolName) == .web } }

  /// The reason why this protocol cannot consume the challenge now; nil if it can.
  package func consumeRefusal(protocolName: String, at now: Timestamp) -> Code? {
    switch state(at: now) {
    case .requiresInput: offers.contains { $0.protocolName == protocolName } ? nil : .sessionProtocolMismatch
    case .expired: .sessionExpired
    case .canceled: .sessionCanceled
    case .redacted: .sessionRedacted
    case .processing, .verified, .failed: .sessionAlreadyUsed
    }
  }
}

/// A change of a session. A session ends once and is redacted at most once, so it has at most one event of a type.
package enum EventType: String, Sendable, Hashable, CaseIterable {
  case verified = "verification_session.verified"
  case failed = "verification_session.failed"
  case canceled = "verification_session.canceled"
  case expired = "verification_session.expired"
  case redacted = "verification_session.redacted"

  /// The status after the event. Stores record the type by name.
  package var status: SessionStatus {
    switch self {
    case .verified: .verified
    case .failed: .failed
    case .canceled: .canceled
    case .expired: .expired
    case .redacted: .redacted
    }
  }

  /// Nil for a session that has not ended.
  package init?(_ status: SessionStatus) { self.init(rawValue: "verification_session." + status.rawValue) }
}
