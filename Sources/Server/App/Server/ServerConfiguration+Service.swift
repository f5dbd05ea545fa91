import Sessions
import Trust

/// What the application is made of, at the start and at every reload.
extension ServerConfiguration {
  func service(_ trust: TrustInForce, metrics: Metrics) -> ServiceConfiguration {
    var parts = ServiceConfiguration(
      isLive: isLive, relyingParties: relyingParties, protocols: BuiltProtocols.all(isLive: isLive), trust: trust,
      revocation: UnhurriedRevocation(source: revocation), sealingKeys: sealingKeys)
    parts.clockSkew = clockSkew
    parts.publicURL = publicURL
    parts.observe = metrics.finished
    return parts
  }
}
