import CBOR
import Cryptography

extension COSESign1 {
  /// An untagged message with a detached payload, as mdoc requests carry them (ISO/IEC 18013-5:2021, 9.1.4.4): `alg`
  /// protected, the certificates under `x5chain` (RFC 9360) unprotected.
  ///
  /// - Parameter certificates: DER, leaf first: one is written as a byte string, several as an array.
  /// - Throws: `unsupportedKey` for a key on a curve that does not sign.
  package static func sign(
    detached payload: [UInt8], key: PrivateKey, certificates: [[UInt8]]
  ) throws(CryptoError) -> CBORValue {
    guard let algorithm = SignatureAlgorithm.preferred(for: key.curve) else { throw .unsupportedKey }
    let protected = CBORValue.map([
      (key: .integer(COSEHeaders.Label.algorithm), value: .integer(algorithm.identifier))
    ]).encoded()
    let chain: CBORValue =
      certificates.count == 1 ? .bytes(certificates[0]) : .array(certificates.map(CBORValue.bytes))
    let toBeSigned = COSEStructure.toBeAuthenticated(
      context: "Signature1", protectedBytes: protected[...], payload: payload[...], externalAAD: [])
    return [
      .bytes(protected), .map([(key: .integer(COSEHeaders.Label.x5chain), value: chain)]), nil,
      .bytes(try algorithm.sign(toBeSigned, key: key)),
    ]
  }
}
