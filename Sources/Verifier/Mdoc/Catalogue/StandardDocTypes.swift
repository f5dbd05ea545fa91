import PKIX

extension DocTypeDefinition {
  static let mDL = DocTypeDefinition(
    DocType.mDL, "Mobile driving licence", source: "ISO/IEC 18013-5",
    signerUsages: [TrustAnchor.documentSignerUsage], [.mDL, .aamva])

  static let photoID = DocTypeDefinition(
    DocType.photoID, aliases: [DocType.photoIDDraft], "Photo ID", source: "ISO/IEC TS 23220-4",
    [.iso23220, .iso23220PhotoID, .iso23220DataGroups, .iso23220PhotoIDDraft, .iso23220TravelDocument])

  /// ISO/IEC DTS 23220-4 of 2025-12 (WG 4 N 4862 and N 4871).
  fileprivate static let photoIDOf2025 = "ISO/IEC 23220-4 (2025-12)"
  /// WG 4 N 4583.
  fileprivate static let photoIDOf2024 = "ISO/IEC 23220-4 (2024)"

  static let europeanPID = DocTypeDefinition(
    DocType.europeanPID, "Person identification data (EU)", source: "EUDI Wallet, PID Rulebook (CIR 2024/2977)",
    signerUsages: .europeanSignerUsages, [.europeanPID])

  static let europeanAgeVerification = DocTypeDefinition(
    DocType.europeanAgeVerification, "Proof of age (EU)", source: "EU age verification profile",
    signerUsages: .europeanSignerUsages,
    [
      NamespaceDefinition(
        Namespace.europeanAgeVerification, "Proof of age", hasAgeAttestations: true,
        // The profile's own list ends after the ages.
        [.attestation(ofAge: 18, .mandatory)] + [.init("portrait", .bytes, "Portrait")].only(in: "Google's Longfellow"))
    ])

  /// The My Number Card in Apple Wallet.
  static let japanMyNumber = DocTypeDefinition(
    DocType.japanMyNumber, "My Number Card (Japan)", source: "Apple, Verify with Wallet",
    [
      NamespaceDefinition(
        Namespace.iso23220, "ISO/IEC 23220", hasAgeAttestations: true,
        [
          .init("birth_date", [.fullDate, .dateTime, .approximateDate], "Date of birth"),
          .init("sex", .unsigned, "Sex"),
          .init("age_in_years", .unsigned, "Age in years"),
        ]),
      NamespaceDefinition(
        Namespace.iso23220Japan, "Particular to Japan",
        [
          .init("full_name_unicode", .notPrescribed, "Name"),
          .init("portrait", .notPrescribed, "Portrait"),
          .init("resident_address_unicode", .notPrescribed, "Address"),
          .init("local_gov_code_unicode", .notPrescribed, "Local government code"),
          .init("individual_number_unicode", .notPrescribed, "Individual Number"),
          .init("sex_unicode", .notPrescribed, "Sex in writing"),
          .init("birth_date_unicode", .notPrescribed, "Date of birth in writing"),
        ]),
    ])
}

