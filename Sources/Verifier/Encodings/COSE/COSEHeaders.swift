import Base
import CBOR

/// The protected and unprotected header maps of a COSE message (RFC 9052, 3).
package struct COSEHeaders: Sendable {
  /// The content of the protected bucket's byte string, as it is signed.
  package let protectedBytes: ArraySlice<UInt8>
  private let protected: CBORItem?
  /// Nil if the header is null or undefined, which counts as an empty map.
  private let unprotected: CBORItem?

  package enum Label {
    package static let algorithm: Int64 = 1
    package static let critical: Int64 = 2
    package static let contentType: Int64 = 3
    package static let keyID: Int64 = 4
    package static let type: Int64 = 16
    package static let x5chain: Int64 = 33
    package static let x5t: Int64 = 34
  }

  /// The parameters that this project processes, and that `crit` may therefore name.
  private static let understood: Set<Int64> = [Label.algorithm, Label.x5chain, Label.x5t]

  init(protected bucket: CBORItem, unprotected: CBORItem?) throws(COSEError) {
    guard let bytes = bucket.bytes, unprotected.map({ $0.kind == .map }) ?? true else {
      throw .malformed("its headers are not a byte string and a map")
    }
    if bytes.isEmpty {
      protected = nil
      protectedBytes = bytes
    } else {
      let map: CBORItem
      do throws(CBORError) {
        map = try CBORItem(parsingContentOf: bucket)
      } catch {
        throw .invalidCBOR(error.code)
      }
      guard map.kind == .map else { throw .malformed("its protected header is no map") }
      protected = map
      // An empty map is signed as an empty string (RFC 9052, 4.4).
      protectedBytes = map.count == 0 ? [] : bytes
    }
    self.unprotected = unprotected
    guard (protected?.count ?? 0) <= Limits.headerParameters, (unprotected?.count ?? 0) <= Limits.headerParameters
    else {
      throw .malformed("a header has more than \(Limits.headerParameters) parameters")
    }
    try requireDistinctLabels()
    try requireUnderstoodCritical()
  }

  /// The identifier under `alg`, from the protected bucket alone: in the other bucket it is not signed and does not
  /// count.
  package var algorithmIdentifier: Int64? { protected?[label: Label.algorithm]?.integer }

  /// A parameter from either bucket.
  package func parameter(_ label: Int64) -> CBORItem? { protected?[label: label] ?? unprotected?[label: label] }

  /// Whether a parameter is there only under its number as text, as writers of JSON's habits have it.
  package func hasTextLabel(_ label: Int64) -> Bool {
    parameter(label) == nil && [protected, unprotected].contains { $0?[key: "\(label)"] != nil }
  }

  /// A parameter from the protected bucket, for profiles that require it to be signed.
  package func protectedParameter(_ label: Int64) -> CBORItem? { protected?[label: label] }

  /// The certificates under `x5chain` (RFC 9360), leaf first: one as a byte string, several as an array.
  ///
  /// Nil if the parameter is absent; empty if it is there but is empty or of another type.
  package var x5chain: [ArraySlice<UInt8>]? {
    guard let item = parameter(Label.x5chain) else { return nil }
    if let certificate = item.bytes { return certificate.isEmpty ? [] : [certificate] }
    var certificates: [ArraySlice<UInt8>] = []
    for element in item.elements.map({ Array($0) }) ?? [] {
      guard let certificate = element.bytes, !certificate.isEmpty else { return [] }
      certificates.append(certificate)
    }
    return certificates
  }

  /// The hash algorithm identifier and hash under `x5t`.
  package var x5t: (algorithm: Int64?, hash: ArraySlice<UInt8>?)? {
    guard let item = parameter(Label.x5t) else { return nil }
    let parts = item.elements.map(Array.init) ?? []
    return parts.count == 2 ? (parts[0].integer, parts[1].bytes) : (nil, nil)
  }

  private static let wrongLabel = COSEError.malformed("a header's label is neither an integer nor text")

  /// Labels are integers and text, and no label is in both buckets.
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

/// Why a COSE structure can't be used. A signature that does not verify is not an error but a verdict.
package enum COSEError: Error, Sendable, Hashable {
  /// The item is not the array, maps and byte strings of RFC 9052, or it has a tag that is not allowed: in words, which
  /// follow the name of the message.
  case malformed(String)
  /// The protected bucket is not well-formed CBOR: one of the `cbor.*` codes.
  case invalidCBOR(Code)
  /// A header parameter in both header maps (RFC 9052, 3).
  case duplicateHeader
  /// A critical header parameter that is not understood, or a malformed `crit` (RFC 9052, 3.1).
  case unsupportedCritical

  /// The fault in words, which follow the name of the message.
  package var detail: String {
    switch self {
    case .malformed(let detail): detail
    case .invalidCBOR(let code): "its protected header is no CBOR: \(code.rawValue)"
    case .duplicateHeader: "a header parameter stands in both header maps"
    case .unsupportedCritical: "crit is malformed, not protected, or names a parameter that is not known here"
    }
  }
}
