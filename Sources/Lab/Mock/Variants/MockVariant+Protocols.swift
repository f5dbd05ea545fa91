extension MockVariant {
  /// Whether the variant's codes hold for answers over this protocol, by its name in the HTTP API.
  ///
  /// - Parameters:
  ///   - isEncrypted: whether the request asks for an encrypted answer, where the protocol leaves the choice.
  ///   - usesMAC: whether the device sends a MAC in place of a signature.
  package func holds(over protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false) -> Bool {
    let isInApp = protocolName == "apple-in-app"
    let isRedirect = protocolName == "openid4vp"
    let isAnnexB = protocolName == "openid4vp-iso-18013-7-annex-b"
    let isWeb = protocolName.hasPrefix("openid4vp-v1-")
    // OpenID4VP's encryption key is the reader key; in person there may be one.
    let hasReaderKey = isAnnexB || ((isRedirect || isWeb) && isEncrypted) || usesMAC
    return switch applicability {
    case .anyProtocol: true
    case .appleInApp: isInApp
    case .notAppleInApp: !isInApp
    case .deviceMAC: hasReaderKey
    case .withoutReaderKey: !hasReaderKey
    case .annexC: protocolName == MockProtocol.annexC
    case .openID4VP: isRedirect || isWeb
    case .openID4VPEncrypted: (isRedirect || isWeb) && isEncrypted
    case .openID4VPDigitalCredentials: isWeb
    case .openID4VPRedirect: isRedirect
    case .annexB: isAnnexB
    }
  }
}
