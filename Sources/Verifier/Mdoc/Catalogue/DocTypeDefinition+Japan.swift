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
