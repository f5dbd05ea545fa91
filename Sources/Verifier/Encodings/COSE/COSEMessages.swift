import CBOR
import Cryptography

/// A COSE_Sign1 message (RFC 9052, 4.2).
package struct COSESign1: Sendable {
  private let structure: COSEStructure

  package static let tag: UInt64 = 18

  package var headers: COSEHeaders { structure.headers }
  package var payload: CBORItem? { structure.payload }
  package var signature: ArraySlice<UInt8> { structure.authenticator }

  package init(parsing item: CBORItem, tag: UInt64? = nil, toleratesDeviations: Bool = false) throws(COSEError) {
    structure = try COSEStructure(parsing: item, tag: tag, toleratesDeviations: toleratesDeviations)
  }

  package enum Verdict: Sendable, Hashable {
    case valid, invalid
    /// `alg` is absent from the protected header, or is not in the table of algorithms.
    case algorithmUnsupported
    /// The key is on a curve that does not belong to `alg`.
    case keyMismatch
  }

  /// Verifies the signature over `payload` by the protected header's algorithm. The algorithm must fit the key's curve.
  package func verify(payload: ArraySlice<UInt8>, key: PublicKey, externalAAD: [UInt8] = []) -> Verdict {
    guard let identifier = headers.algorithmIdentifier, let algorithm = SignatureAlgorithm(coseIdentifier: identifier)
    else { return .algorithmUnsupported }
    guard algorithm.coseCurves.contains(key.curve) else { return .keyMismatch }
    let message = toBeSigned(payload: payload, externalAAD: externalAAD)
    return algorithm.verify(signature, of: message, key: key) ? .valid : .invalid
  }

  /// The reason why the key's own `alg` and `key_ops` forbid its use. Nil if they permit it, or if the message's `alg`
  /// is not in the table.
  package func objection(to key: COSEKey) -> String? {
    headers.algorithmIdentifier.flatMap(SignatureAlgorithm.init(coseIdentifier:)).flatMap(key.objection)
  }

  /// The encoded Sig_structure.
  package func toBeSigned(payload: ArraySlice<UInt8>, externalAAD: [UInt8] = []) -> [UInt8] {
    structure.toBeAuthenticated(context: "Signature1", payload: payload, externalAAD: externalAAD)
  }

  /// Makes an untagged message with a detached payload, for mdoc requests (ISO/IEC 18013-5:2021, 9.1.4.4): `alg`
  /// protected, `x5chain` (RFC 9360) unprotected.
  ///
  /// - Parameter certificates: DER, leaf first.
  /// - Throws: `unsupportedKey` for a key whose curve has no signatures.
  package static func sign(
    detached payload: [UInt8], key: PrivateKey, certificates: [[UInt8]]
  ) throws(CryptoError) -> CBORValue {
    guard let algorithm = SignatureAlgorithm.preferredInCOSE(for: key.curve) else { throw .unsupportedKey }
    let protected = CBORValue.map([
      (key: .integer(COSEHeaders.Label.algorithm), value: .integer(algorithm.coseIdentifier))
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

  /// The detail of a verdict: the algorithm, the key's curve, and the signature's length if it is wrong.
  ///
  /// - Parameters:
  ///   - name: `the device key` …
  ///   - message: `, over this session's transcript` …
  package func words(_ verdict: Verdict, key: PublicKey, _ name: String, _ message: String = "") -> String {
    let signer = "\(name), on \(key.curve.rawValue)"
    let expected = key.curve.signatureLength ?? 0
    return switch verdict {
    case .valid: "valid"
    case .algorithmUnsupported: "\(headers.algorithmWords): not one of the standard's"
    case .keyMismatch: "\(headers.algorithmWords), and \(name) is on \(key.curve.rawValue)"
    case .invalid where signature.count == expected:
      "\(headers.algorithmWords), and the signature does not verify with \(signer)\(message)"
    case .invalid:
      "the signature has \(signature.count) bytes\(signature.first == 0x30 ? ", probably in DER," : "")"
        + " where \(signer), makes \(expected)"
    }
  }
}

/// A COSE_Mac0 message (RFC 9052, 6.2) with mdoc's only algorithm, HMAC 256/256.
package struct COSEMac0: Sendable {
  private let structure: COSEStructure

  package static let tag: UInt64 = 17
  /// HMAC with SHA-256 and an untruncated tag (RFC 9053, 3.1).
  package static let hmac256: Int64 = 5

  package var headers: COSEHeaders { structure.headers }
  package var payload: CBORItem? { structure.payload }
  package var authenticationTag: ArraySlice<UInt8> { structure.authenticator }

  package init(parsing item: CBORItem, tag: UInt64? = nil, toleratesDeviations: Bool = false) throws(COSEError) {
    structure = try COSEStructure(parsing: item, tag: tag, toleratesDeviations: toleratesDeviations)
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

/// The four fields of COSE_Sign1 and COSE_Mac0.
struct COSEStructure: Sendable {
  let headers: COSEHeaders
  /// A byte string; nil if the payload is detached.
  let payload: CBORItem?
  let authenticator: ArraySlice<UInt8>

  /// - Parameters:
  ///   - tag: the required tag; nil if the message must be untagged, as in an mdoc.
  ///   - toleratesDeviations: whether to accept null or undefined as an empty unprotected header, and undefined as a
  ///     detached payload. Neither is signed, and neither has another meaning.
  init(parsing item: CBORItem, tag: UInt64?, toleratesDeviations: Bool) throws(COSEError) {
    var message = item
    if let tag {
      guard let content = item.content(ofTag: tag) else { throw .malformed("it lacks tag \(tag)") }
      message = content
    }
    guard let fields = message.elements.map(Array.init), fields.count == 4 else {
      throw .malformed(message.tag.map { "it has tag \($0), but must be untagged" } ?? "it is not an array of four")
    }
    let hasHeader = !(toleratesDeviations && [.null, .undefined].contains(fields[1].kind))
    headers = try COSEHeaders(protected: fields[0], unprotected: hasHeader ? fields[1] : nil)
    let isDetached = fields[2].isNull || (toleratesDeviations && fields[2].kind == .undefined)
    guard isDetached || fields[2].kind == .bytes, let authenticator = fields[3].bytes else {
      throw .malformed("its payload, signature or tag is not a byte string")
    }
    payload = isDetached ? nil : fields[2]
    self.authenticator = authenticator
  }

  /// Sig_structure (RFC 9052, 4.4) or MAC_structure (6.3).
  func toBeAuthenticated(context: String, payload: ArraySlice<UInt8>, externalAAD: [UInt8]) -> [UInt8] {
    COSEStructure.toBeAuthenticated(
      context: context, protectedBytes: headers.protectedBytes, payload: payload, externalAAD: externalAAD)
  }

  /// Sig_structure or MAC_structure of a message that is being encoded.
  static func toBeAuthenticated(
    context: String, protectedBytes: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, externalAAD: [UInt8]
  ) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(payload.count + protectedBytes.count + externalAAD.count + 32)
    CBORHead.appendArray(count: 4, to: &output)
    CBORHead.appendText(context, to: &output)
    CBORHead.appendBytes(count: protectedBytes.count, to: &output)
    output += protectedBytes
    CBORHead.appendBytes(count: externalAAD.count, to: &output)
    output += externalAAD
    CBORHead.appendBytes(count: payload.count, to: &output)
    output += payload
    return output
  }
}
