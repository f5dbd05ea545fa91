import Base
import CBOR
import PKIX

/// A certificate inside inspected CBOR (`x5chain`, COSE header 33), summarised.
struct EmbeddedCertificates: Sendable {
  private let offset: Int
  private let certificate: Certificate

  /// All of them, in the order of the bytes.
  static func found(in item: CBORItem) -> [EmbeddedCertificates] {
    if let embedded = item.embedded { return found(in: embedded) }
    if let tag = item.tag, let content = item.content(ofTag: tag) { return found(in: content) }
    if let elements = item.elements { return elements.flatMap { found(in: $0) } }
    guard let entries = item.entries else { return [] }
    return entries.flatMap { key, value in key.integer == 33 ? chain(value) : found(in: value) }
  }

  private static func chain(_ item: CBORItem) -> [EmbeddedCertificates] {
    let strings = item.elements.map { Array($0) } ?? [item]
    return strings.compactMap { string in
      guard let der = string.bytes, let certificate = try? Certificate(der: der) else { return nil }
      return EmbeddedCertificates(offset: string.startOffset, certificate: certificate)
    }
  }

  var json: JSON {
    [
      "offset": .integer(Int64(offset)), "subject": .string(certificate.subject.commonName ?? ""),
      "issuer": .string(certificate.issuer.commonName ?? ""), "sha256": .string(Hex.encode(certificate.sha256)),
      "not_before": .integer(certificate.validity.lowerBound.secondsSince1970),
      "not_after": .integer(certificate.validity.upperBound.secondsSince1970),
    ]
  }

  func text(width: Int) -> String {
    let rows = [
      ("Subject", certificate.subject.commonName ?? ""), ("Issuer", certificate.issuer.commonName ?? ""),
      ("SHA-256", Hex.encode(certificate.sha256)),
      ("Valid", "\(certificate.validity.lowerBound) to \(certificate.validity.upperBound)"),
    ]
    return "Certificate at byte \(offset)\n"
      + Wrapping.columns(rows.map { ($0.0, Printable.line($0.1)) }, width: width)
  }
}
