/// What a `VerificationService` is made of.
public struct ServiceConfiguration: Sendable {
  public var isLive: Bool
  public var relyingParties: RelyingParties
  /// The protocols that are built; a session may ask for these.
  public var protocols: [any WalletProtocol]
  /// The first one seals, all open. May be empty in test mode alone: then a key is made that dies with the process.
  public var sealingKeys: [SealingKey]
  /// Answers that are verified or wait to be at one time; more are refused before anything is consumed.
  public var concurrentAnswers = 256

  public init(
    isLive: Bool, relyingParties: RelyingParties, protocols: [any WalletProtocol], sealingKeys: [SealingKey]
  ) {
    self.isLive = isLive
    self.relyingParties = relyingParties
    self.protocols = protocols
    self.sealingKeys = sealingKeys
  }
}
