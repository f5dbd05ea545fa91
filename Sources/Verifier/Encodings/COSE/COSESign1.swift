import CBOR
import Cryptography

/// A COSE_Sign1 message (RFC 9052, 4.2).
package struct COSESign1: Sendable {
  private let structure: COSEStructure

  package static let tag: UInt64 = 18

  package var headers: COSEHeaders { structure.headers }
  /// The attached payload's byte string, or nil where it is detached.
  package var payload: CBORItem? { structure.payload }
  package var signature: ArraySlice<UInt8> { structure.authenticator }

  /// - Parameters:
  ///   - tag: nil (the mdoc form) requires an untagged message, a number requires that tag.
  ///   - readsPastSlips: whether null or undefined may stand for an empty unprotected header, and undefined for a
  ///     detached payload.
  package init(parsing item: CBORItem, tag: UInt64? = nil, readsPastSlips: Bool = false) throws(COSEError) {
    structure = try COSEStructure(parsing: item, tag: tag, readsPastSlips: readsPastSlips)
  }

  package enum Verdict: Sendable, Hashable {
    case valid, invalid
    /// `alg` is absent from the protected header or not in the table.
    case algorithmUnsupported
    /// The key is on a curve that `alg` does not go with.
    case keyMismatch
  }

  /// Verifies the signature over `payload`, by the algorithm of the protected header bound to the key's curve.
  package func verify(payload: ArraySlice<UInt8>, key: PublicKey, externalAAD: [UInt8] = []) -> Verdict {
    guard let identifier = headers.algorithmIdentifier, let algorithm = SignatureAlgorithm(identifier: identifier)
    else { return .algorithmUnsupported }
    guard algorithm.curves.contains(key.curve) else { return .keyMismatch }
    let message = toBeSigned(payload: payload, externalAAD: externalAAD)
    return algorithm.verify(signature, of: message, key: key) ? .valid : .invalid
  }

  /// The encoded Sig_structure.
  package func toBeSigned(payload: ArraySlice<UInt8>, externalAAD: [UInt8] = []) -> [UInt8] {
    structure.toBeAuthenticated(context: "Signature1", payload: payload, externalAAD: externalAAD)
  }
}
