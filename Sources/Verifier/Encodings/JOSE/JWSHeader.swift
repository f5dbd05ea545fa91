import Base

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
  /// The certificates of `x5c`, DER, the signer's first. They claim a key; who may sign is the caller's to decide.
  package let certificateChain: [[UInt8]]?
  /// What `crit` names, all of it understood by the caller.
  package let critical: [String]
  private let json: JSON

  /// Nil where the algorithm is none of ours.
  package var algorithm: JWSAlgorithm? { JWSAlgorithm(name: algorithmName) }

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
    // Without encoding the payload may be anything, dots included; nothing that we read is signed so.
    guard json[Name.unencodedPayload] == nil else { throw .unsupportedCritical }
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
