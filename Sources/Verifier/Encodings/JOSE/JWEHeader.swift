import Base

/// The protected header of a compact JWE (RFC 7516, 4.1), read once and strictly: what the profile of OpenID4VP 1.0,
/// 8.3, leaves of it.
package struct JWEHeader: Sendable {
  /// Content encryption (RFC 7518, 5.3).
  package enum ContentEncryption: String, Sendable, Hashable, CaseIterable {
    case a128GCM = "A128GCM"
    case a256GCM = "A256GCM"

    package var keyLength: Int { self == .a128GCM ? 16 : 32 }
  }

  package static let algorithmName = "ECDH-ES"

  package let contentEncryption: ContentEncryption
  package let keyID: String?
  /// `apu` and `apv`, decoded; empty where absent (RFC 7518, 4.6.2).
  package let partyUInfo: [UInt8]
  package let partyVInfo: [UInt8]
  /// `epk`, to be checked when the recipient's curve is known.
  let ephemeralKey: JSON?

  init(parsing bytes: [UInt8]) throws(JWEError) {
    guard let json = try? JSON(parsing: bytes), json.object != nil, let algorithm = json["alg"]?.string,
      let encryption = json["enc"]?.string
    else { throw .invalidHeader }
    // No extension is understood, so that whatever is critical is too much (RFC 7516, 4.1.13).
    guard json["crit"] == nil else { throw .invalidHeader }
    guard json["zip"] == nil else { throw .compressionNotAllowed }
    guard algorithm.hasSameBytes(as: Self.algorithmName),
      let contentEncryption = ContentEncryption.allCases.first(where: { $0.rawValue.hasSameBytes(as: encryption) })
    else { throw .algorithmUnsupported }
    self.contentEncryption = contentEncryption
    keyID = try Self.text(json["kid"])
    partyUInfo = try Self.bytes(json["apu"])
    partyVInfo = try Self.bytes(json["apv"])
    ephemeralKey = json["epk"]
  }

  private static func text(_ json: JSON?) throws(JWEError) -> String? {
    guard let json else { return nil }
    guard let text = json.string else { throw .invalidHeader }
    return text
  }

  private static func bytes(_ json: JSON?) throws(JWEError) -> [UInt8] {
    guard let json else { return [] }
    guard let bytes = json.string.flatMap(Base64.decodeURLSafe), bytes.count <= Limits.partyInfoBytes else {
      throw .invalidHeader
    }
    return bytes
  }
}
