/// All protocols that there are.
package enum BuiltProtocols {
  /// What a relying party lacks keys for is refused at the creation of a session.
  package static func all(isLive: Bool) -> [any WalletProtocol] {
    let web = OpenID4VPWebProtocol.Signing.allCases.map(OpenID4VPWebProtocol.init)
    return [AppleInAppProtocol(showsSimulatedAnswers: !isLive), AnnexCProtocol()] + web + [
      OpenID4VPRedirectProtocol(), AnnexBProtocol(), ProximityProtocol(),
    ]
  }
}
