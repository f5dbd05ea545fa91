import Base
import Cryptography
import Mdoc

/// Gives a wallet the signed request object of a session that waits for its answer, anew at each fetch.
struct FetchWalletRequest {
  let context: ServiceContext

  /// - Parameter parameters: reads the form's, where the wallet posted one, which costs what its sender likes. Those that
  ///   we do not know are left alone.
  func run(
    _ session: String, of relyingParty: String, parameters: () throws(ServiceError) -> JSON?
  ) async throws(ServiceError) -> [UInt8] {
    let address = try await WalletAddress(session, of: relyingParty, context: context)
    let record = address.record
    let now = context.clock()
    if let refusal = record.consumeRefusal(protocolName: address.wallet.name, at: now) {
      throw ServiceError(refusal.code)
    }
    let walletNonce = try parameters()?["wallet_nonce"]?.string
    guard let content = record.content, let sealed = record.offers.first?.sealedMaterial,
      let opened = try? context.sealer.open(sealed, .challenge(record.address.id, protocolName: address.wallet.name))
    else { throw ServiceError(.apiInternal, "A sealed record does not open with the configured keys.") }
    // Anybody who knows the id may ask, and each time something is signed.
    try context.gate.enter()
    defer { context.gate.leave() }
    let place = RequestContext(
      session: record.address, relyingParty: address.relyingParty, origin: content.origin,
      publicURL: context.publicURL, now: now)
    return try address.wallet.requestObject(
      opened, for: content.request, walletNonce: walletNonce, in: place)
  }
}
