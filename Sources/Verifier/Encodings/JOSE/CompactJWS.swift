import Base
import Cryptography

/// A JSON Web Signature in its compact serialization (RFC 7515, 7.1).
package struct CompactJWS: Sendable {
  package let header: JWSHeader
  package let payload: [UInt8]
  package let signature: [UInt8]
  private let signed: [UInt8]

  /// - Parameter critical: the parameters in `crit` that the caller processes.
  package init(parsing text: some Sequence<UInt8>, understanding critical: Set<String> = []) throws(JOSEError) {
    let text = Array(text)
    // Splitting stops early. Otherwise a megabyte of dots would become a million parts.
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, let header = decodeURLSafe(parts[0]), let payload = decodeURLSafe(parts[1]),
      let signature = decodeURLSafe(parts[2])
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

  /// Verifies the signature by the header's algorithm. The algorithm must fit the key's curve.
  ///
  /// The caller always supplies the key: `jwk`, `jku` and `x5u` are never read. Only a caller that validates the path
  /// may take the key from `x5c`.
  package func verify(with key: PublicKey, allowing allowed: [SignatureAlgorithm] = SignatureAlgorithm.jose) -> Verdict
  {
    guard let algorithm = header.algorithm, allowed.contains(algorithm) else { return .algorithmUnsupported }
    guard algorithm.joseCurves.contains(key.curve) else { return .keyMismatch }
    return algorithm.verify(signature, of: signed, key: key) ? .valid : .invalid
  }
}

/// The bytes of a part of a compact serialization. A byte outside ASCII becomes a character outside every alphabet.
func decodeURLSafe(_ part: ArraySlice<UInt8>) -> [UInt8]? {
  Base64.decodeURLSafe(String(decoding: part, as: UTF8.self))
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

  /// The value of `alg`, supported or not.
  package let algorithmName: String
  package let type: String?
  package let keyID: String?
  /// NumericDate, for profiles with `iat` in the header (ETSI TS 119 182-1, 5.1.11).
  package let issuedAt: Int64?
  /// The certificates of `x5c` in DER, the signer's first. They are only a claim: the caller decides who may sign.
  package let certificateChain: [[UInt8]]?
  /// The parameters in `crit`. The caller understands all of them.
  package let critical: [String]
  private let json: JSON

  /// The algorithm; nil if it is not supported.
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
    // An unencoded payload may contain dots, and no supported profile has an unencoded payload. Older JAdES writers
    // state explicitly that the payload is encoded (RFC 7797, 3).
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

  /// RFC 7515, 4.1.6: base64, not base64url.
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

  /// RFC 7515, 4.1.11: `crit` is not empty and has no duplicates, and each name is present in the header and
  /// understood.
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

/// The signer of a JWS (RFC 7515, 5.1), with its protected header.
package struct JWSSigner: Sendable {
  package let algorithm: SignatureAlgorithm
  private let key: PrivateKey
  private let parameters: [JSON.Member]

  /// - Parameter parameters: the protected header in its order, without `alg`, which follows from the key's curve.
  package init(key: PrivateKey, parameters: [JSON.Member]) throws(JOSEError) {
    guard let algorithm = SignatureAlgorithm.preferredInJOSE(for: key.curve) else { throw .invalidKey }
    self.algorithm = algorithm
    self.key = key
    self.parameters = parameters
  }

  /// The compact serialization (RFC 7515, 7.1).
  package func sign(_ payload: [UInt8]) throws(CryptoError) -> String {
    let payload = Base64.encodeURLSafe(payload)
    let (protected, signature) = try sign(encoded: payload)
    return protected + "." + payload + "." + signature
  }

  /// The general JSON serialization (RFC 7515, 7.2.1).
  package static func sign(_ payload: [UInt8], by signers: [JWSSigner]) throws(CryptoError) -> JSON {
    let payload = Base64.encodeURLSafe(payload)
    var signatures: [JSON] = []
    for signer in signers {
      let (protected, signature) = try signer.sign(encoded: payload)
      signatures.append(["protected": .string(protected), "signature": .string(signature)])
    }
    return ["payload": .string(payload), "signatures": .array(signatures)]
  }

  private func sign(encoded payload: String) throws(CryptoError) -> (protected: String, signature: String) {
    let header = JSON.object([JSON.Member("alg", .string(algorithm.name))] + parameters)
    let protected = Base64.encodeURLSafe(header.serialized())
    let message = Array((protected + "." + payload).utf8)
    return (protected, Base64.encodeURLSafe(try algorithm.sign(message, key: key)))
  }
}

/// The reason why bytes are not a JWS or JWK. `CompactJWS.verify` decides on a well-formed JWS.
package enum JOSEError: Error, Sendable, Hashable {
  /// The bytes are not the three parts of a compact serialization, or a part is not strict base64url.
  case malformed
  /// The header is not a JSON object, or a parameter is a duplicate or of another type.
  case invalidHeader
  /// An unsupported parameter in `crit`, or an unencoded payload (`b64`, RFC 7797).
  case unsupportedCritical
  /// The JWK is not a public key of a known type on a known curve.
  case invalidKey
}
