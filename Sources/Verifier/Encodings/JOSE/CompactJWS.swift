import Base
import Cryptography

/// A JSON Web Signature in its compact serialization (RFC 7515, 7.1).
package struct CompactJWS: Sendable {
  package let header: JWSHeader
  package let payload: [UInt8]
  package let signature: [UInt8]
  private let signed: [UInt8]

  /// - Parameter critical: the header parameters that the caller processes if `crit` names them.
  package init(parsing text: some Sequence<UInt8>, understanding critical: Set<String> = []) throws(JOSEError) {
    let text = Array(text)
    // Splitting stops at one part too many: a megabyte of dots would otherwise become as many parts.
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
    /// `alg` is not supported, or not among the algorithms that the caller allows.
    case algorithmUnsupported
    /// The key is on a curve that does not belong to `alg`.
    case keyMismatch
  }

  /// Verifies the signature by the header's algorithm, bound to the key's curve.
  ///
  /// The key is always the caller's: `jwk`, `jku` and `x5u` of the header are never looked at, and `x5c` only by a caller
  /// that has validated its path.
  package func verify(with key: PublicKey, allowing allowed: [SignatureAlgorithm] = SignatureAlgorithm.jose) -> Verdict
  {
    guard let algorithm = header.algorithm, allowed.contains(algorithm) else { return .algorithmUnsupported }
    guard algorithm.joseCurves.contains(key.curve) else { return .keyMismatch }
    return algorithm.verify(signature, of: signed, key: key) ? .valid : .invalid
  }

  private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
    // A byte outside ASCII becomes a character that is in no alphabet.
    Base64.decodeURLSafe(String(decoding: part, as: UTF8.self))
  }
}

/// The protected header of a compact JWS (RFC 7515, 4.1), read once and strictly.
package struct JWSHeader: Sendable {
  package enum Name {
    package static let algorithm = "alg"
    package static let critical = "crit"
    package static let certificateChain = "x5c"
    package static let issuedAt = "iat"
    package static let keyID = "kid"
    package static let type = "typ"
    package static let unencodedPayload = "b64"
  }

  /// The value of `alg`, whatever it is.
  package let algorithmName: String
  package let type: String?
  package let keyID: String?
  /// NumericDate, for profiles that have it in the header (ETSI TS 119 182-1, 5.1.11).
  package let issuedAt: Int64?
  /// The certificates of `x5c`, DER, the signer's first. They only claim a key; the caller decides who may sign.
  package let certificateChain: [[UInt8]]?
  /// The parameters that `crit` names. The caller understands all of them.
  package let critical: [String]
  private let json: JSON

  /// Nil if the algorithm is not supported.
  package var algorithm: SignatureAlgorithm? { SignatureAlgorithm(joseName: algorithmName) }

  package subscript(name: String) -> JSON? { json[name] }

  init(parsing bytes: [UInt8], understanding understood: Set<String>) throws(JOSEError) {
    guard let json = try? JSON(parsing: bytes), json.object != nil,
      let algorithmName = json[Name.algorithm]?.string
    else { throw .invalidHeader }
    self.json = json
    self.algorithmName = algorithmName
    type = try Self.value(json[Name.type], \.string)
    keyID = try Self.value(json[Name.keyID], \.string)
    issuedAt = try Self.value(json[Name.issuedAt], \.integer)
    certificateChain = try Self.certificates(json[Name.certificateChain])
    // Without encoding the payload may be anything, dots included; nothing that we read is signed so. Older JAdES
    // writers say that it is encoded (RFC 7797, 3).
    guard json[Name.unencodedPayload].map({ $0 == true && understood.contains(Name.unencodedPayload) }) ?? true else {
      throw .unsupportedCritical
    }
    critical = try Self.critical(in: json, understanding: understood)
  }

  private static func value<Value>(_ json: JSON?, _ read: (JSON) -> Value?) throws(JOSEError) -> Value? {
    guard let json else { return nil }
    guard let value = read(json) else { throw .invalidHeader }
    return value
  }

  /// RFC 7515, 4.1.6: base64 as PEM has it, not base64url.
  private static func certificates(_ json: JSON?) throws(JOSEError) -> [[UInt8]]? {
    guard let json else { return nil }
    guard let elements = json.array, !elements.isEmpty else { throw .invalidHeader }
    var certificates: [[UInt8]] = []
    for element in elements {
      guard let der = element.string.flatMap(Base64.decode), !der.isEmpty else { throw .invalidHeader }
      certificates.append(der)
    }
    return certificates
  }

  /// RFC 7515, 4.1.11: not empty, no name twice, every name present and understood.
  private static func critical(
    in json: JSON, understanding understood: Set<String>
  ) throws(JOSEError) -> [String] {
    guard let list = json[Name.critical] else { return [] }
    guard let elements = list.array, !elements.isEmpty else { throw .invalidHeader }
    var names: [String] = []
    for element in elements {
      guard let name = element.string, !names.contains(name), json[name] != nil else { throw .invalidHeader }
      guard understood.contains(name) else { throw .unsupportedCritical }
      names.append(name)
    }
    return names
  }
}

/// Why bytes are no JWS or no JWK. `CompactJWS.verify` says whether a well-formed JWS is valid.
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
