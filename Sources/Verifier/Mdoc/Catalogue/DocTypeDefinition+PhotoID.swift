extension DocTypeDefinition {
  static let photoID = DocTypeDefinition(
    DocType.photoID, aliases: [DocType.photoIDDraft], "Photo ID", source: "ISO/IEC TS 23220-4",
    [.iso23220, .iso23220PhotoID, .iso23220TravelDocument])
}

extension NamespaceDefinition {
  /// ISO/IEC 23220-2, as photo IDs use it.
  static let iso23220 = NamespaceDefinition(
    Namespace.iso23220, "Photo ID", hasAgeAttestations: true,
    [
      .init("family_name_unicode", .text, "Family name", .mandatory),
      .init("given_name_unicode", .text, "Given names", .mandatory),
      // A map with the date and a mask for its unknown parts; some issuers write the date alone.
      .init("birth_date", [.fullDate, .dateTime, .map], "Date of birth", .mandatory),
      .init("portrait", .bytes, "Portrait", .mandatory),
      .init("issue_date", .date, "Date of issue", .mandatory),
      .init("expiry_date", .date, "Date of expiry", .mandatory),
      .init("issuing_authority_unicode", .text, "Issuing authority", .mandatory),
      .init("issuing_country", .text, "Issuing country", .mandatory),
      .init("family_name_latin1", .text, "Family name in Latin characters"),
      .init("given_name_latin1", .text, "Given names in Latin characters"),
      .init("issuing_authority_latin1", .text, "Issuing authority in Latin characters"),
      .init("age_in_years", .unsigned, "Age in years"),
      .init("age_birth_year", .unsigned, "Year of birth"),
      .init("portrait_capture_date", .date, "Portrait taken on"),
      .init("birthplace", .notPrescribed, "Place of birth"),
      .init("name_at_birth", .notPrescribed, "Name at birth"),
      .init("resident_address_unicode", .text, "Permanent place of residence"),
      .init("resident_city_unicode", .text, "Resident city"),
      .init("resident_city_latin1", .text, "Resident city in Latin characters"),
      .init("resident_postal_code", .text, "Resident postal code"),
      .init("resident_country", .text, "Resident country"),
      .init("sex", .unsigned, "Sex"),
      .init("nationality", .text, "Nationality"),
      .init("document_number", .text, "Document number"),
      .init("issuing_subdivision", .text, "Issuing subdivision"),
    ])

  /// What is particular to photo IDs. The namespace has a capital D in both spellings of the document type.
  static let iso23220PhotoID = NamespaceDefinition(
    Namespace.iso23220PhotoID, "Particular to photo IDs",
    [
      .init("person_id", .notPrescribed, "Personal identification number"),
      .init("birth_country", .notPrescribed, "Country of birth"),
      .init("birth_state", .notPrescribed, "State of birth"),
      .init("birth_city", .notPrescribed, "City of birth"),
      .init("administrative_number", .notPrescribed, "Administrative number"),
      .init("resident_street", .notPrescribed, "Resident street"),
      .init("resident_house_number", .notPrescribed, "Resident house number"),
      .init("resident_state", .notPrescribed, "Resident state, province or district"),
      .init("travel_document_number", .notPrescribed, "Travel document number"),
    ])

  /// The contents of a digital travel credential (ICAO), as the chip of a passport has them.
  static let iso23220TravelDocument = NamespaceDefinition(
    Namespace.iso23220TravelDocument, "Digital travel credential",
    [
      .init("dtc_version", .notPrescribed, "Version"), .init("dtc_sod", .bytes, "Document security object"),
    ] + (1...16).map { .init("dtc_dg\($0)", .bytes, "Data group \($0)") } + [
      .init("dg_content_info", .bytes, "Contents of the data groups")
    ])
}
