/// Why bytes are no JWS or no JWK. What a well-formed JWS is worth, `CompactJWS.verify` says.
package enum JOSEError: Error, Sendable, Hashable {
  /// Not the three parts of a compact serialization, or one of them is not strict base64url.
  case malformed
  /// The header is not a JSON object, names a parameter twice, or has a parameter of another type.
  case invalidHeader
  /// `crit` names a parameter that the caller does not process, or the payload is not encoded (`b64`, RFC 7797).
  case unsupportedCritical
  /// Not a public key of a known type on a known curve.
  case invalidKey
}
