import Base
import CBOR

/// The value of a data element, typed by its CBOR. It is personal: it has no description and no mirror.
public indirect enum ElementValue: Sendable, Hashable {
  case text(String)
  /// Major type 0 or 1: from −2^64 to 2^64 − 1. A bignum is `tagged`; `digits` reads both.
  case integer(Int128)
  case double(Double)
  case bool(Bool)
  case null
  /// Tag 1004 (RFC 8943) with a day that the calendar has.
  case fullDate(FullDate)
  /// Tag 0 with the text as received (RFC 3339).
  case dateTime(String)
  case bytes([UInt8])
  case array([ElementValue])
  /// Entries in the order received.
  case map([Entry])
  /// Any other tag with its content.
  case tagged(UInt64, ElementValue)

  public struct Entry: Sendable, Hashable {
    public let key: ElementValue
    public let value: ElementValue

    public init(key: ElementValue, value: ElementValue) {
      self.key = key
      self.value = value
    }
  }
}

extension ElementValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "(redacted)" }
  public var debugDescription: String { "(redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ElementValue {
  /// The member of a map with a text key.
  public subscript(key: String) -> ElementValue? {
    guard case .map(let entries) = self else { return nil }
    return entries.first { entry in
      if case .text(let name) = entry.key { name.hasSameBytes(as: key) } else { false }
    }?.value
  }

  /// The digits of an integer of any size, bignums (tags 2 and 3; RFC 8949, 3.4.3) included; nil for any other value.
  ///
  /// They are decimal; those of a bignum of more than 1,024 bytes are hexadecimal after `0x`. `-` stands first where the
  /// integer is negative.
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

/// A data element by its namespace and identifier, which are never joined into one string: both may contain dots.
///
/// Two references are equal if their bytes are, because bytes decide what is signed, authorised and requested.
public struct ElementReference: Sendable, Hashable {
  public let namespace: String
  public let identifier: String

  public init(_ namespace: String, _ identifier: String) {
    self.namespace = namespace
    self.identifier = identifier
  }

  /// What numbers the documents of one type and authority.
  public static func documentNumber(ofDocType docType: String) -> ElementReference {
    ElementReference(DocTypeCatalogue.ageNamespace(ofDocType: docType), "document_number")
  }

  public static func == (left: ElementReference, right: ElementReference) -> Bool {
    left.identifier.hasSameBytes(as: right.identifier) && left.namespace.hasSameBytes(as: right.namespace)
  }

  public func hash(into hasher: inout Hasher) {
    UTF8Key(identifier).hash(into: &hasher)
    UTF8Key(namespace).hash(into: &hasher)
  }
}
