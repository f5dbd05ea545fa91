import Base
import CBOR
import PKIX

/// The standards' document types and their elements, with names, types and labels.
///
/// Other document types and elements are accepted, with the types of their CBOR values. Names are compared by their
/// bytes.
public enum DocTypeCatalogue {
  public static let all: [DocTypeDefinition] = [
    .mDL, .photoID, .europeanPID, .europeanAgeVerification, .japanMyNumber,
  ]

  /// The definition with this spelling of a document type; nil if the spelling is not listed.
  public static func definition(of docType: String) -> DocTypeDefinition? {
    all.first { definition in definition.spellings.contains { $0.hasSameBytes(as: docType) } }
  }

  /// The namespace of a document type's age elements. For an unknown type, the namespace is the type's own name. The
  /// EU's types follow this rule.
  public static func ageNamespace(ofDocType docType: String) -> String {
    definition(of: docType)?.ageNamespace ?? docType
  }

  /// The default extended key usages for signers of a document type; a signer must have one of them. For an unlisted
  /// type, ISO/IEC 18013-5 and 23220-4 give the usages for signers of any mdoc.
  public static func signerUsages(of docType: String) -> Set<String> {
    definition(of: docType)?.signerUsages ?? CertificateRole.documentSigner.extendedKeyUsages
  }

  /// The prescribed types of the element; nil if the value has a prescribed type, or if no type is prescribed.
  static func expectedTypes(of element: ElementReference, violatedBy item: CBORItem) -> ElementTypes? {
    types[element].flatMap { $0.allows(item) ? nil : $0 }
  }

  /// Whether a proof may show the element. Its value must have no parts, and must not be a long byte string such as an
  /// image.
  static func isProvable(_ element: ElementReference) -> Bool {
    guard let types = types[element], types != .notPrescribed else { return true }
    return !types.isDisjoint(with: [.text, .bool, .unsigned, .fullDate, .dateTime])
  }

  /// A table of every listed element's types, since each element of each response is looked up.
  private static let types: [ElementReference: ElementTypes] = {
    var types: [ElementReference: ElementTypes] = [:]
    for namespace in all.flatMap(\.namespaces) {
      let ages = namespace.hasAgeAttestations ? (0...99).map { ElementDefinition.attestation(ofAge: $0) } : []
      for element in namespace.elements + ages {
        // A namespace that two types share has the elements of both types.
        types[ElementReference(namespace.name, element.identifier), default: []].formUnion(element.types)
      }
    }
    return types
  }()

  /// A listed element of the type that differs by one typing error in its spelling, for error messages.
  public static func neighbour(of element: ElementReference, inDocType docType: String) -> ElementReference? {
    guard let definition = definition(of: docType), definition.element(element) == nil else { return nil }
    let candidates = definition.namespaces.flatMap { namespace in
      namespace.elements.map { ElementReference(namespace.name, $0.identifier) }
    }
    return candidates.first { candidate in
      // Only one of the two names, namespace or identifier, may differ.
      candidate.identifier.hasSameBytes(as: element.identifier)
        ? Spelling.isOneEdit(candidate.namespace, element.namespace)
        : candidate.namespace.hasSameBytes(as: element.namespace)
          && Spelling.isOneEdit(candidate.identifier, element.identifier)
    }
  }
}

/// The standards' names of document types.
public enum DocType {
  public static let mDL = TrustAnchor.mDL
  public static let photoID = "org.iso.23220.photoid.1"
  /// The spelling of drafts of ISO/IEC 23220-4 before 2025-12. On the wire it is a different document type.
  public static let photoIDDraft = "org.iso.23220.photoID.1"
  public static let europeanPID = "eu.europa.ec.eudi.pid.1"
  public static let europeanAgeVerification = "eu.europa.ec.av.1"
  public static let japanMyNumber = "org.iso.23220.1.jp.mnc"
}

/// The standards' names of namespaces.
public enum Namespace {
  public static let mDL = "org.iso.18013.5.1"
  public static let aamva = "org.iso.18013.5.1.aamva"
  public static let iso23220 = "org.iso.23220.1"
  public static let iso23220PhotoID = DocType.photoID
  public static let iso23220DataGroups = "org.iso.23220.datagroups.1"
  /// The names of these two namespaces in drafts of 2024.
  public static let iso23220PhotoIDDraft = DocType.photoIDDraft
  public static let iso23220TravelDocument = "org.iso.23220.dtc.1"
  public static let iso23220Japan = "org.iso.23220.1.jp"
  public static let europeanPID = DocType.europeanPID
  public static let europeanAgeVerification = DocType.europeanAgeVerification
}

/// A document type of the standards, with its namespaces.
public struct DocTypeDefinition: Sendable, Hashable {
  public let docType: String
  /// Other spellings in circulation. Each is a different document type on the wire: a request for one does not match
  /// another.
  public let aliases: [String]
  /// The English display name.
  public let label: String
  /// The document that specifies the type.
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

  /// The current spelling, then the others.
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
  /// The usages for signers of the EU's documents: the usage of their profile, and ISO's usages for any mdoc.
  static let europeanSignerUsages = CertificateRole.documentSigner.extendedKeyUsages.union(["1.3.130.2.0.0.1.2"])
}

/// An element of a namespace: its identifier, its types and its label.
public struct ElementDefinition: Sendable, Hashable {
  public enum Presence: Sendable, Hashable { case mandatory, optional }

  public let identifier: String
  public let types: ElementTypes
  /// The English display name.
  public let label: String
  public let presence: Presence

  /// The only edition or draft with the element; nil if every edition of the type's source has it.
  public fileprivate(set) var source: String?

  /// Whether the element is in every document of its edition.
  public var isMandatory: Bool { presence == .mandatory }

  init(_ identifier: String, _ types: ElementTypes, _ label: String, _ presence: Presence = .optional) {
    self.identifier = identifier
    self.types = types
    self.label = label
    self.presence = presence
  }

  static func attestation(ofAge age: Int, _ presence: Presence = .optional) -> ElementDefinition {
    ElementDefinition(AgeAttestations.identifier(for: age), .bool, "Age \(age) or over", presence)
  }
}

extension [ElementDefinition] {
  /// The elements, marked as belonging to one edition or draft.
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
  /// The English display name.
  public let label: String
  /// The elements, in the order of the standard.
  public let elements: [ElementDefinition]
  /// Whether the namespace also has `age_over_NN`, for any two digits (ISO/IEC 18013-5:2021, 7.2.5).
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

/// The allowed CBOR types of an element's value. If sources disagree, every form is allowed. The empty set prescribes
/// no type.
public struct ElementTypes: OptionSet, Sendable, Hashable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let text = ElementTypes(rawValue: 1 << 0)
  public static let bool = ElementTypes(rawValue: 1 << 1)
  /// A non-negative whole number.
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

  /// True if the value has one of the types, or if no type is prescribed.
  func allows(_ value: ElementValue) -> Bool { isEmpty || !isDisjoint(with: Self.type(of: value)) }

  /// True if the encoded value has one of the types, or if no type is prescribed. Strings are not copied: a portrait is
  /// large.
  func allows(_ item: CBORItem) -> Bool {
    switch item.kind {
    case .text: isEmpty || contains(.text)
    case .bytes: isEmpty || contains(.bytes)
    default: isEmpty || allows(ElementValue(item))
    }
  }

  /// The type of a value; empty if no standard element has such a value.
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
