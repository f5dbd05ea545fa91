import Base
import Cryptography
import Presentation

/// Operations with relying parties' keys in tokens. A token may be slow or unavailable. Its work runs on its own
/// threads, in bounded time, and before anything is consumed.
extension VerificationService {
  /// Runs work that may use these keys. If a token stores one of them, the work runs on the token's threads, otherwise
  /// on this thread.
  /// - Throws: `api.key_unavailable`, or the work's own error.
  func using<Value: Sendable>(
    _ keys: [PrivateKey], _ work: @escaping @Sendable () throws(ServiceError) -> Value
  ) async throws(ServiceError) -> Value {
    guard let held = keys.lazy.compactMap(\.held).first else { return try work() }
    let result = await held.result(of: { Result { () throws(ServiceError) in try work() } })
    guard let result else { throw .keyUnavailable }
    return try result.get()
  }

  /// The secret that opens this envelope, if a token holds the merchant's key. It is derived before the challenge is
  /// consumed, but used only afterwards.
  func opening(
    _ response: WalletResponse, by wallet: any WalletProtocol, for party: RelyingParty,
    to session: SessionAddress? = nil
  ) async throws(ServiceError) -> AppleOpening? {
    guard wallet is AppleInAppProtocol, case .response(.bytes(let envelope)) = response else { return nil }
    let keys = party.apple.flatMap(\.encryptionKeys).filter { $0.held != nil }
    guard !keys.isEmpty else { return nil }
    // The token does no work for a session that no longer accepts a response.
    if let session, try await record(at: session).consumeRefusal(protocolName: wallet.name, at: clock()) != nil {
      return nil
    }
    return try await using(keys) { () throws(ServiceError) in
      do throws(CryptoError) { return try AppleOpening(ofEnvelope: envelope, withOneOf: keys) } catch {
        guard error == .keyUnavailable else { return nil }
        throw .keyUnavailable
      }
    }
  }

  /// The tokens that hold keys of relying parties, and whether each is available now.
  package func heldKeys() async -> [(holder: String, isAvailable: Bool)] {
    let keys = relyingParties.all.flatMap { $0.readers.map(\.key) + $0.apple.flatMap(\.encryptionKeys) }
    let holders = Dictionary(grouping: keys.compactMap(\.held), by: \.holder)
    var found: [(holder: String, isAvailable: Bool)] = []
    for (holder, keys) in holders.sorted(by: { $0.key < $1.key }) {
      let isAvailable = await keys[0].result(of: { keys.allSatisfy { (try? $0.check()) != nil } })
      found.append((holder, isAvailable ?? false))
    }
    return found
  }
}
