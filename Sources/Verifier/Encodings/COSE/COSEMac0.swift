import CBOR
import Cryptography

/// A COSE_Mac0 message (RFC 9052, 6.2), with the one algorithm that mdoc allows: HMAC 256/256.
package struct COSEMac0: Sendable {
  private let structure: COSEStructure

  package static let tag: UInt64 = 17
  /// HMAC with SHA-256, whole tag (RFC 9053, 3.1).
  package static let hmac256: Int64 = 5

  package var headers: COSEHeaders { structure.headers }
  /// The attached payload's byte string, or nil where it is detached.
  package var payload: CBORItem? { structure.payload }
  package var authenticationTag: ArraySlice<UInt8> { structure.authenticator }

  /// - Parameters:
  ///   - tag: nil (the mdoc form) requires an untagged message, a number requires that tag.
  ///   - readsPastSlips: whether null or undefined may stand for an empty unprotected header, and undefined for a
  ///     detached payload.
  package init(parsing item: CBORItem, tag: UInt64? = nil, readsPastSlips: Bool = false) throws(COSEError) {
    structure = try COSEStructure(parsing: item, tag: tag, readsPastSlips: readsPastSlips)
  }

  package enum Verdict: Sendable, Hashable { case valid, invalid, algorithmUnsupported }

  package func verify(payload: ArraySlice<UInt8>, key: borrowing SecretBytes, externalAAD: [UInt8] = []) -> Verdict {
    guard headers.algorithmIdentifier == Self.hmac256 else { return .algorithmUnsupported }
    let message = toBeAuthenticated(payload: payload, externalAAD: externalAAD)
    return HMAC.isValid(authenticationTag, of: message, key: key, hash: .sha256) ? .valid : .invalid
  }

  /// The encoded MAC_structure.
  package func toBeAuthenticated(payload: ArraySlice<UInt8>, externalAAD: [UInt8] = []) -> [UInt8] {
    structure.toBeAuthenticated(context: "MAC0", payload: payload, externalAAD: externalAAD)
  }
}
