import Base
import Cryptography
import Mdoc

@testable import Sessions

let start = Timestamp(secondsSince1970: 1_795_000_000)

/// A session that waits for its response.
func makeSession(
  of relyingParty: String = "shop", at now: Timestamp = start, lifetime: Int64 = 600,
  protocols: [String] = ["apple-in-app"], reference: String? = "order-17", note: String = "v",
  docTypes: [String] = [DocType.mDL], size: Int = 16
) throws -> SessionRecord {
  let id = try SessionID.random()
  return SessionRecord(
    address: SessionAddress(relyingParty: relyingParty, id: id), created: now,
    expiresAt: now + lifetime, clientSecretHash: try ClientSecret.random(of: id).sha256,
    content: SessionContent(
      request: PresentationRequest(
        documents: docTypes.map {
          DocumentRequest(
            docType: $0, elements: [ElementRequest(ElementReference(Namespace.mDL, "given_name"))], ageOver: [21])
        }), origin: nil, clientReferenceID: reference, metadata: [.init(name: "k", value: note)]),
    offers: protocols.map {
      ProtocolOffer(
        protocolName: $0, data: JSONText(["zulu": 1, "alpha": ["b": true, "a": .null]]),
        sealedMaterial: [UInt8](repeating: 0x5a, count: size))
    })
}

/// - Parameter session: nil for one whose report has its own name, as in older versions.
func makeReport(
  _ code: Code = .issuerUnknown, _ outcome: Check.Outcome = .failed, of session: SessionID? = nil
) throws -> ReportRecord {
  ReportRecord(
    VerificationReport(
      verifiedAt: start, trustSnapshot: "00", checks: [Check(code, outcome, detail: "a detail")],
      documents: [DocumentReport(docType: DocType.mDL, checks: [Check(.digestMismatch, .notRun)])]),
    id: ReportID(of: try session ?? SessionID.random()))
}

let failure = AttemptOutcome.Conclusion.failed(LastError([Reason(.issuerUnknown, document: 0)]))

extension SessionStore {
  func add(_ session: SessionRecord) async throws -> SessionRecord {
    try await create(session, finishing: nil)
    return session
  }

  /// Consumes the challenge; fails the test if that is refused.
  func take(_ session: SessionRecord, at now: Timestamp = start) async throws -> AttemptID {
    let attempt = try AttemptID.random()
    guard
      case .consumed = try await consume(session.address, protocolName: "apple-in-app", attempt: attempt, at: now)
    else { throw StoreError.corrupt("not consumed") }
    return attempt
  }

  func refusal(_ address: SessionAddress, _ name: String = "apple-in-app", at now: Timestamp = start) async throws
    -> Code?
  {
    switch try await consume(address, protocolName: name, attempt: try AttemptID.random(), at: now) {
    case .consumed: nil
    case .refused(let refusal): refusal
    }
  }
}

extension OutcomeRecording {
  var isRecorded: Bool { if case .recorded = self { true } else { false } }
}

extension Transition {
  var changed: SessionRecord? { if case .changed(let record) = self { record } else { nil } }
  var refused: SessionRecord? { if case .refused(let record) = self { record } else { nil } }
}
