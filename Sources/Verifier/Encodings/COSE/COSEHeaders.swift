import Base
import CBOR
import Cryptography

/// The protected and unprotected header maps of a COSE message (RFC 9052, 3).
package struct COSEHeaders: Sendable {
  /// The content of the protected bucket, as it is signed.
  package let protectedBytes: ArraySlice<UInt8>
  private let protected: CBORItem?
  /// The unprotected header; nil for null or undefined, which counts as an empty map.
  private let unprotected: CBORItem?

  package enum Label {
    package static let algorithm: Int64 = 1
    package static let critical: Int64 = 2
    package static let keyID: Int64 = 4
    package static let type: Int64 = 16
    package static let x5chain: Int64 = 33
    package static let x5t: Int64 = 34
  }

  /// The parameters that are processed here. `crit` may list only these parameters.
  private static let understood: Set<Int64> = [Label.algorithm, Label.x5chain, Label.x5t]

  init(protected bucket: CBORItem, unprotected: CBORItem?) throws(COSEError) {
    guard let bytes = bucket.bytes, unprotected.map({ $0.kind == .map }) ?? true else {
      throw .malformed("its headers must be a byte string and a map")
    }
    do throws(CBORError) {
      protected = bytes.isEmpty ? nil : try CBORItem(parsingContentOf: bucket)
    } catch {
      throw .invalidCBOR(error.code)
    }
    guard (protected?.kind ?? .map) == .map else { throw .malformed("its protected header is not a map") }
    // An empty map is signed as an empty string (RFC 9052, 4.4).
    protectedBytes = protected?.count == 0 ? [] : bytes
    self.unprotected = unprotected
    guard (protected?.count ?? 0) <= Limits.headerParameters, (unprotected?.count ?? 0) <= Limits.headerParameters
    else {
      throw .malformed("a header has more than \(Limits.headerParameters) parameters")
    }
    try requireDistinctLabels()
    try requireUnderstoodCritical()
  }

  /// The algorithm identifier under `alg` in the protected bucket. The unprotected bucket is ignored, since it is not
  /// signed.
  package var algorithmIdentifier: Int64? { protected?[label: Label.algorithm]?.integer }

  /// A parameter from either bucket.
  package func parameter(_ label: Int64) -> CBORItem? { protected?[label: label] ?? unprotected?[label: label] }

  /// True if a parameter is present only with its number written as text.
  package func hasTextLabel(_ label: Int64) -> Bool {
    parameter(label) == nil && [protected, unprotected].contains { $0?[key: "\(label)"] != nil }
  }

  /// A parameter from the protected bucket, for profiles that require it to be signed.
  package func protectedParameter(_ label: Int64) -> CBORItem? { protected?[label: label] }

  /// The certificates under `x5chain` (RFC 9360), leaf first: one certificate as a byte string, several as an array.
  /// Nil if the parameter is absent; an empty array if the parameter is empty or has another type.
  package var x5chain: [ArraySlice<UInt8>]? {
    guard let item = parameter(Label.x5chain) else { return nil }
    let certificates = item.bytes.map { [$0] } ?? item.elements.map { $0.map { $0.bytes ?? [] } } ?? []
    return certificates.contains(where: \.isEmpty) ? [] : certificates
  }

  /// The hash algorithm identifier and hash under `x5t`.
  package var x5t: (algorithm: Int64?, hash: ArraySlice<UInt8>?)? {
    guard let item = parameter(Label.x5t) else { return nil }
    let parts = item.elements.map(Array.init) ?? []
    return parts.count == 2 ? (parts[0].integer, parts[1].bytes) : (nil, nil)
  }

  private static let wrongLabel = COSEError.malformed("a header's label is neither an integer nor text")

  /// Labels must be integers or text, and no label may be in both buckets.
  private func requireDistinctLabels() throws(COSEError) {
    for key in unprotected?.entries.map({ $0.map(\.key) }) ?? [] where key.integer == nil && key.kind != .text {
      throw Self.wrongLabel
    }
    guard let entries = protected?.entries else { return }
    for (key, _) in entries {
      let isRepeated: Bool
      if let label = key.integer {
        isRepeated = unprotected?[label: label] != nil
      } else if let label = key.text {
        isRepeated = unprotected?[key: label] != nil
      } else {
        throw Self.wrongLabel
      }
      if isRepeated { throw .duplicateHeader }
    }
  }

  private func requireUnderstoodCritical() throws(COSEError) {
    if unprotected?[label: Label.critical] != nil { throw .unsupportedCritical }
    guard let critical = protected?[label: Label.critical] else { return }
    guard let count = critical.count, count <= Limits.headerParameters,
      let labels = critical.elements.map({ Array($0) }), !labels.isEmpty
    else { throw .unsupportedCritical }
    for label in labels {
      guard let label = label.integer, Self.understood.contains(label), protected?[label: label] != nil else {
        throw .unsupportedCritical
      }
    }
  }
}

// MARK: Details of a refusal

extension COSEHeaders {
  /// Describes the protected `alg` or its fault: `alg (label 1) is ES256 (-7)`.
  package var algorithmWords: String {
    let name = "alg (label 1)"
    guard let item = protectedParameter(Label.algorithm) else {
      return parameter(Label.algorithm) == nil
        ? "\(name) is missing" : "\(name) is in the unprotected header, but must be in the protected header"
    }
    guard let identifier = item.integer else { return "\(name) is \(item.form)" }
    return "\(name) is "
      + (SignatureAlgorithm(coseIdentifier: identifier).map { "\($0.name) (\(identifier))" } ?? "\(identifier)")
  }

  /// The reason why `x5chain` yields no certificate.
  package var x5chainFault: String {
    guard let item = parameter(Label.x5chain) else {
      return hasTextLabel(Label.x5chain)
        ? "x5chain has the text \"33\" as its label, not the number 33" : "x5chain (label 33) is missing"
    }
    let wanted = "must be one certificate as a byte string, or an array of these"
    guard let elements = item.elements.map(Array.init) else {
      return "x5chain (label 33) is \(item.form): it \(wanted)"
    }
    let fault = elements.enumerated().first { $1.bytes?.isEmpty ?? true }
    return "x5chain (label 33) " + (fault.map { "has \($1.form) at index \($0)" } ?? "is an empty array")
      + ": it \(wanted)"
  }
}

extension CBORItem {
  /// The item's form, without its value.
  fileprivate var form: String {
    switch kind {
    case .text: text.flatMap(Base64.decodeEither) == nil ? "a text" : "a text, probably base64"
    case .bytes: "an empty byte string"
    case .array: "an array"
    default: "a CBOR \(kind)"
    }
  }
}

/// The reason why a COSE structure is unusable. A signature that does not verify is a verdict, not an error.
package enum COSEError: Error, Sendable, Hashable {
  /// The structure is not the array, maps and byte strings of RFC 9052, or has a tag that is not allowed. The value is
  /// the detail.
  case malformed(String)
  /// The protected bucket is not well-formed CBOR: one of the `cbor.*` codes.
  case invalidCBOR(Code)
  /// A header parameter in both header maps (RFC 9052, 3).
  case duplicateHeader
  /// An unknown critical parameter, or a malformed `crit` (RFC 9052, 3.1).
  case unsupportedCritical

  /// The fault as text that follows the message's name.
  package var detail: String {
    switch self {
    case .malformed(let detail): detail
    case .invalidCBOR(let code): "its protected header is not CBOR: \(code.rawValue)"
    case .duplicateHeader: "a header parameter is in both header maps"
    case .unsupportedCritical: "crit is malformed, not protected, or lists an unknown parameter"
    }
  }
}
