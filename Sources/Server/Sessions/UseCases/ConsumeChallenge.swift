import Base
import Cryptography

/// A challenge that was taken from the store and can be answered once: it cannot be copied, and only this file makes
/// one (architecture, 3.3). Evidence has one that was answered already, to see again what came of it.
package struct ConsumedChallenge: ~Copyable, Sendable {
  package let session: SessionID
  package let protocolName: String
  /// The request as it was handed out: `data` of the session's entry for this protocol. Never inlined, as
  /// `Authentication.questions`: evidence keeps it for longer than the challenge lives.
  package var requestData: JSONText { @inline(never) get { handedOut } }
  private let handedOut: JSONText
  /// What the protocol gave away with the request.
  package let material: SecretBytes

  fileprivate init(session: SessionID, protocolName: String, requestData: JSONText, material: consuming SecretBytes) {
    self.session = session
    self.protocolName = protocolName
    handedOut = requestData
    self.material = material
  }

  static func kept(in bundle: EvidenceBundle) -> ConsumedChallenge {
    ConsumedChallenge(
      session: bundle.session, protocolName: bundle.protocolName, requestData: bundle.requestData,
      material: bundle.material.bytes.withUnsafeBytes { SecretBytes(copying: $0) })
  }
}

/// Takes a session's challenge: durably, before anything is opened.
struct ConsumeChallenge {
  let context: ServiceContext

  struct Taken: ~Copyable, Sendable {
    private let taken: (record: SessionRecord, attempt: AttemptID)
    private let challenge: ConsumedChallenge?

    init(record: SessionRecord, attempt: AttemptID, challenge: consuming ConsumedChallenge?) {
      taken = (record, attempt)
      self.challenge = challenge
    }

    /// Never inlined, as `Authentication.questions`: it outlives the challenge.
    var record: SessionRecord { @inline(never) get { taken.record } }
    var attempt: AttemptID { @inline(never) get { taken.attempt } }

    /// The challenge for its one use; nil where its material does not open with the configured sealing keys. It is
    /// consumed all the same.
    consuming func intoChallenge() -> ConsumedChallenge? { challenge }
  }

  func run(_ address: SessionAddress, protocolName: String) async throws(ServiceError) -> Taken {
    let attempt: AttemptID
    do { attempt = try AttemptID.random() } catch { throw .cryptoFailed }
    let consumption: Consumption
    do {
      consumption = try await context.store.consume(
        address, protocolName: protocolName, attempt: attempt, at: context.clock())
    } catch {
      throw ServiceError(error)
    }
    switch consumption {
    case .refused(let refusal): throw ServiceError(refusal.code)
    case .consumed(let record):
      context.usage.note(StoreUsage(openSessions: -1), of: address.relyingParty)
      return Taken(record: record, attempt: attempt, challenge: open(record, protocolName))
    }
  }

  private func open(_ record: SessionRecord, _ protocolName: String) -> ConsumedChallenge? {
    guard let offer = record.offers.first(where: { $0.protocolName == protocolName }),
      let sealed = offer.sealedMaterial,
      let material = try? context.sealer.open(sealed, .challenge(record.address.id, protocolName: protocolName))
    else { return nil }
    return ConsumedChallenge(
      session: record.address.id, protocolName: protocolName, requestData: offer.data, material: material)
  }
}

extension ConsumeRefusal {
  var code: Code {
    switch self {
    case .notFound: .sessionNotFound
    case .alreadyUsed: .sessionAlreadyUsed
    case .expired: .sessionExpired
    case .canceled: .sessionCanceled
    case .redacted: .sessionRedacted
    case .protocolMismatch: .sessionProtocolMismatch
    }
  }
}
