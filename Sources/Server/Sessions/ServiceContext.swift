import Base
import Cryptography
import Mdoc
import Trust

/// What a `VerificationService` is made of.
package struct ServiceConfiguration: Sendable {
  package var mode: ServerMode
  package var relyingParties: RelyingParties
  /// The protocols that are built; a session may ask for these.
  package var protocols: [any WalletProtocol]
  package var trust: CurrentTrust
  package var clockSkew = Limits.clockSkew
  /// Where wallets reach this server; needed for requests that are fetched and answers that are posted by wallets.
  package var publicURL: String?
  /// Who answers questions of revocation.
  package var revocation: any RevocationSource
  /// By what zero-knowledge proofs are verified; nil where no circuits are configured.
  package var proofs: ProofPolicy?
  /// The first one seals, all open. May be empty in test mode alone: then a key is made that dies with the process.
  package var sealingKeys: [SealingKey]
  /// Answers that are verified or wait to be at one time; more are refused before anything is consumed.
  package var concurrentAnswers = 256

  /// Hears how many seconds each stage of an answer's verification took. Called wherever it is, so it must not block.
  package var observe: @Sendable (VerificationStage, Double) -> Void = { _, _ in }
  /// Hears of each proof that was verified or found wrong. It must not block either.
  package var observeProof: @Sendable (ProofRun) -> Void = { _ in }

  package init(
    mode: ServerMode, relyingParties: RelyingParties, protocols: [any WalletProtocol], trust: CurrentTrust,
    revocation: any RevocationSource, sealingKeys: [SealingKey]
  ) {
    self.mode = mode
    self.relyingParties = relyingParties
    self.protocols = protocols
    self.trust = trust
    self.revocation = revocation
    self.sealingKeys = sealingKeys
  }
}

/// What every use case works with; one for all of them, since a copy of all that it refers to would cost each call.
final class ServiceContext: Sendable {
  let mode: ServerMode
  let relyingParties: RelyingParties
  let protocols: [String: any WalletProtocol]
  let trust: CurrentTrust
  let clockSkew: Int64
  let publicURL: String?
  let revocation: any RevocationSource
  /// Nil where no circuits are configured.
  let proofs: ProofPolicy?
  let store: any SessionStore
  let sealer: Sealer
  let clock: @Sendable () -> Timestamp
  let gate: AdmissionGate
  let proofTurns: ProofTurns
  let lists: ListTurns
  let usage: UsageBook
  let observe: @Sendable (VerificationStage, Double) -> Void
  private let observeProof: @Sendable (ProofRun) -> Void

  init(
    _ configuration: ServiceConfiguration, store: any SessionStore, sharing other: ServiceContext? = nil,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(ConfigurationError) {
    guard store.mode == configuration.mode else {
      throw ConfigurationError("the store was made for \(store.mode.rawValue) mode")
    }
    guard configuration.mode == .test || !configuration.sealingKeys.isEmpty else {
      throw ConfigurationError("\(configuration.mode.rawValue) mode needs a sealing key (`sealing_keys`)")
    }
    var protocols: [String: any WalletProtocol] = [:]
    for built in configuration.protocols {
      guard ProtocolFamily(ofProtocol: built.name) != nil,
        protocols.updateValue(built, forKey: built.name) == nil
      else { throw ConfigurationError("\"\(built.name)\" is no protocol of the API, or there twice") }
    }
    mode = configuration.mode
    relyingParties = configuration.relyingParties
    self.protocols = protocols
    trust = configuration.trust
    clockSkew = configuration.clockSkew
    publicURL = configuration.publicURL
    revocation = configuration.revocation
    proofs = configuration.proofs
    self.store = store
    sealer = try Sealer(
      configuration.sealingKeys.isEmpty ? [ServiceContext.temporaryKey()] : configuration.sealingKeys)
    self.clock = clock
    gate = other?.gate ?? AdmissionGate(limit: configuration.concurrentAnswers)
    proofTurns = other?.proofTurns ?? ProofTurns()
    lists = other?.lists ?? ListTurns()
    usage = other?.usage ?? UsageBook()
    observe = configuration.observe
    observeProof = configuration.observeProof
  }

  var isLive: Bool { mode.isLive }

  /// The rules for one attempt.
  func verifier(for relyingParty: RelyingParty, trust: TrustStore) -> MdocVerifier {
    var verifier = MdocVerifier(
      trust: trust, clockSkew: clockSkew, revocation: relyingParty.policies.revocation)
    verifier.proofs = proofs
    verifier.didVerifyProof = observeProof
    return verifier
  }

  /// For test mode: what it sealed cannot be opened by the next process.
  private static func temporaryKey() throws(ConfigurationError) -> SealingKey {
    let key: SecretBytes
    do { key = try SecretBytes.random(count: SealingKey.length) } catch {
      throw ConfigurationError("the random generator failed")
    }
    return try SealingKey(id: "temporary", key: key)
  }

  func seal(_ bytes: [UInt8], _ place: Sealer.Place) throws(ServiceError) -> [UInt8] {
    do { return try sealer.seal(bytes, place) } catch { throw .cryptoFailed }
  }

  func seal(_ json: JSON, _ place: Sealer.Place) throws(ServiceError) -> [UInt8] {
    try seal(json.serialized(), place)
  }

  /// JSON sealed by this or an earlier process. A key that is no longer configured is the operator's fault.
  func openJSON(_ sealed: [UInt8], _ place: Sealer.Place) throws(ServiceError) -> JSON {
    do {
      // A reply or a result, which is about to be sent: no secret of ours.
      return try StoredForm.decodeOrdered(try sealer.open(sealed, place).exposed())
    } catch {
      throw ServiceError(.apiInternal, "A sealed record does not open with the configured keys.")
    }
  }
}
