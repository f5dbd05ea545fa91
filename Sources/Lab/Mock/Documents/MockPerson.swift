import Base
import CBOR

/// The person whom the mock wallet belongs to: one mDL and one photo ID, consistent with each other and with the mock
/// authority's certificates (C=US, ST=US-UT).
package enum MockPerson {
  package static let documents: [MockDocumentData] = [mDL, photoID]

  /// ISO/IEC 18013-5, Table 5, and the AAMVA mDL Implementation Guidelines.
  package static let mDL = MockDocumentData(
    docType: MockDocType.mDL,
    namespaces: [
      .init(
        MockNamespace.mDL,
        [
          ("family_name", "Morgan"),
          ("given_name", "Ada"),
          ("birth_date", date(1990, 4, 12)),
          ("issue_date", date(2024, 2, 1)),
          ("expiry_date", date(2032, 4, 12)),
          ("issuing_country", "US"),
          ("issuing_authority", "Utah Mock Driver License Division"),
          ("document_number", "M18013505"),
          ("portrait", .bytes(MockPortrait.jpeg)),
          ("driving_privileges", [privilege("B", from: date(2008, 9, 15)), privilege("A", from: date(2015, 5, 4))]),
          ("un_distinguishing_sign", "USA"),
          ("sex", 2),
          ("height", 168),
          ("weight", 63),
          ("eye_colour", "green"),
          ("hair_colour", "brown"),
          ("resident_address", "52 Example Avenue"),
          ("resident_city", "Salt Lake City"),
          ("resident_state", "UT"),
          ("resident_postal_code", "84101"),
          ("resident_country", "US"),
          ("issuing_jurisdiction", "US-UT"),
          ("nationality", "US"),
        ]),
      .init(
        MockNamespace.aamva,
        [
          ("DHS_compliance", "F"),
          ("sex", 2),
          ("family_name_truncation", "N"),
          ("given_name_truncation", "N"),
          ("organ_donor", 1),
          ("domestic_driving_privileges", [domesticPrivilege]),
        ]),
    ],
    ageThresholds: [18, 21, 25, 65])

  /// ISO/IEC 23220 photo ID, with the members that Apple and Google write.
  package static let photoID = MockDocumentData(
    docType: MockDocType.photoID,
    namespaces: [
      .init(
        MockNamespace.photoID,
        [
          ("family_name_unicode", "Morgan"),
          ("given_name_unicode", "Ada"),
          ("family_name_latin1", "Morgan"),
          ("given_name_latin1", "Ada"),
          ("birth_date", ["birth_date": date(1990, 4, 12)]),
          ("portrait", .bytes(MockPortrait.jpeg)),
          ("issue_date", date(2023, 6, 20)),
          ("expiry_date", date(2033, 6, 19)),
          ("issuing_authority_unicode", "Mock Passport Office"),
          ("issuing_country", "US"),
          ("issuing_subdivision", "US-UT"),
          ("document_number", "P23220401"),
          ("sex", 2),
          ("nationality", "US"),
        ]),
      .init(
        MockNamespace.photoIDParticular,
        [
          ("person_id", "1001-23220"),
          ("birth_country", "US"),
          ("birth_city", "Salt Lake City"),
          ("travel_document_number", "P23220401"),
        ]),
    ],
    ageThresholds: [18, 21, 25, 65])

  private static func date(_ year: Int, _ month: Int, _ day: Int) -> CBORValue {
    FullDate(year: year, month: month, day: day).map(CBORValue.fullDate) ?? .null
  }

  private static func privilege(_ category: String, from issued: CBORValue) -> CBORValue {
    ["vehicle_category_code": .text(category), "issue_date": issued, "expiry_date": date(2032, 4, 12)]
  }

  private static let domesticPrivilege: CBORValue = [
    "domestic_vehicle_class": [
      "domestic_vehicle_class_code": "D",
      "domestic_vehicle_class_description": "Any vehicle except those requiring a CDL",
      "issue_date": date(2008, 9, 15),
      "expiry_date": date(2032, 4, 12),
    ]
  ]
}

/// The namespaces of the mock documents.
package enum MockNamespace {
  package static let mDL = "org.iso.18013.5.1"
  package static let aamva = "org.iso.18013.5.1.aamva"
  package static let photoID = "org.iso.23220.1"
  package static let photoIDParticular = "org.iso.23220.photoID.1"
}
