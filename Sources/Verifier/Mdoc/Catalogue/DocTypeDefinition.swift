import Base
import CBOR
import PKIX

/// A document type that the standards describe, with its namespaces.
public struct DocTypeDefinition: Sendable, Hashable {
  public let docType: String
  /// Other spellings in circulation. Each is a document type of its own on the wire: a request for one is no request
  /// for another.
  public let aliases: [String]
  /// In English, for people.
  public let label: String
  /// The document that specifies it.
  public let source: String
  /// Extended key usages, as dotted identifiers; a document signer must have one of them.
  public let signerUsages: Set<String>
  public let namespaces: [NamespaceDefinition]

  init(
    _ docType: String, aliases: [String] = [], _ label: String, source: String,
    signerUsages: Set<String> = CertificateRole.documentSigner.extendedKeyUsages, _ namespaces: [NamespaceDefinition]
  ) {
    self.docType = docType
    self.aliases = aliases
    self.label = label
    self.source = source
    self.signerUsages = signerUsages
    self.namespaces = namespaces
  }

  /// The spelling in force and the others.
  public var spellings: [String] { [docType] + aliases }

  /// The namespace of its `age_over_NN`, `age_in_years`, `age_birth_year` and `birth_date`.
  public var ageNamespace: String { namespaces.first(where: \.hasAgeAttestations)?.name ?? docType }

  /// The definition of an element, age attestations included; nil if it is not listed.
  public func element(_ reference: ElementReference) -> ElementDefinition? {
    guard let namespace = namespaces.first(where: { $0.name.hasSameBytes(as: reference.namespace) }) else { return nil }
    if let element = namespace.elements.first(where: { $0.identifier.hasSameBytes(as: reference.identifier) }) {
      return element
    }
    guard namespace.hasAgeAttestations, let age = AgeAttestations.age(of: reference.identifier) else { return nil }
    return .attestation(ofAge: age)
  }
}

extension Set<String> {
  /// The usages for signers of the EU's documents: the one of their profile, and those that ISO has for any mdoc.
  static let europeanSignerUsages = CertificateRole.documentSigner.extendedKeyUsages.union(["1.3.130.2.0.0.1.2"])
}

extension ElementDefinition {
  static func attestation(ofAge age: Int, _ presence: Presence = .optional) -> ElementDefinition {
    ElementDefinition(AgeAttestations.identifier(for: age), .bool, "Age \(age) or over", presence)
  }
}

/// An element of a namespace: its identifier, its types, what to call it before people.
public struct ElementDefinition: Sendable, Hashable {
  public enum Presence: Sendable, Hashable { case mandatory, optional }

  public let identifier: String
  public let types: ElementTypes
  /// In English, for people.
  public let label: String
  public let presence: Presence

  /// The edition or draft that alone has the element; nil if every edition of the type's source has it.
  public fileprivate(set) var source: String?

  /// Whether every document of its edition has it.
  public var isMandatory: Bool { presence == .mandatory }

  init(_ identifier: String, _ types: ElementTypes, _ label: String, _ presence: Presence = .optional) {
    self.identifier = identifier
    self.types = types
    self.label = label
    self.presence = presence
  }
}

extension [ElementDefinition] {
  /// The elements as those of one edition or draft only.
  func only(in source: String) -> Self {
    map { element in
      var element = element
      element.source = source
      return element
    }
  }
}

/// The elements of one namespace, as one document type uses it.
public struct NamespaceDefinition: Sendable, Hashable {
  public let name: String
  /// In English, for people.
  public let label: String
  /// In the order of the standard.
  public let elements: [ElementDefinition]
  /// Whether it also has `age_over_NN`, for any two digits (ISO/IEC 18013-5:2021, 7.2.5).
  public let hasAgeAttestations: Bool

  init(
    _ name: String, _ label: String, hasAgeAttestations: Bool = false, _ elements: [ElementDefinition]
  ) {
    self.name = name
    self.label = label
    self.elements = elements
    self.hasAgeAttestations = hasAgeAttestations
  }
}

/// The CBOR types that the value of an element may have.
///
/// If sources disagree, every form is allowed. The empty set says that no type is prescribed.
public struct ElementTypes: OptionSet, Sendable, Hashable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let text = ElementTypes(rawValue: 1 << 0)
  public static let bool = ElementTypes(rawValue: 1 << 1)
  /// A whole number that is not negative.
  public static let unsigned = ElementTypes(rawValue: 1 << 2)
  public static let bytes = ElementTypes(rawValue: 1 << 3)
  /// `full-date`: tag 1004 (RFC 8943).
  public static let fullDate = ElementTypes(rawValue: 1 << 4)
  /// `tdate`: tag 0 (RFC 8949, 3.4.1).
  public static let dateTime = ElementTypes(rawValue: 1 << 5)
  public static let array = ElementTypes(rawValue: 1 << 6)
  public static let map = ElementTypes(rawValue: 1 << 7)
  /// A map with a full-date and a mask for its unknown digits (ISO/IEC 23220-2, 6.3.1.1.3).
  public static let approximateDate = ElementTypes(rawValue: 1 << 8)

  public static let notPrescribed: ElementTypes = []
  /// `tdate / full-date`.
  public static let date: ElementTypes = [.fullDate, .dateTime]

  /// Whether a value has one of the types, or none is prescribed.
  func allows(_ value: ElementValue) -> Bool { isEmpty || !isDisjoint(with: Self.type(of: value)) }

  /// The same of a value as it came. Strings are not copied for it: a portrait is large.
  func allows(_ item: CBORItem) -> Bool {
    switch item.kind {
    case .text: isEmpty || contains(.text)
    case .bytes: isEmpty || contains(.bytes)
    default: isEmpty || allows(ElementValue(item))
    }
  }

  /// The type of a value; empty for a value that no element of the standards has.
  private static func type(of value: ElementValue) -> ElementTypes {
    switch value {
    case .text: .text
    case .bool: .bool
    case .integer(let number): number >= 0 ? .unsigned : []
    case .bytes: .bytes
    case .fullDate: .fullDate
    case .dateTime: .dateTime
    case .array: .array
    case .map: BirthDate(value) == nil ? .map : [.map, .approximateDate]
    case .double, .null, .tagged: []
    }
  }

  /// The types' names in CDDL.
  public var names: [String] {
    let all: [(ElementTypes, String)] = [
      (.text, "tstr"), (.bool, "bool"), (.unsigned, "uint"), (.bytes, "bstr"), (.fullDate, "full-date"),
      (.dateTime, "tdate"), (.array, "array"), (.map, "map"), (.approximateDate, "map"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}
