extension DocTypeDefinition {
  static let europeanPID = DocTypeDefinition(
    DocType.europeanPID, "Person identification data (EU)", source: "EUDI Wallet, PID Rulebook",
    signerUsages: .europeanSignerUsages, [.europeanPID])

  static let europeanAgeVerification = DocTypeDefinition(
    DocType.europeanAgeVerification, "Proof of age (EU)", source: "EU age verification profile",
    signerUsages: .europeanSignerUsages,
    [
      NamespaceDefinition(
        Namespace.europeanAgeVerification, "Proof of age", hasAgeAttestations: true,
        [.attestation(ofAge: 18, .mandatory), .init("portrait", .bytes, "Portrait")])
    ])
}

extension NamespaceDefinition {
  /// PID Rulebook 1.7; the last ones were removed since 1.1 and are still in circulation, as are the `age_over_NN`.
  static let europeanPID = NamespaceDefinition(
    Namespace.europeanPID, "Person identification data", hasAgeAttestations: true,
    [
      .init("family_name", .text, "Family name", .mandatory),
      .init("given_name", .text, "Given names", .mandatory),
      .init("birth_date", .date, "Date of birth", .mandatory),
      .init("place_of_birth", .map, "Place of birth", .mandatory),
      // One text in older documents.
      .init("nationality", [.array, .text], "Nationality", .mandatory),
      .init("resident_address", .text, "Address"),
      .init("resident_country", .text, "Resident country"),
      .init("resident_state", .text, "Resident state"),
      .init("resident_city", .text, "Resident city"),
      .init("resident_postal_code", .text, "Resident postal code"),
      .init("resident_street", .text, "Resident street"),
      .init("resident_house_number", .text, "Resident house number (older)"),
      .init("personal_administrative_number", .text, "Personal administrative number"),
      .init("portrait", .bytes, "Portrait"),
      .init("family_name_birth", .text, "Family name at birth"),
      .init("given_name_birth", .text, "Given names at birth"),
      .init("sex", .unsigned, "Sex"),
      .init("email_address", .text, "E-mail address"),
      .init("mobile_phone_number", .text, "Mobile phone number"),
      .init("expiry_date", .date, "Date of expiry", .mandatory),
      .init("issuance_date", .date, "Date of issue"),
      .init("issuing_authority", .text, "Issuing authority", .mandatory),
      .init("issuing_country", .text, "Issuing country", .mandatory),
      .init("document_number", .text, "Document number"),
      .init("issuing_jurisdiction", .text, "Issuing jurisdiction"),
      .init("trust_anchor", .notPrescribed, "Trust anchor"),
      .init("attestation_legal_category", .notPrescribed, "Legal category"),
      .init("age_in_years", .unsigned, "Age in years (older)"),
      .init("age_birth_year", .unsigned, "Year of birth (older)"),
      .init("birth_place", .notPrescribed, "Place of birth (older)"),
      .init("birth_country", .notPrescribed, "Country of birth (older)"),
      .init("birth_state", .notPrescribed, "State of birth (older)"),
      .init("birth_city", .notPrescribed, "City of birth (older)"),
    ])
}

extension DocTypeDefinition {
  /// The My Number Card in Apple Wallet.
  static let japanMyNumber = DocTypeDefinition(
    DocType.japanMyNumber, "My Number Card (Japan)", source: "Apple, Verify with Wallet",
    [
      NamespaceDefinition(
        Namespace.iso23220, "ISO/IEC 23220", hasAgeAttestations: true,
        [
          .init("birth_date", [.fullDate, .dateTime, .map], "Date of birth"),
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
