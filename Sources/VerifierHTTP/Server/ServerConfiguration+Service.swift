import Trust
import VerificationService

/// What the application is made of, at the start and at every reload.
extension ServerConfiguration {
  func service(_ trust: TrustInForce, metrics: Metrics) -> ServiceConfiguration {
    var parts = ServiceConfiguration(
      isLive: isLive, relyingParties: relyingParties, protocols: Self.protocols(isLive: isLive), trust: trust,
      revocation: UnhurriedRevocation(source: revocation), sealingKeys: sealingKeys)
    parts.clockSkew = clockSkew
    parts.publicURL = publicURL
    parts.observe = metrics.finished
    return parts
  }

  /// All that is built, in live and in test mode; what a relying party lacks keys for is refused at the creation.
  static func protocols(isLive: Bool) -> [any WalletProtocol] {
    let web = OpenID4VPWebProtocol.Signing.allCases.map(OpenID4VPWebProtocol.init)
    return [AppleInAppProtocol(showsSimulatedAnswers: !isLive), AnnexCProtocol()] + web + [
      OpenID4VPRedirectProtocol(), AnnexBProtocol(), ProximityProtocol(),
    ]
  }
}
