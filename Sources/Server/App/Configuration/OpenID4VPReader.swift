import Base
import Sessions

/// Reads `openid4vp` of a relying party: `{"encrypted_responses": true, "annex_b": false, "scheme": "openid4vp",
/// "trusted_authorities": []}`.
struct OpenID4VPReader {
  /// Octets of a key identifier: SHA-1 by the profile, and what else authorities have made of it.
  private static let identifierOctets = 1...64

  func configuration(
    _ party: ConfigurationReader, _ warnings: inout [String]
  ) throws(StartError) -> OpenID4VPConfiguration {
    var configuration = OpenID4VPConfiguration()
    let known = ConfigurationTables.openID4VP.names
    guard let entry = try party.object("openid4vp", known: known) else { return configuration }
    configuration.encryptsResponses = try entry.bool("encrypted_responses", default: true)
    configuration.offersAnnexB = try entry.bool("annex_b", default: false)
    if entry.value("scheme") != nil {
      configuration.scheme = try entry.string("scheme")
      guard Self.isScheme(configuration.scheme) else {
        throw entry.fault("scheme", "must be the scheme of an address, in lower case and without \"://\"")
      }
    }
    for (index, text) in try entry.strings("trusted_authorities", isRequired: false).enumerated() {
      guard let identifier = Hex.decode(text), Self.identifierOctets.contains(identifier.count) else {
        throw entry.fault("trusted_authorities/\(index)", "must be a subject key identifier in hexadecimal")
      }
      configuration.trustedAuthorities.append(identifier)
    }
    if !configuration.encryptsResponses {
      warnings.append("\(entry.pointer)/encrypted_responses: wallets are asked to answer in clear")
    }
    return configuration
  }

  /// RFC 3986, 3.1.
  private static func isScheme(_ text: String) -> Bool {
    let letters = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    let others = Array("0123456789+-.".utf8)
    guard let first = text.utf8.first, letters.contains(first), text.utf8.count <= 64 else { return false }
    return text.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
  }
}
