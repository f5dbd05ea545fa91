import Base
import Cryptography
import JOSE

/// The parameters of an authorization response that came encrypted (OpenID4VP 1.0, 8.3): `response`, a JWE to the key
/// of this one request.
struct EncryptedParameters {
  let header: JWEHeader
  /// A JSON object.
  let parameters: JSON

  /// Notes each check; nil where one failed.
  init?(opening response: JSON, with key: PrivateKey, checks: inout CheckList) {
    guard let text = response["response"]?.string else {
      // Whoever leaves out the encryption is told so, be it a wallet or somebody in between.
      checks.failed(response["vp_token"] == nil ? .envelopeMalformed : .envelopeNotEncrypted)
      return nil
    }
    checks.passed(.envelopeNotEncrypted)
    do throws(JWEError) {
      let jwe = try CompactJWE(parsing: text.utf8)
      for code in Self.parsingCodes { checks.passed(code) }
      // A wallet repeats the `kid` of the key that it chose, and ours are named by their thumbprints.
      let keyID = Base64.encodeURLSafe(JSONWebKey.thumbprint(of: key.publicKey))
      let isOurs = jwe.header.keyID?.hasSameBytes(as: keyID) ?? false
      checks.require(isOurs, .jweKeyUnknown)
      guard isOurs else { return nil }
      let plaintext = try jwe.decrypt(with: key)
      checks.passed(.jweEphemeralKeyInvalid)
      checks.passed(.envelopeDecryptionFailed)
      let parameters = try? JSON(parsing: plaintext)
      checks.require(parameters?.object != nil, .envelopePlaintextMalformed)
      guard let parameters, parameters.object != nil else { return nil }
      header = jwe.header
      self.parameters = parameters
    } catch {
      checks.failed(error.code)
      return nil
    }
  }

  private static let parsingCodes: [Code] = [
    .envelopeMalformed, .jweHeaderInvalid, .jweAlgorithmUnsupported, .jweCompressionNotAllowed,
  ]

  /// Every check of this stage, in the order in which they are made.
  static let codes: [Code] =
    [.envelopeNotEncrypted] + parsingCodes + [
      .jweKeyUnknown, .jweEphemeralKeyInvalid, .envelopeDecryptionFailed, .envelopePlaintextMalformed,
    ]
}
