/// The types that the standards give to elements (ISO/IEC 18013-5:2021, Table 5; AAMVA; ISO/IEC 23220).
///
/// Where sources disagree every form is allowed. Elements that are not listed have no prescribed type here.
enum ElementTypes {
  enum Kind { case text, bool, unsigned, bytes, fullDate, dateTime, array, map }

  /// Whether the value has one of the element's types, or the element has none prescribed.
  static func isValid(_ value: ElementValue, for element: ElementReference) -> Bool {
    guard let kinds = kinds(of: element) else { return true }
    return kinds.contains { matches(value, $0) }
  }

  static func kinds(of element: ElementReference) -> [Kind]? {
    switch element.namespace {
    case Namespace.mDL:
      AgeAttestations.age(of: element.identifier) != nil ? [.bool] : mDL[element.identifier]
    case Namespace.aamva: aamva[element.identifier]
    case Namespace.iso23220:
      AgeAttestations.age(of: element.identifier) != nil ? [.bool] : iso23220[element.identifier]
    default: nil
    }
  }

  private static func matches(_ value: ElementValue, _ kind: Kind) -> Bool {
    switch (kind, value) {
    case (.text, .text), (.bool, .bool), (.bytes, .bytes), (.fullDate, .fullDate), (.dateTime, .dateTime),
      (.array, .array), (.map, .map):
      true
    case (.unsigned, .integer(let number)): number >= 0
    default: false
    }
  }

  private static let mDL: [String: [Kind]] = [
    "family_name": [.text], "given_name": [.text], "birth_date": [.fullDate, .dateTime],
    "issue_date": [.fullDate, .dateTime],
    "expiry_date": [.fullDate, .dateTime], "issuing_country": [.text], "issuing_authority": [.text],
    "document_number": [.text], "portrait": [.bytes], "driving_privileges": [.array],
    "un_distinguishing_sign": [.text], "administrative_number": [.text], "sex": [.unsigned], "height": [.unsigned],
    "weight": [.unsigned], "eye_colour": [.text], "hair_colour": [.text], "birth_place": [.text],
    "resident_address": [.text], "portrait_capture_date": [.dateTime, .fullDate], "age_in_years": [.unsigned],
    "age_birth_year": [.unsigned], "issuing_jurisdiction": [.text], "nationality": [.text],
    "resident_street": [.text], "resident_city": [.text], "resident_state": [.text], "resident_postal_code": [.text],
    "resident_country": [.text], "family_name_national_character": [.text],
    "given_name_national_character": [.text], "signature_usual_mark": [.bytes],
  ]

  private static let aamva: [String: [Kind]] = [
    "domestic_driving_privileges": [.array], "name_suffix": [.text], "organ_donor": [.unsigned],
    "veteran": [.unsigned], "family_name_truncation": [.text], "given_name_truncation": [.text],
    "aka_family_name": [.text], "aka_given_name": [.text], "aka_family_name.v2": [.text],
    "aka_given_name.v2": [.text], "aka_suffix": [.text], "weight_range": [.unsigned], "race_ethnicity": [.text],
    "sex": [.unsigned], "EDL_credential": [.unsigned], "DHS_compliance": [.text], "DHS_compliance_text": [.text],
    "DHS_temporary_lawful_status": [.unsigned], "resident_county": [.text],
    "hazmat_endorsement_expiration_date": [.fullDate], "CDL_indicator": [.unsigned], "audit_information": [.text],
    "aamva_version": [.unsigned],
  ]

  private static let iso23220: [String: [Kind]] = [
    "family_name_unicode": [.text], "given_name_unicode": [.text], "family_name_latin1": [.text],
    "given_name_latin1": [.text], "birth_date": [.fullDate, .dateTime, .map], "portrait": [.bytes],
    "issue_date": [.fullDate, .dateTime], "expiry_date": [.fullDate, .dateTime], "issuing_authority_unicode": [.text],
    "issuing_authority_latin1": [.text], "issuing_country": [.text], "age_in_years": [.unsigned],
    "age_birth_year": [.unsigned], "portrait_capture_date": [.dateTime, .fullDate], "sex": [.unsigned],
    "nationality": [.text], "document_number": [.text], "issuing_subdivision": [.text],
    "resident_address_unicode": [.text], "resident_city_unicode": [.text], "resident_city_latin1": [.text],
    "resident_postal_code": [.text], "resident_country": [.text],
  ]
}
