/// Protocols that can be offered together, and what they have in common.
package enum ProtocolFamily: Sendable, Hashable, CaseIterable {
  /// Apple's in-app requests: alone.
  case inApp
  /// The Digital Credentials API: any of its protocols together.
  case web
  /// OpenID4VP by redirect or QR code, or its older profile in ISO/IEC TS 18013-7, Annex B: alone.
  case redirect
  /// A reader in person that hands in what it received: alone.
  case proximity

  /// All names of the API, built or not.
  package var protocolNames: [String] {
    switch self {
    case .inApp: ["apple-in-app"]
    case .web: ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"]
    case .redirect: ["openid4vp", "openid4vp-iso-18013-7-annex-b"]
    case .proximity: ["iso-18013-5-proximity"]
    }
  }

  package init?(ofProtocol name: String) {
    guard let family = Self.allCases.first(where: { $0.protocolNames.contains(name) }) else { return nil }
    self = family
  }

  /// Age thresholds that can be asked (HTTP API, Sessions).
  package var ageThresholds: ClosedRange<Int> { self == .inApp ? 1...125 : 1...99 }

  /// In-app requests cannot hold an age and an age threshold together.
  var allowsAgeWithThreshold: Bool { self != .inApp }
}