extension NamespaceDefinition {
  /// ISO/IEC 18013-5:2021, Table 5, with the second edition's additions.
  static let mDL = NamespaceDefinition(
    Namespace.mDL, "Mobile driving licence", hasAgeAttestations: true,
    [
      .init("family_name", .text, "Family name", .mandatory),
      .init("given_name", .text, "Given names", .mandatory),
      .init("birth_date", .date, "Date of birth", .mandatory),
      .init("issue_date", .date, "Date of issue", .mandatory),
      .init("expiry_date", .date, "Date of expiry", .mandatory),
      .init("issuing_country", .text, "Issuing country", .mandatory),
      .init("issuing_authority", .text, "Issuing authority", .mandatory),
      .init("document_number", .text, "Licence number", .mandatory),
      .init("portrait", .bytes, "Portrait", .mandatory),
      .init("driving_privileges", .array, "Driving privileges", .mandatory),
      .init("un_distinguishing_sign", .text, "UN distinguishing sign", .mandatory),
      .init("administrative_number", .text, "Administrative number"),
      .init("sex", .unsigned, "Sex"),
      .init("height", .unsigned, "Height (cm)"),
      .init("weight", .unsigned, "Weight (kg)"),
      .init("eye_colour", .text, "Eye colour"),
      .init("hair_colour", .text, "Hair colour"),
      .init("birth_place", .text, "Place of birth"),
      .init("resident_address", .text, "Permanent place of residence"),
      .init("portrait_capture_date", .date, "Portrait taken on"),
      .init("age_in_years", .unsigned, "Age in years"),
      .init("age_birth_year", .unsigned, "Year of birth"),
      .init("issuing_jurisdiction", .text, "Issuing jurisdiction"),
      .init("nationality", .text, "Nationality"),
      .init("resident_city", .text, "Resident city"),
      .init("resident_state", .text, "Resident state, province or district"),
      .init("resident_postal_code", .text, "Resident postal code"),
      .init("resident_country", .text, "Resident country"),
      .init("family_name_national_character", .text, "Family name in national characters"),
      .init("given_name_national_character", .text, "Given names in national characters"),
      .init("signature_usual_mark", .bytes, "Signature or usual mark"),
      .init("biometric_template_face", .bytes, "Biometric template of the face"),
      .init("biometric_template_finger", .bytes, "Biometric template of a finger"),
      .init("biometric_template_iris", .bytes, "Biometric template of an iris"),
      .init("biometric_template_signature_sign", .bytes, "Biometric template of the signature"),
    ] + [.init("resident_street", .text, "Resident street")].only(in: "ISO/IEC 18013-5, second edition"))

  /// AAMVA Mobile Driver's License Implementation Guidelines, 1.2 to 1.5.
  static let aamva = NamespaceDefinition(
    Namespace.aamva, "North America (AAMVA)",
    [
      .init("sex", .unsigned, "Sex (AAMVA)", .mandatory),
      .init("family_name_truncation", .text, "Family name truncation", .mandatory),
      .init("given_name_truncation", .text, "Given name truncation", .mandatory),
      .init("domestic_driving_privileges", .array, "Domestic driving privileges"),
      .init("name_suffix", .text, "Name suffix"),
      .init("organ_donor", .unsigned, "Organ donor"),
      .init("veteran", .unsigned, "Veteran"),
      .init("aka_family_name.v2", .text, "Alias family name"),
      .init("aka_given_name.v2", .text, "Alias given name"),
      .init("aka_suffix", .text, "Alias suffix"),
      .init("weight_range", .unsigned, "Weight range"),
      .init("race_ethnicity", .text, "Race or ethnicity"),
      .init("first_name", .text, "First name"),
      .init("middle_names", .text, "Middle names"),
      .init("first_name_truncation", .text, "First name truncation"),
      .init("middle_names_truncation", .text, "Middle names truncation"),
      .init("EDL_credential.v2", .notPrescribed, "Enhanced driver's license"),
      .init("EDL_credential", .unsigned, "Enhanced driver's license (older)"),
      .init("DHS_compliance", .text, "REAL ID compliance"),
      .init("DHS_compliance_text", .text, "REAL ID compliance text"),
      .init("DHS_temporary_lawful_status", .unsigned, "Temporary lawful status"),
      .init("resident_county.v2", .notPrescribed, "Resident county"),
      .init("resident_county", .text, "Resident county (older)"),
      .init("hazmat_endorsement_expiration_date", .fullDate, "HAZMAT endorsement expires on"),
      .init("CDL_indicator", .unsigned, "Commercial driver's license"),
      .init("CDL_non_domiciled.v2", .notPrescribed, "Non-domiciled commercial license"),
      .init("CDL_non_domiciled", .notPrescribed, "Non-domiciled commercial license (older)"),
    ]
      + [
        .init("aka_family_name", .text, "Alias family name (older)"),
        .init("aka_given_name", .text, "Alias given name (older)"),
        .init("audit_information", .text, "Audit information (older)"),
        .init("aamva_version", .unsigned, "AAMVA version (older)"),
      ].only(in: "AAMVA guidelines before 1.5"))

