import Base
import Trust

/// What a `VerificationService` is made of.
package struct ServiceConfiguration: Sendable {
  package var isLive: Bool
  package var relyingParties: RelyingParties
  /// The protocols that are built; a session may ask for these.
  package var protocols: [any WalletProtocol]
  package var trust: TrustInForce
  package var clockSkew = Limits.clockSkew
  /// Where wallets reach this server; needed for requests that are fetched and answers that are posted by wallets.
  package var publicURL: String?
  /// Who answers questions of revocation.
  package var revocation: any RevocationSource
  /// The first one seals, all open. May be empty in test mode alone: then a key is made that dies with the process.
  package var sealingKeys: [SealingKey]
  /// Answers that are verified or wait to be at one time; more are refused before anything is consumed.
  package var concurrentAnswers = 256

  /// Hears how many seconds each stage of an answer's verification took. Called wherever it is, so it must not block.
  package var observe: @Sendable (VerificationStage, Double) -> Void = { _, _ in }

  package init(
    isLive: Bool, relyingParties: RelyingParties, protocols: [any WalletProtocol], trust: TrustInForce,
    revocation: any RevocationSource, sealingKeys: [SealingKey]
  ) {
    self.isLive = isLive
    self.relyingParties = relyingParties
    self.protocols = protocols
    self.trust = trust
    self.revocation = revocation
    self.sealingKeys = sealingKeys
  }
}
