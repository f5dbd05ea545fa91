import Base
import CBOR
import Cryptography

/// An IssuerSignedItem (ISO/IEC 18013-5, 8.3.2.1.2.2).
struct IssuedItem: Sendable {
  let identifier: String
  var fields: MapDraft
  var style: EncodingStyle
  private var otherContent: [UInt8]?
  /// The head of tag 24; nil for the style's usual head.
  var tagHead: [UInt8]?
  /// The value in the response; nil for `#6.24(bstr .cbor IssuerSignedItem)`.
  var presented: CBORValue?

  init(digestID: UInt64, random: [UInt8], identifier: String, value: CBORValue, style: EncodingStyle) {
    self.identifier = identifier
    self.style = style
    fields = MapDraft([
      ("digestID", .unsigned(digestID)), ("random", .bytes(random)), ("elementIdentifier", .text(identifier)),
      ("elementValue", value),
    ])
  }

  var digestID: UInt64 {
    get { if case .unsigned(let number)? = fields["digestID"] { number } else { 0 } }
    set { fields["digestID"] = .unsigned(newValue) }
  }

  var value: CBORValue {
    get { fields["elementValue"] ?? .null }
    set { fields["elementValue"] = newValue }
  }

  /// The item's encoding, without tag 24.
  var content: [UInt8] {
    get { otherContent ?? style.encode(fields.value) }
    set { otherContent = newValue }
  }

  /// `#6.24(bstr .cbor IssuerSignedItem)`: the bytes that are digested.
  var bytes: [UInt8] {
    let content = CBORValue.bytes(content)
    return tagHead.map { $0 + style.encode(content) } ?? style.encode(.tagged(24, content))
  }
}

/// The items of one namespace.
struct IssuedNamespace: Sendable {
  var name: String
  var items: [IssuedItem]

  var freeDigestID: UInt64 { (items.map(\.digestID).max() ?? 0) + 1 }
}

/// The digests of one namespace (ISO/IEC 18013-5, 9.1.2.5).
struct DigestNamespace: Sendable {
  var name: String
  var digests: [(id: UInt64, digest: [UInt8])]
}

extension [IssuedNamespace] {
  /// Issues all elements. The seed determines the order of digest identifiers, and each item's 32 random bytes.
  init(issuing data: MockDocumentData, seed: MockSeed, style: EncodingStyle) throws {
    self = try data.namespaces.map { namespace in
      let label = "\(data.docType)/\(namespace.name)"
      let order = try seed.permutation("digest ids/\(label)", count: namespace.elements.count)
      return IssuedNamespace(
        name: namespace.name,
        items: try namespace.elements.enumerated().map { index, element in
          IssuedItem(
            digestID: UInt64(order[index]), random: try seed.bytes("random/\(label)/\(element.identifier)", count: 32),
            identifier: element.identifier, value: element.value, style: style)
        })
    }
  }

  func digests(_ hash: HashAlgorithm) -> [DigestNamespace] {
    map { namespace in
      DigestNamespace(
        name: namespace.name,
        digests: namespace.items.map { ($0.digestID, hash.hash($0.bytes)) }.sorted { $0.id < $1.id })
    }
  }

  /// The items as IssuerNameSpaces (ISO/IEC 18013-5, 8.3.2.1.2.2).
  var presented: CBORValue {
    .map(map { (.text($0.name), .array($0.items.map { $0.presented ?? .encoded($0.bytes) })) })
  }
}

extension MockSeed {
  /// The numbers 0 ..< count, in the seed's order.
  func permutation(_ label: String, count: Int) throws -> [Int] {
    guard count > 1 else { return Array(0..<count) }
    let keys = try bytes("permutation/\(label)", count: min(count * 4, 8_160))
    return (0..<count).sorted { left, right in
      let a = keys[(left * 4 % keys.count)...].prefix(4)
      let b = keys[(right * 4 % keys.count)...].prefix(4)
      return a.elementsEqual(b) ? left < right : a.lexicographicallyPrecedes(b)
    }
  }
}

/// The dates of a mobile security object.
struct ValidityInfo: Sendable {
  var signed: CBORValue
  var validFrom: CBORValue
  var validUntil: CBORValue
  var expectedUpdate: CBORValue?

  init(signed: Timestamp, validFrom: Timestamp, validUntil: Timestamp) {
    self.signed = .tdate(signed)
    self.validFrom = .tdate(validFrom)
    self.validUntil = .tdate(validUntil)
  }

  var value: CBORValue {
    var fields = MapDraft([("signed", signed), ("validFrom", validFrom), ("validUntil", validUntil)])
    fields["expectedUpdate"] = expectedUpdate
    return fields.value
  }
}

/// A MobileSecurityObject (ISO/IEC 18013-5, 9.1.2.4), with members in the order of the standard's CDDL.
func mobileSecurityObject(_ setup: DocumentSetup, digests: [DigestNamespace], deviceKey: PublicKey) -> MapDraft {
  var deviceKeyInfo = MapDraft([("deviceKey", COSEKey.fields(of: deviceKey).value)])
  deviceKeyInfo["keyAuthorizations"] = setup.keyAuthorizations
  var fields = MapDraft([
    ("version", "1.0"),
    ("digestAlgorithm", .text(setup.digestAlgorithmName)),
    (
      "valueDigests",
      .map(
        digests.map { namespace in
          (.text(namespace.name), .map(namespace.digests.map { (.unsigned($0.id), .bytes($0.digest)) }))
        })
    ),
    ("deviceKeyInfo", deviceKeyInfo.value),
    ("docType", .text(setup.data.docType)),
    ("validityInfo", setup.validity.value),
  ])
  fields["status"] = setup.status
  return fields
}

/// The mock authority's settings for issuing documents.
package struct MockIssuing: Sendable {
  /// SHA-256, SHA-384 or SHA-512.
  package var digestAlgorithm = HashAlgorithm.sha256
  /// Seconds from `signed` and `validFrom` until now.
  package var age: Int64 = Seconds.day
  /// Seconds until `validUntil`.
  package var remainingLifetime: Int64 = 30 * Seconds.day
  /// KeyAuthorizations (ISO/IEC 18013-5, 9.1.2.4) and Status (second edition, 12.3.6); nil to leave them out.
  package var keyAuthorizations: CBORValue?
  package var status: CBORValue?

  package init() {}
}