  /// ISO/IEC 23220-2, as photo IDs use it. Its second edition dropped the suffix `_unicode`.
  static let iso23220 = NamespaceDefinition(
    Namespace.iso23220, "Photo ID", hasAgeAttestations: true,
    [
      .init("family_name", .text, "Family name", .mandatory),
      .init("given_name", .text, "Given names", .mandatory),
      .init("issuing_authority", .text, "Issuing authority", .mandatory),
      .attestation(ofAge: 18, .mandatory),
      .init("family_name_viz", .text, "Family name as on the document"),
      .init("given_name_viz", .text, "Given names as on the document"),
      .init("enrolment_portrait_image", .bytes, "Portrait taken at enrolment"),
      .init("resident_address", .text, "Permanent place of residence"),
      .init("resident_city", .text, "Resident city"),
    ].only(in: DocTypeDefinition.photoIDOf2025)
      + [
        // Some issuers write only the date.
        .init("birth_date", [.fullDate, .dateTime, .approximateDate], "Date of birth", .mandatory),
        .init("portrait", .bytes, "Portrait", .mandatory),
        .init("issue_date", .date, "Date of issue", .mandatory),
        .init("expiry_date", .date, "Date of expiry", .mandatory),
        .init("issuing_country", .text, "Issuing country", .mandatory),
        .init("family_name_latin1", .text, "Family name in Latin characters"),
        .init("given_name_latin1", .text, "Given names in Latin characters"),
        .init("age_in_years", .unsigned, "Age in years"),
        .init("age_birth_year", .unsigned, "Year of birth"),
        .init("portrait_capture_date", .date, "Portrait taken on"),
        .init("birthplace", .notPrescribed, "Place of birth"),
        .init("name_at_birth", .notPrescribed, "Name at birth"),
        .init("resident_city_latin1", .text, "Resident city in Latin characters"),
        .init("resident_postal_code", .text, "Resident postal code"),
        .init("resident_country", .text, "Resident country"),
        .init("sex", .unsigned, "Sex"),
        .init("nationality", .text, "Nationality"),
        .init("document_number", .text, "Document number"),
        .init("issuing_subdivision", .text, "Issuing subdivision"),
      ]
      + [
        .init("family_name_unicode", .text, "Family name (older)", .mandatory),
        .init("given_name_unicode", .text, "Given names (older)", .mandatory),
        .init("issuing_authority_unicode", .text, "Issuing authority (older)", .mandatory),
        .init("resident_address_unicode", .text, "Permanent place of residence (older)"),
        .init("resident_city_unicode", .text, "Resident city (older)"),
      ].only(in: DocTypeDefinition.photoIDOf2024)
      + [.init("issuing_authority_latin1", .text, "Issuing authority in Latin characters")]
      .only(in: "Apple, Verify with Wallet"))

  /// The elements that only photo IDs have.
  static let iso23220PhotoID = NamespaceDefinition(
    Namespace.iso23220PhotoID, "Only in photo IDs",
    (photoIDElements(.text) + [
      .init("travel_document_type", .text, "Travel document type"),
      .init("travel_document_mrz", .text, "Machine-readable zone of the travel document"),
    ]).only(in: DocTypeDefinition.photoIDOf2025))

  static let iso23220PhotoIDDraft = NamespaceDefinition(
    Namespace.iso23220PhotoIDDraft, "Only in photo IDs (older)",
    photoIDElements(.notPrescribed).only(in: DocTypeDefinition.photoIDOf2024))

