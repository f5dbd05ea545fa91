import Base
import Trust

/// What a `VerificationService` is made of.
public struct ServiceConfiguration: Sendable {
  public var isLive: Bool
  public var relyingParties: RelyingParties
  /// The protocols that are built; a session may ask for these.
  public var protocols: [any WalletProtocol]
  public var trust: TrustInForce
  public var clockSkew = Limits.clockSkew
  /// Where wallets reach this server; needed for requests that are fetched and answers that are posted by wallets.
  public var publicURL: String?
  /// Who answers questions of revocation.
  public var revocation: any RevocationSource
  /// The first one seals, all open. May be empty in test mode alone: then a key is made that dies with the process.
  public var sealingKeys: [SealingKey]
  /// Answers that are verified or wait to be at one time; more are refused before anything is consumed.
  public var concurrentAnswers = 256

  /// Hears how many seconds each stage of an answer's verification took. Called wherever it is, so it must not block.
  public var observe: @Sendable (VerificationStage, Double) -> Void = { _, _ in }

  public init(
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
