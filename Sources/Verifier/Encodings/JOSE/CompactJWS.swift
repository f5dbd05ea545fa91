import Base
import Cryptography

/// A JSON Web Signature in its compact serialization (RFC 7515, 7.1).
package struct CompactJWS: Sendable {
  package let header: JWSHeader
  package let payload: [UInt8]
  package let signature: [UInt8]
  private let signed: [UInt8]

  /// - Parameter critical: the header parameters that the caller processes where `crit` names them.
  package init(parsing text: some Sequence<UInt8>, understanding critical: Set<String> = []) throws(JOSEError) {
    let text = Array(text)
    // One part too many is enough to see: a megabyte of dots would become fifty of parts.
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.decode(parts[0]), let payload = Self.decode(parts[1]),
      let signature = Self.decode(parts[2])
    else { throw .malformed }
    self.header = try JWSHeader(parsing: header, understanding: critical)
    self.payload = payload
    self.signature = signature
    signed = Array(text[..<parts[1].endIndex])
  }

  package enum Verdict: Sendable, Hashable {
    case valid, invalid
    /// `alg` is none of ours, or not among those that the caller allows.
    case algorithmUnsupported
    /// The key is on a curve that `alg` does not go with.
    case keyMismatch
  }

  /// Verifies the signature by the header's algorithm, bound to the key's curve.
  ///
  /// The key is always the caller's: `jwk`, `jku` and `x5u` of the header are never looked at, and `x5c` only by a caller
  /// that has validated its path.
  package func verify(with key: PublicKey, allowing allowed: [JWSAlgorithm] = JWSAlgorithm.all) -> Verdict {
    guard let algorithm = header.algorithm, allowed.contains(algorithm) else { return .algorithmUnsupported }
    guard algorithm.curves.contains(key.curve) else { return .keyMismatch }
    return algorithm.verify(signature, of: signed, key: key) ? .valid : .invalid
  }

  private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
    // What is not ASCII becomes a character of no alphabet.
    Base64.decodeURLSafe(String(decoding: part, as: UTF8.self))
  }
}
