import Base

/// Why a JWE is not opened. There is one way to be right, and each fault has the code that the report shows.
package enum JWEError: Error, Sendable, Hashable {
  /// Not the five parts of a compact serialization, one of them not strict base64url or of a wrong length.
  case malformed
  /// The header is no JSON object, names a parameter twice, has one of another type, or one that is critical.
  case invalidHeader
  /// `alg` is not ECDH-ES, or `enc` neither A128GCM nor A256GCM.
  case algorithmUnsupported
  /// `zip`: a compressed plaintext has any size (RFC 8725, 3.6).
  case compressionNotAllowed
  /// `epk` is missing, on another curve than the recipient's key, or no point of its curve.
  case ephemeralKeyInvalid
  /// The ciphertext does not authenticate.
  case decryptionFailed

  package var code: Code {
    switch self {
    case .malformed: .envelopeMalformed
    case .invalidHeader: .jweHeaderInvalid
    case .algorithmUnsupported: .jweAlgorithmUnsupported
    case .compressionNotAllowed: .jweCompressionNotAllowed
    case .ephemeralKeyInvalid: .jweEphemeralKeyInvalid
    case .decryptionFailed: .envelopeDecryptionFailed
    }
  }
}