  private static func photoIDElements(_ types: ElementTypes) -> [ElementDefinition] {
    [
      .init("person_id", types, "Personal identification number"),
      .init("birth_country", types, "Country of birth"),
      .init("birth_state", types, "State of birth"),
      .init("birth_city", types, "City of birth"),
      .init("administrative_number", types, "Administrative number"),
      .init("resident_street", types, "Resident street"),
      .init("resident_house_number", types, "Resident house number"),
      .init("resident_state", types, "Resident state, province or district"),
      .init("travel_document_number", types, "Travel document number"),
    ]
  }

  /// The data groups of a travel document (ICAO 9303-10), as stored on its chip.
  static let iso23220DataGroups = NamespaceDefinition(
    Namespace.iso23220DataGroups, "Data groups of a travel document",
    travelDocument("", version: .text).only(in: DocTypeDefinition.photoIDOf2025))

  /// The same data as a digital travel credential (ICAO).
  static let iso23220TravelDocument = NamespaceDefinition(
    Namespace.iso23220TravelDocument, "Digital travel credential (older)",
    (travelDocument("dtc_", version: .notPrescribed) + [
      .init(
        "dg_content_info", .bytes,
        "Contents of the data groups")
    ])
    .only(in: DocTypeDefinition.photoIDOf2024))

  private static func travelDocument(_ prefix: String, version: ElementTypes) -> [ElementDefinition] {
    [
      .init(prefix + "version", version, "Version"), .init(prefix + "sod", .bytes, "Document security object"),
    ] + (1...16).map { .init("\(prefix)dg\($0)", .bytes, "Data group \($0)") }
  }

  /// PID Rulebook 1.7, by the amended CIR 2024/2977. The last elements and the `age_over_NN` were removed earlier, but
  /// are still in circulation.
  static let europeanPID = NamespaceDefinition(
    Namespace.europeanPID, "Person identification data", hasAgeAttestations: true,
    [
      .init("family_name", .text, "Family name", .mandatory),
      .init("given_name", .text, "Given names", .mandatory),
      .init("birth_date", .date, "Date of birth", .mandatory),
      .init("place_of_birth", .map, "Place of birth", .mandatory),
      // Older documents have a single text.
      .init("nationality", [.array, .text], "Nationality", .mandatory),
      .init("resident_address", .text, "Address"),
      .init("resident_country", .text, "Resident country"),
      .init("resident_state", .text, "Resident state"),
      .init("resident_city", .text, "Resident city"),
      .init("resident_postal_code", .text, "Resident postal code"),
      .init("resident_street", .text, "Resident street"),
      .init("personal_administrative_number", .text, "Personal administrative number"),
      .init("portrait", .bytes, "Portrait"),
      .init("family_name_birth", .text, "Family name at birth"),
      .init("given_name_birth", .text, "Given names at birth"),
      .init("sex", .unsigned, "Sex"),
      .init("email_address", .text, "E-mail address"),
      .init("mobile_phone_number", .text, "Mobile phone number"),
      .init("expiry_date", .date, "Date of expiry"),
      .init("issuance_date", .date, "Date of issue"),
      .init("issuing_authority", .text, "Issuing authority", .mandatory),
      .init("issuing_country", .text, "Issuing country", .mandatory),
      .init("document_number", .text, "Document number"),
      .init("issuing_jurisdiction", .text, "Issuing jurisdiction"),
      .init("trust_anchor", .text, "Trust anchor"),
      .init("attestation_legal_category", .text, "Legal category"),
    ] + [.init("resident_house_number", .text, "Resident house number (older)")].only(in: "PID Rulebook before 1.6")
      + [
        .init("age_in_years", .unsigned, "Age in years (older)"),
        .init("age_birth_year", .unsigned, "Year of birth (older)"),
        .init("birth_place", .notPrescribed, "Place of birth (older)"),
        .init("birth_country", .notPrescribed, "Country of birth (older)"),
        .init("birth_state", .notPrescribed, "State of birth (older)"),
        .init("birth_city", .notPrescribed, "City of birth (older)"),
      ].only(in: "PID Rulebook before 1.1"))
}
