import Mdoc

/// A document type of Apple's in-app protocol, with the mdoc elements that each of its identity elements brings
/// (`PKIdentityDriversLicenseDescriptor`, `PKIdentityPhotoIDDescriptor`, `PKIdentityNationalIDCardDescriptor`).
public enum AppleDocumentType: String, Sendable, CaseIterable {
  case driversLicense, photoID, nationalIDCard

  public init?(docType: String) {
    guard let type = Self.allCases.first(where: { $0.docType == docType }) else { return nil }
    self = type
  }

  public var docType: String {
    switch self {
    case .driversLicense: DocType.mDL
    case .photoID: DocType.photoID
    case .nationalIDCard: DocType.japanMyNumber
    }
  }

  /// The name that the entitlement has for the type.
  public var appleName: String {
    switch self {
    case .driversLicense: "us-drivers-license"
    case .photoID: "photo-id"
    case .nationalIDCard: "jp-national-id-card"
    }
  }

  /// The name of the identity element that brings an mdoc element; nil if none does.
  public func appleElement(for element: ElementReference) -> String? {
    groups.first { $0.elements.contains(element) || $0.alternatives.contains(element) }?.name
  }

  /// The element requests that stand for one of Apple's identity elements; nil if this type has none of that name. The
  /// first of its elements, or an alternative to it, must come; the others may.
  public func elementRequests(for name: String, retention: Retention, isRequired: Bool) -> [ElementRequest]? {
    guard let group = groups.first(where: { $0.name == name }) else { return nil }
    return group.elements.enumerated().map { index, element in
      ElementRequest(
        element, retention: retention, isRequired: isRequired && index == 0,
        alternatives: index == 0 ? group.alternatives : [])
    }
  }

  /// The names of all identity elements of the type.
  public var elementNames: [String] { groups.map(\.name) }

  private struct Group {
    let name: String
    /// The elements that the identity element brings, the essential one first.
    let elements: [ElementReference]
    /// Elements that may come in place of the first.
    var alternatives: [ElementReference] = []
  }

  private var groups: [Group] {
    switch self {
    case .driversLicense: Self.driversLicenseGroups
    case .photoID: Self.photoIDGroups
    case .nationalIDCard: Self.nationalIDGroups
    }
  }

  private static func mDL(_ identifiers: String...) -> [ElementReference] {
    identifiers.map { ElementReference(Namespace.mDL, $0) }
  }

  private static func aamva(_ identifiers: String...) -> [ElementReference] {
    identifiers.map { ElementReference(Namespace.aamva, $0) }
  }

  private static func iso23220(_ identifiers: String...) -> [ElementReference] {
    identifiers.map { ElementReference(Namespace.iso23220, $0) }
  }

  private static func japan(_ identifiers: String...) -> [ElementReference] {
    identifiers.map { ElementReference(Namespace.iso23220Japan, $0) }
  }

  private static let driversLicenseGroups: [Group] = [
    Group(
      name: "givenName",
      elements: mDL("given_name")
        + aamva("given_name_truncation", "aka_given_name", "name_suffix", "aka_suffix", "aka_given_name.v2")),
    Group(
      name: "familyName",
      elements: mDL("family_name") + aamva("family_name_truncation", "aka_family_name", "aka_family_name.v2")),
    Group(name: "portrait", elements: mDL("portrait")),
    Group(
      name: "address",
      elements: mDL(
        "resident_address", "resident_city", "resident_state", "resident_country", "resident_postal_code")),
    Group(
      name: "issuingAuthority",
      elements: mDL("issuing_authority", "issuing_jurisdiction", "issuing_country", "un_distinguishing_sign")),
    Group(name: "documentExpirationDate", elements: mDL("expiry_date")),
    // Apple's table writes document_issue_date, ISO's name is issue_date.
    Group(name: "documentIssueDate", elements: mDL("issue_date"), alternatives: mDL("document_issue_date")),
    Group(name: "documentNumber", elements: mDL("document_number")),
    // Apple: use the domestic privileges for US licences.
    Group(
      name: "drivingPrivileges", elements: mDL("driving_privileges"),
      alternatives: aamva("domestic_driving_privileges")),
    Group(name: "age", elements: mDL("age_in_years")),
    Group(name: "dateOfBirth", elements: mDL("birth_date")),
    Group(name: "sex", elements: mDL("sex"), alternatives: aamva("sex")),
    Group(name: "documentDHSComplianceStatus", elements: aamva("DHS_compliance")),
    Group(name: "height", elements: mDL("height")),
    Group(name: "weight", elements: mDL("weight") + aamva("weight_range")),
    Group(name: "eyeColor", elements: mDL("eye_colour")),
    Group(name: "hairColor", elements: mDL("hair_colour")),
    Group(name: "organDonorStatus", elements: aamva("organ_donor")),
    Group(name: "veteranStatus", elements: aamva("veteran")),
    Group(name: "nationality", elements: mDL("nationality")),
    Group(name: "placeOfBirth", elements: mDL("birth_place")),
    Group(name: "signatureUsualMark", elements: mDL("signature_usual_mark")),
    Group(name: "dhsTemporaryLawfulStatus", elements: aamva("DHS_temporary_lawful_status")),
  ]

  private static let photoIDGroups: [Group] = [
    Group(name: "givenName", elements: iso23220("given_name_unicode"), alternatives: iso23220("given_name_latin1")),
    Group(name: "familyName", elements: iso23220("family_name_unicode"), alternatives: iso23220("family_name_latin1")),
    Group(name: "portrait", elements: iso23220("portrait", "portrait_capture_date")),
    Group(
      name: "address",
      elements: iso23220(
        "resident_address_unicode", "resident_city_unicode", "resident_city_latin1", "resident_postal_code",
        "resident_country")),
    Group(
      name: "issuingAuthority",
      elements: iso23220("issuing_authority_unicode", "issuing_subdivision", "issuing_country"),
      alternatives: iso23220("issuing_authority_latin1")),
    Group(name: "documentIssueDate", elements: iso23220("issue_date")),
    Group(name: "documentExpirationDate", elements: iso23220("expiry_date")),
    Group(name: "documentNumber", elements: iso23220("document_number")),
    // Apple's two pages disagree on these two; both forms are accepted.
    Group(name: "sex", elements: iso23220("sex"), alternatives: iso23220("sex_unicode")),
    Group(name: "dateOfBirth", elements: iso23220("birth_date"), alternatives: iso23220("birth_date_unicode")),
    Group(name: "age", elements: iso23220("age_in_years", "age_birth_year")),
    Group(name: "nationality", elements: iso23220("nationality")),
    Group(name: "placeOfBirth", elements: iso23220("birthplace")),
  ]

  private static let nationalIDGroups: [Group] = [
    Group(name: "givenName", elements: japan("full_name_unicode")),
    Group(name: "familyName", elements: japan("full_name_unicode")),
    Group(name: "name", elements: japan("full_name_unicode")),
    Group(name: "portrait", elements: japan("portrait")),
    Group(name: "address", elements: japan("resident_address_unicode", "local_gov_code_unicode")),
    Group(name: "documentNumber", elements: japan("individual_number_unicode")),
    Group(name: "sex", elements: iso23220("sex"), alternatives: japan("sex_unicode")),
    Group(name: "age", elements: iso23220("age_in_years")),
    Group(name: "dateOfBirth", elements: iso23220("birth_date"), alternatives: japan("birth_date_unicode")),
  ]
}
