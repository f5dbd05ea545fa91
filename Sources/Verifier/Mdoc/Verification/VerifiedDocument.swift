import Base
import CBOR
import COSE
import PKIX

/// A document whose issuer, digests, validity and device were all verified. Only the verifier makes a
/// `VerifiedDocument`.
///
/// Personal: it has no mirror and a redacted description.
public final class VerifiedDocument: Sendable, AgeSource, CustomStringConvertible, CustomReflectable {
  public let docType: String
  public let issuer: DocumentIssuer
  /// The validity; nil if a zero-knowledge proof hides it.
  public let validity: DocumentValidity?
  public let deviceAuthentication: DeviceAuthenticationMethod
  public let revocation: RevocationStatus
  private let deviceKey: CBORItem?
  private let issuerSigned: Elements
  private let deviceSigned: Elements

  init(docType: String, _ content: AuthenticatedDocument.Content, revocation: RevocationStatus) {
    self.docType = docType
    issuer = DocumentIssuer(signer: content.signer, anchor: content.anchor)
    validity = content.validity
    deviceAuthentication = content.method
    self.revocation = revocation
    deviceKey = content.deviceKey
    issuerSigned = Elements(content.elements, content.items)
    deviceSigned = Elements(content.deviceSigned.map(\.reference), content.deviceSigned.map(\.value))
  }

  /// Elements with their values, in the order of the response.
  private struct Elements {
    let references: [ElementReference]
    let items: [CBORItem]
    /// The index of each element. Nil for 32 elements or fewer, which a linear search finds faster.
    let indices: [ElementReference: Int]?

    init(_ references: [ElementReference], _ items: [CBORItem]) {
      self.references = references
      self.items = items
      indices = references.count > 32 ? Dictionary(zip(references, references.indices)) { first, _ in first } : nil
    }

    func index(of element: ElementReference) -> Int? {
      if let indices { return indices[element] }
      return references.indices.first { references[$0].hasLength(of: element) && references[$0] == element }
    }

    subscript(element: ElementReference) -> ElementValue? { index(of: element).map { ElementValue(items[$0]) } }
  }

  /// The issuer-signed elements, in the order of the response.
  public var elements: [ElementReference] { issuerSigned.references }
  /// The elements that the device signed with the issuer's authorisation. They are self-asserted, not attested.
  public var deviceSignedElements: [ElementReference] { deviceSigned.references }

  /// The value that the issuer signed.
  public subscript(element: ElementReference) -> ElementValue? { issuerSigned[element] }

  /// The value that the device signed.
  public func deviceSignedValue(of element: ElementReference) -> ElementValue? { deviceSigned[element] }

  /// The index in `elements`.
  func index(of element: ElementReference) -> Int? { issuerSigned.index(of: element) }

  /// The item of the element at an index.
  func item(at index: Int) -> CBORItem { issuerSigned.items[index] }

  /// Every issuer-signed element with its item, in the order of the response.
  func forEachElement(_ body: (ElementReference, CBORItem) -> Void) {
    for index in issuerSigned.items.indices { body(issuerSigned.references[index], issuerSigned.items[index]) }
  }

  /// True if the two are certainly different documents. This is so if their types differ. It is also so if their device
  /// keys differ, and their numbers or issuing authorities differ. A wallet may have several copies of a document, each
  /// with its own device key. Documents without numbers therefore cannot be distinguished.
  func isDistinct(from other: VerifiedDocument) -> Bool {
    guard docType.hasSameBytes(as: other.docType) else { return true }
    func key(_ document: VerifiedDocument) -> COSEKey? { document.deviceKey.flatMap { try? COSEKey($0) } }
    guard let mine = key(self), let others = key(other), mine.key != others.key else { return false }
    let reference = ElementReference.documentNumber(ofDocType: docType)
    guard let number = self[reference], let others = other[reference] else { return false }
    return number != others
      || issuer.anchorSHA256 != other.issuer.anchorSHA256
        && (issuer.country, issuer.stateOrProvince) != (other.issuer.country, other.issuer.stateOrProvince)
  }

