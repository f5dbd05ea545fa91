import Base
import Cryptography
import Longfellow
import Mdoc
import Trust

/// A server's mode. It determines how much a verdict proves. It is set before the server starts and recorded in the
/// store. It never changes.
///
/// | | test | staging | live |
/// |---|---|---|---|
/// | certificates of the mock authority | trusted | refused | refused |
/// | certificates for published keys | trusted | warned of | refused |
/// | anchors of the tier `test` | trusted | trusted if configured | ignored |
/// | mock wallet, page, simulated results | yes | no | no |
/// | `livemode` | false | false | true |
package enum ServerMode: String, Sendable, Hashable, CaseIterable {
  /// `mdoc serve --test-mode`: the server itself makes everything that it verifies.
  case test
  /// `"mode": "staging"`: real wallets with sandbox documents. It is otherwise as strict as live mode.
  case staging
  case live

  package var isLive: Bool { self == .live }
}

package struct ServiceConfiguration: Sendable {
  package var mode: ServerMode
  package var relyingParties: RelyingParties
  /// The protocols that a session may offer.
  package var protocols: [any WalletProtocol]
  package var trust: CurrentTrust
  package var clockSkew = Limits.clockSkew
  /// The address at which wallets reach this server; required if they fetch requests or post responses.
  package var publicURL: String?
  package var revocation: any RevocationSource
  /// Verifies zero-knowledge proofs; nil if no circuits are configured.
  package var proofs: ProofPolicy?
  /// The first key seals new data. Every key can open sealed data. Empty only in test mode, where each process
  /// generates a temporary key.
  package var sealingKeys: [SealingKey]
  /// Maximum number of concurrent responses. Further responses are refused before their challenges are consumed.
  package var concurrentResponses = 256

  /// Receives the duration of each stage of a verification, in seconds. Must not block.
  package var observe: @Sendable (VerificationStage, Double) -> Void = { _, _ in }
  /// Called for each proof that was found valid or invalid. Must not block.
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

/// Sessions and all operations on them, for both HTTP and Swift callers. `UseCases/` has a method for each call of the
/// HTTP API. A method validates its input strictly. It returns the reply, or throws the `ServiceError` that becomes the
/// HTTP problem. The route checks the caller's rights. The method restricts each caller to its own sessions.
package final class VerificationService: Sendable {
  let configuration: ServiceConfiguration
  let protocols: [String: any WalletProtocol]
  let store: any SessionStore
  let sealer: Sealer
  let clock: @Sendable () -> Timestamp
  let gate: AdmissionGate
  let proofSlots: ProofSlots
  let lists: ListSlots
  let estimates: UsageEstimates

  /// Refuses a store of another mode, a missing sealing key outside test mode, and duplicate protocols.
  /// - Parameter other: the service whose queues and usage are shared.
  package init(
    _ configuration: ServiceConfiguration, store: any SessionStore, sharing other: VerificationService? = nil,
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
      guard ProtocolFamily(ofProtocol: built.name) != nil, protocols.updateValue(built, forKey: built.name) == nil
      else { throw ConfigurationError("\"\(built.name)\" is not a protocol of the API, or is a duplicate") }
    }
    self.configuration = configuration
    self.protocols = protocols
    self.store = store
    sealer = try Sealer(configuration.sealingKeys.isEmpty ? [Self.temporaryKey()] : configuration.sealingKeys)
    self.clock = clock
    gate = other?.gate ?? AdmissionGate(limit: configuration.concurrentResponses)
    proofSlots = other?.proofSlots ?? ProofSlots()
    lists = other?.lists ?? ListSlots()
    estimates = other?.estimates ?? UsageEstimates()
  }

  /// The service with another configuration. It uses the same store, clock, queues and usage. Running calls keep the
  /// old configuration.
  package func reconfigured(by configuration: ServiceConfiguration) throws(ConfigurationError) -> VerificationService {
    try VerificationService(configuration, store: store, sharing: self, clock: clock)
  }

  package var mode: ServerMode { configuration.mode }
  package var relyingParties: RelyingParties { configuration.relyingParties }
  package var revocation: any RevocationSource { configuration.revocation }
  package var circuits: CircuitLibrary? { configuration.proofs?.circuits }
  var publicURL: String? { configuration.publicURL }
  package var protocolNames: [String] { protocols.keys.sorted() }

  func verifier(for relyingParty: RelyingParty, trust: TrustStore) -> MdocVerifier {
    var verifier = MdocVerifier(
      trust: trust, clockSkew: configuration.clockSkew, revocation: relyingParty.policies.revocation)
    verifier.proofs = configuration.proofs
    verifier.didVerifyProof = configuration.observeProof
    return verifier
  }

  var rendering: SessionRendering { SessionRendering(isLive: mode.isLive, now: clock()) }

  /// Calls the store and maps its error.
  func stored<Value>(_ use: (any SessionStore) async throws(StoreError) -> Value) async throws(ServiceError) -> Value {
    do { return try await use(store) } catch { throw ServiceError(error) }
  }

  /// Reads the session at an address. An unknown id and another relying party's id get the same error in the same time,
  /// since both need one query of one index. Only a caller that already knows an id of 131 random bits can measure the
  /// time for the one extra row.
  /// - Throws: `session.not_found` in both cases.
  func record(at address: SessionAddress) async throws(ServiceError) -> SessionRecord {
    let record = try await stored { store throws(StoreError) in try await store.session(address) }
    guard let record else { throw .sessionNotFound }
    return record
  }

  /// A random key for test mode. The next process cannot open the data of this process.
  private static func temporaryKey() throws(ConfigurationError) -> SealingKey {
    let key: SecretBytes
    do { key = try SecretBytes.random(count: SealingKey.length) } catch {
      throw ConfigurationError("the random generator failed")
    }
    return try SealingKey(id: "temporary", key: key)
  }

  func seal(_ json: JSON, _ field: Sealer.Field) throws(ServiceError) -> [UInt8] {
    do { return try sealer.seal(json.serialized(), field) } catch { throw .cryptoFailed }
  }

  /// Opens JSON sealed by this or an earlier process. A key that is no longer configured is a configuration error.
  func openJSON(_ sealed: [UInt8], _ field: Sealer.Field) throws(ServiceError) -> JSON {
    do {
      // The JSON is a reply or a result that is about to be sent, not a secret.
      return try StoredForm.decodeOrdered(try sealer.open(sealed, field).exposed())
    } catch { throw ServiceError(.apiInternal, "A sealed record cannot be opened with the configured keys.") }
  }
}

/// The version of this program, as in the audit log.
package enum ProgramVersion {
  package static let text = "0.6.0"
  /// The release date for manual pages, not the build date. Before the release, it is the date of the last change.
  package static let date = "2026-11-25"
}
