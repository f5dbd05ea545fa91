import Base

/// Why a COSE structure can't be used. A signature that does not verify is not an error but a verdict.
package enum COSEError: Error, Sendable, Hashable {
  /// Not the array, maps and byte strings of RFC 9052, or with a tag where none may be.
  case malformed
  /// The protected bucket is not well-formed CBOR: one of the `cbor.*` codes.
  case invalidCBOR(Code)
  /// A header parameter in both header maps (RFC 9052, 3).
  case duplicateHeader
  /// A critical header parameter that is not understood, or a malformed `crit` (RFC 9052, 3.1).
  case unsupportedCritical
  /// A COSE_Key that is no public key of the table: wrong type, off its curve, or with a private part.
  case invalidKey
}