  public var description: String { "VerifiedDocument(\(docType), redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The document signer and the anchor that its certificate leads to.
public struct DocumentIssuer: Sendable, Hashable {
  public let country: String?
  public let stateOrProvince: String?
  public let commonName: String?
  /// SHA-256 of the document signer's certificate, in hexadecimal.
  public let certificateSHA256: String
  /// SHA-256 of the trust anchor's certificate, in hexadecimal.
  public let anchorSHA256: String

  public init(
    country: String?, stateOrProvince: String?, commonName: String?, certificateSHA256: String, anchorSHA256: String
  ) {
    self.country = country
    self.stateOrProvince = stateOrProvince
    self.commonName = commonName
    self.certificateSHA256 = certificateSHA256
    self.anchorSHA256 = anchorSHA256
  }

  init(signer: Certificate, anchor: TrustAnchor) {
    self.init(
      country: signer.subject.country, stateOrProvince: signer.subject.stateOrProvince,
      commonName: signer.subject.commonName, certificateSHA256: signer.fingerprint,
      anchorSHA256: anchor.certificate.fingerprint)
  }
}

/// The ValidityInfo of the mobile security object (ISO/IEC 18013-5:2021, 9.1.2.4).
public struct DocumentValidity: Sendable, Hashable {
  public let signed: Timestamp
  public let validFrom: Timestamp
  public let validUntil: Timestamp
  public let expectedUpdate: Timestamp?
}

/// The method by which the device proves that it holds the document.
public enum DeviceAuthenticationMethod: String, Sendable, Hashable, CaseIterable {
  case signature, mac
  /// A proof shows that the device signed, but hides its key and its signature.
  case zeroKnowledge = "zero_knowledge"
}

/// The known revocation status of an accepted document and of its signer.
public enum RevocationStatus: String, Sendable, Hashable, CaseIterable {
  /// Every status that the document and its signer declare is good.
  case good
  /// A status could not be determined, and the policy allows that.
  case undetermined
  /// Neither the document nor its signer declares where its status is published.
  case notDeclared = "not_declared"
  /// The check is off.
  case notRun = "not_run"
}

/// The value of a data element, typed by its CBOR encoding. It is personal: it has no description and no mirror.
public enum ElementValue: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  case text(String)
  /// Major type 0 or 1: from −2^64 to 2^64 − 1. A bignum is `tagged`; `digits` reads both.
  case integer(Int128)
  case double(Double)
  case bool(Bool)
  case null
  /// Tag 1004 (RFC 8943) with a valid day.
  case fullDate(FullDate)
  /// Tag 0 with the received text (RFC 3339).
  case dateTime(String)
  case bytes([UInt8])
  case array([ElementValue])
  /// Entries in the received order.
  case map([Entry])
  /// Any other tag with its content.
  indirect case tagged(UInt64, ElementValue)

  public struct Entry: Sendable, Hashable {
    public let key: ElementValue
    public let value: ElementValue

    public init(key: ElementValue, value: ElementValue) {
      self.key = key
      self.value = value
    }
  }
}

extension ElementValue {
  public var description: String { "(redacted)" }
  public var debugDescription: String { "(redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// The member of a map with a text key.
  public subscript(key: String) -> ElementValue? {
    guard case .map(let entries) = self else { return nil }
    return entries.first { entry in
      if case .text(let name) = entry.key { name.hasSameBytes(as: key) } else { false }
    }?.value
  }

  /// The digits of an integer of any size, including bignums (tags 2 and 3; RFC 8949, 3.4.3); nil for any other value.
  ///
  /// They are decimal, or hexadecimal after `0x` for a bignum of more than 1,024 bytes. `-` precedes a negative
  /// integer.
  public var digits: String? {
    switch self {
    case .integer(let number): "\(number)"
    case .tagged(let tag, .bytes(let content)): Bignum.digits(tag: tag, content: content)
    default: nil
    }
  }

  init(_ item: CBORItem) {
    switch item.kind {
    case .text: self = .text(item.text ?? "")
    case .unsigned, .negative: self = .integer(item.wholeNumber ?? 0)
    case .bytes: self = .bytes(Array(item.bytes ?? []))
    case .bool: self = .bool(item.bool == true)
    case .float: self = .double(item.double ?? .nan)
    case .null, .undefined: self = .null
    case .array: self = .array(item.elements.map { elements in elements.map { ElementValue($0) } } ?? [])
    case .map:
      self = .map(
        item.entries.map { entries in entries.map { Entry(key: .init($0.key), value: .init($0.value)) } } ?? [])
    case .tag: self = ElementValue(tagged: item)
    }
  }

  private init(tagged item: CBORItem) {
    let number = item.tag ?? 0
    guard let content = item.content(ofTag: number) else {
      self = .null
      return
    }
    if number == 1004, let text = content.text, let date = FullDate(text) {
      self = .fullDate(date)
    } else if number == 0, let text = content.text, Timestamp(rfc3339: text) != nil {
      self = .dateTime(text)
    } else {
      self = .tagged(number, ElementValue(content))
    }
  }
}

/// A data element by its namespace and identifier. They are never joined into one string, since both may contain dots.
///
/// References compare by their bytes, since bytes determine the signed, authorised and requested data.
public struct ElementReference: Sendable, Hashable {
  public let namespace: String
  public let identifier: String

  public init(_ namespace: String, _ identifier: String) {
    self.namespace = namespace
    self.identifier = identifier
  }

  /// The element with a document's number, which is unique within the document type and the issuing authority.
  public static func documentNumber(ofDocType docType: String) -> ElementReference {
    ElementReference(DocTypeCatalogue.ageNamespace(ofDocType: docType), "document_number")
  }

  /// `age_over_NN` in the document type's namespace for it.
  static func ageAttestation(_ age: Int, ofDocType docType: String) -> ElementReference {
    ElementReference(DocTypeCatalogue.ageNamespace(ofDocType: docType), AgeAttestations.identifier(for: age))
  }

  /// True if both identifiers have the same length in bytes. It compares an array's elements without copying them,
  /// since copies count references.
  func hasLength(of other: ElementReference) -> Bool { identifier.utf8.count == other.identifier.utf8.count }

  public static func == (left: ElementReference, right: ElementReference) -> Bool {
    left.identifier.hasSameBytes(as: right.identifier) && left.namespace.hasSameBytes(as: right.namespace)
  }

  public func hash(into hasher: inout Hasher) {
    UTF8Key(identifier).hash(into: &hasher)
    UTF8Key(namespace).hash(into: &hasher)
  }
}
