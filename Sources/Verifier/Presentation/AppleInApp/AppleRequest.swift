import Base
import Mdoc

/// The arguments of an app's `PKIdentityRequest`, made from a relying party's request.
public struct AppleRequest: Sendable {
  /// Apple's names for a document's type and for the requested elements.
  public struct Document: Sendable, Hashable {
    public let documentType: String
    public let elements: [Element]
  }

  /// An identity element with the period of `PKIdentityIntentToStore`.
  public struct Element: Sendable, Hashable {
    public let name: String
    public let retention: Retention

    /// `PKIdentityIntentToStore`: `willNotStore`, `mayStore(days:)` or `mayStore`.
    fileprivate var intent: JSON {
      switch retention {
      case .none: ["element": .string(name), "intent_to_store": "will_not_store"]
      case .days(let days):
        ["element": .string(name), "intent_to_store": "may_store", "days": .integer(Int64(days))]
      case .unspecified: ["element": .string(name), "intent_to_store": "may_store"]
      }
    }
  }

  public let documents: [Document]

  public init(_ request: PresentationRequest) throws(AppleRequestError) {
    // The person chooses one document, and the response has only that document.
    if request.requiresAllDocuments, request.documents.count > 1 { throw .severalDocumentsRequired }
    var documents: [Document] = []
    for (index, document) in request.documents.enumerated() {
      guard let type = AppleDocumentType(docType: document.docType) else { throw .docTypeNotOffered(document: index) }
      var elements: [Element] = []
      // An age threshold gives no permission to retain the result.
      var thresholds = Dictionary(uniqueKeysWithValues: document.ageThresholds.map { ($0, Retention.none) })
      for (position, wanted) in document.elements.enumerated() {
        if let age = AgeAttestations.age(of: wanted.element.identifier) {
          thresholds[age] = wanted.retention
          continue
        }
        guard let name = type.appleElement(for: wanted.element) else {
          throw .elementNotOffered(document: index, element: position)
        }
        if let same = elements.first(where: { $0.name == name }) {
          guard same.retention == wanted.retention else { throw .mixedIntents(document: index, element: position) }
        } else {
          elements.append(Element(name: name, retention: wanted.retention))
        }
      }
      guard thresholds.isEmpty || !elements.contains(where: { $0.name == "age" }) else {
        throw .ageInYearsWithThresholds(document: index)
      }
      elements += thresholds.sorted { $0.key < $1.key }.map {
        Element(name: "age(atLeast: \($0.key))", retention: $0.value)
      }
      documents.append(Document(documentType: type.appleName, elements: elements))
    }
    self.documents = documents
  }

  /// `data` of the session's request.
  public func json(nonce: [UInt8], merchantID: String) -> JSON {
    [
      "nonce": .string(Base64.encode(nonce)), "merchant_identifier": .string(merchantID),
      "documents": .array(
        documents.map { document in
          [
            "document_type": .string(document.documentType),
            "elements": .array(document.elements.map { .string($0.name) }),
            "element_intents": .array(document.elements.map(\.intent)),
          ]
        }),
    ]
  }
}

/// The reason why a request cannot be made through Apple's in-app protocol.
public enum AppleRequestError: Error, Sendable, Hashable {
  case docTypeNotOffered(document: Int)
  case elementNotOffered(document: Int, element: Int)
  /// `age` and `age(atLeast:)` cannot be in one request.
  case ageInYearsWithThresholds(document: Int)
  /// One of Apple's elements maps to several requested elements with different intents.
  case mixedIntents(document: Int, element: Int)
  case severalDocumentsRequired
}

/// A document type of Apple's in-app protocol, with the mdoc elements of each of its identity elements
/// (`PKIdentityDriversLicenseDescriptor`, `PKIdentityPhotoIDDescriptor`, `PKIdentityNationalIDCardDescriptor`).
public enum AppleDocumentType: String, Sendable, CaseIterable {
  case driversLicense, photoID, nationalIDCard

  public init?(docType: String) {
    guard let type = Self.allCases.first(where: { $0.docType == docType }) else { return nil }
    self = type
  }

  public var docType: String { definition.docType }

  /// The type's name in the entitlement.
  public var appleName: String { definition.appleName }

  /// The name of the identity element that returns an mdoc element; nil if none does.
  public func appleElement(for element: ElementReference) -> String? {
    definition.groups.first { $0.elements.contains(element) || $0.alternatives.contains(element) }?.name
  }

  /// The element requests of one of Apple's identity elements; nil if this type lacks the identity element.
  /// The first mdoc element, or an alternative to it, is required. The others are optional.
  public func elementRequests(for name: String, retention: Retention, isRequired: Bool) -> [ElementRequest]? {
    guard let group = definition.groups.first(where: { $0.name == name }) else { return nil }
    return group.elements.enumerated().map { index, element in
      ElementRequest(
        element, retention: retention, isRequired: isRequired && index == 0,
        alternatives: index == 0 ? group.alternatives : [])
    }
  }

  /// The names of all identity elements of the type.
  public var elementNames: [String] { definition.groups.map(\.name) }

  private struct Definition {
    let docType, appleName: String
    let groups: [Group]
  }

