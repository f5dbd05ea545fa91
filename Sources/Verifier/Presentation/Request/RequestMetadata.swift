import Base
import Cryptography
import JOSE
import Mdoc

extension RequestRules {
  private var metadata: JSON { claims["client_metadata"] ?? .object([]) }

  mutating func checkMetadata() {
    guard metadata.object != nil else {
      return checks.failed(.requestParameterMalformed, "client_metadata must be an object")
    }
    checkFormats()
    if !isAnnexB {
      let known = ["jwks", "vp_formats_supported", "encrypted_response_enc_values_supported"]
      expectKnown(known + (isOverAPI ? ["gw_rp_metadata_bytes"] : []), in: metadata, "client_metadata")
    }
    if isEncrypted { checkEncryption() }
  }

  /// The algorithms of signatures in COSE, and from −65537 those of MACs with an agreed key (OpenID4VP 1.0, B.2.2).
  private static let algorithms: Set<Int64> = Set(
    [-7, -8, -9, -19] + Array(-39 ... -35) + Array(-53 ... -46) + Array(-260 ... -257) + Array(-268 ... -265)
      + Array(-65545 ... -65537) + [-65535])

  private mutating func checkFormats() {
    let formats = metadata[isAnnexB ? "vp_formats" : "vp_formats_supported"]
    // The link of the age verification profile has no room for metadata, and its annex lists none.
    guard formats != nil || arrival.link?.scheme != "av" else { return }
    guard let format = formats?["mso_mdoc"], format.object != nil else {
      return checks.failed(.requestFormats, "mso_mdoc is missing, or not an object")
    }
    let isAnnexB = isAnnexB
    for name in isAnnexB ? ["alg"] : ["issuerauth_alg_values", "deviceauth_alg_values"] {
      guard let values = format[name] else { continue }
      let areKnown = values.isList {
        isAnnexB ? $0.string != nil : $0.integer.map(Self.algorithms.contains) ?? false
      }
      checks.require(areKnown, .requestFormats, "\(name) is empty or has unknown values")
    }
  }

  private var keys: [JSON] { metadata["jwks"]?["keys"]?.array ?? [] }
  private var agreementKeys: [PublicKey] { keys.compactMap { (try? JSONWebKey(parsing: $0))?.agreementKey } }

  private mutating func checkEncryption() {
    let ids = keys.compactMap { $0["kid"]?.string }.filter { $0.contains { !$0.isWhitespace } }
    let isPublic = !keys.contains { $0["d"] != nil || $0["k"] != nil || $0["kty"] == "oct" }
    let areNamed =
      ids.count == keys.count && Set(ids).count == ids.count && keys.allSatisfy { $0["alg"]?.string != nil }
    checks.require(isPublic, .requestEncryptionKey, "jwks has a private or symmetric key")
    checks.require(!isPublic || !agreementKeys.isEmpty, .requestEncryptionKey, "jwks has no public key for ECDH-ES")
    checks.require(isAnnexB || areNamed, .requestEncryptionKey, "each key must have its own kid, and alg")
    if isAnnexB {
      let isKnown = { (name: String) in JWEHeader.ContentEncryption(rawValue: name) != nil }
      checks.require(
        metadata["authorization_encrypted_response_alg"]?.string == JWEHeader.algorithmName
          && metadata["authorization_encrypted_response_enc"]?.string.map(isKnown) ?? false, .requestEncryptionMethod)
    } else if let values = metadata["encrypted_response_enc_values_supported"] {
      checks.require(values.isList { $0.string.map(Self.encryptions.contains) ?? false }, .requestEncryptionMethod)
    }
  }

  /// RFC 7518, 5.1.
  private static let encryptions: Set = [
    "A128GCM", "A192GCM", "A256GCM", "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512",
  ]

  /// HAIP 1.0, 5 and 7: A128GCM and A256GCM with a key on P-256, and ES256 among the listed algorithms.
  mutating func checkHAIPMetadata() {
    for name in ["issuerauth_alg_values", "deviceauth_alg_values"] {
      guard let values = metadata["vp_formats_supported"]?["mso_mdoc"]?[name]?.array else { continue }
      checks.require(values.contains(-7) || values.contains(-9), .requestFormats, "\(name) has no ES256")
    }
    let offered = metadata["encrypted_response_enc_values_supported"]?.array ?? []
    let hasBoth = JWEHeader.ContentEncryption.allCases.allSatisfy { offered.contains(.string($0.rawValue)) }
    checks.require(
      isEncrypted && hasBoth && (agreementKeys.isEmpty || agreementKeys.contains { $0.curve == .p256 }),
      .requestHAIPEncryption)
  }
}