  private struct Group {
    let name: String
    /// The elements of the identity element, the essential one first.
    let elements: [ElementReference]
    /// Elements that may be returned instead of the first element.
    let alternatives: [ElementReference]

    init(_ name: String, _ elements: [ElementReference], or alternatives: [ElementReference] = []) {
      self.name = name
      self.elements = elements
      self.alternatives = alternatives
    }
  }

  private var definition: Definition {
    switch self {
    case .driversLicense: Self.driversLicenseDefinition
    case .photoID: Self.photoIDDefinition
    case .nationalIDCard: Self.nationalIDDefinition
    }
  }

  private static func named(_ identifiers: [String], in namespace: String) -> [ElementReference] {
    identifiers.map { ElementReference(namespace, $0) }
  }

  private static func mDL(_ identifiers: String...) -> [ElementReference] { named(identifiers, in: Namespace.mDL) }
  private static func aamva(_ identifiers: String...) -> [ElementReference] { named(identifiers, in: Namespace.aamva) }
  private static func iso(_ identifiers: String...) -> [ElementReference] { named(identifiers, in: Namespace.iso23220) }
  private static func japan(_ identifiers: String...) -> [ElementReference] {
    named(identifiers, in: Namespace.iso23220Japan)
  }

  private static let driversLicenseDefinition = Definition(
    docType: DocType.mDL, appleName: "us-drivers-license",
    groups: [
      Group(
        "givenName",
        mDL("given_name")
          + aamva("given_name_truncation", "aka_given_name", "name_suffix", "aka_suffix", "aka_given_name.v2")),
      Group(
        "familyName",
        mDL("family_name") + aamva("family_name_truncation", "aka_family_name", "aka_family_name.v2")),
      Group("portrait", mDL("portrait")),
      Group(
        "address",
        mDL("resident_address", "resident_city", "resident_state", "resident_country", "resident_postal_code")),
      Group(
        "issuingAuthority",
        mDL("issuing_authority", "issuing_jurisdiction", "issuing_country", "un_distinguishing_sign")),
      Group("documentExpirationDate", mDL("expiry_date")),
      // Apple's table has document_issue_date. ISO's name is issue_date.
      Group("documentIssueDate", mDL("issue_date"), or: mDL("document_issue_date")),
      Group("documentNumber", mDL("document_number")),
      // Apple: use the domestic privileges for US licences.
      Group("drivingPrivileges", mDL("driving_privileges"), or: aamva("domestic_driving_privileges")),
      Group("age", mDL("age_in_years")),
      Group("dateOfBirth", mDL("birth_date")),
      Group("sex", mDL("sex"), or: aamva("sex")),
      Group("documentDHSComplianceStatus", aamva("DHS_compliance")),
      Group("height", mDL("height")),
      Group("weight", mDL("weight") + aamva("weight_range")),
      Group("eyeColor", mDL("eye_colour")),
      Group("hairColor", mDL("hair_colour")),
      Group("organDonorStatus", aamva("organ_donor")),
      Group("veteranStatus", aamva("veteran")),
      Group("nationality", mDL("nationality")),
      Group("placeOfBirth", mDL("birth_place")),
      Group("signatureUsualMark", mDL("signature_usual_mark")),
      Group("dhsTemporaryLawfulStatus", aamva("DHS_temporary_lawful_status")),
    ])

  private static let photoIDDefinition = Definition(
    docType: DocType.photoID, appleName: "photo-id",
    groups: [
      Group("givenName", iso("given_name_unicode"), or: iso("given_name_latin1")),
      Group("familyName", iso("family_name_unicode"), or: iso("family_name_latin1")),
      Group("portrait", iso("portrait", "portrait_capture_date")),
      Group(
        "address",
        iso(
          "resident_address_unicode", "resident_city_unicode", "resident_city_latin1", "resident_postal_code",
          "resident_country")),
      Group(
        "issuingAuthority", iso("issuing_authority_unicode", "issuing_subdivision", "issuing_country"),
        or: iso("issuing_authority_latin1")),
      Group("documentIssueDate", iso("issue_date")),
      Group("documentExpirationDate", iso("expiry_date")),
      Group("documentNumber", iso("document_number")),
      // Two of Apple's pages disagree about these two elements, so both forms are accepted.
      Group("sex", iso("sex"), or: iso("sex_unicode")),
      Group("dateOfBirth", iso("birth_date"), or: iso("birth_date_unicode")),
      Group("age", iso("age_in_years", "age_birth_year")),
      Group("nationality", iso("nationality")),
      Group("placeOfBirth", iso("birthplace")),
    ])

  private static let nationalIDDefinition = Definition(
    docType: DocType.japanMyNumber, appleName: "jp-national-id-card",
    groups: [
      Group("givenName", japan("full_name_unicode")),
      Group("familyName", japan("full_name_unicode")),
      Group("name", japan("full_name_unicode")),
      Group("portrait", japan("portrait")),
      Group("address", japan("resident_address_unicode", "local_gov_code_unicode")),
      Group("documentNumber", japan("individual_number_unicode")),
      Group("sex", iso("sex"), or: japan("sex_unicode")),
      Group("age", iso("age_in_years")),
      Group("dateOfBirth", iso("birth_date"), or: japan("birth_date_unicode")),
    ])
}
