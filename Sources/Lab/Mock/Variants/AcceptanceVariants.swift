import Base
import CBOR

extension MockVariant {
  /// Right documents that are not the requested ones, or that state something they may not (ISO/IEC 18013-5, 7.2).
  @MockVariantList static var acceptance: [MockVariant] {
    missing("element-absent", "A requested element is not returned, without an error.", "E12") {
      $0.withheld.append($0.anyRequested)
    }
    MockVariant(
      "element-absent-with-error", "A requested element is not returned; `errors` says so.", cases: "E12",
      codes: [.elementMissing],
      .init(
        setup: { $0.withheld.append($0.anyRequested) },
        document: { $0["errors"] = [.text(MockNamespace.mDL): ["given_name": 0]] }))
    missing("element-in-other-namespace", "A requested element stands in another namespace, rightly signed.", "E14") {
      let element = $0.anyRequested
      $0.data["org.evil.1", element.identifier] = $0.data[element.namespace, element.identifier]
      $0.withheld.append(element)
      $0.added.append(("org.evil.1", element.identifier))
    }
    missing("age-in-other-namespace", "age_over_21 stands in another namespace, and no birth date.", "E14", .ageOnly) {
      $0.data.ageThresholds = []
      $0.data["org.evil.1", "age_over_21"] = true
      $0.added.append(("org.evil.1", "age_over_21"))
      $0.withholdBirthDate()
    }
    MockVariant(
      "elements-none", "The document has no `nameSpaces`.", cases: "E15", codes: [.elementMissing],
      .disclosure { $0.namespaces = [] })
    MockVariant(
      "elements-empty", "The document's `nameSpaces` is an empty map.", cases: "E15", codes: [.elementMissing],
      .document { $0.nested("issuerSigned") { $0["nameSpaces"] = [:] } })
    for (label, value) in [("one", CBORValue.unsigned(1)), ("text", .text("true")), ("null", .null)] {
      MockVariant(
        "age-type-\(label)", "age_over_21 is \(label == "text" ? "the text true" : label).", cases: "E22",
        codes: [.elementTypeInvalid], .setup { $0.attestOnly([(21, value)], disclosing: true) })
    }
    MockVariant(
      "age-contradictory", "age_over_21 is true and age_over_18 is false.", cases: "E23", codes: [.ageContradictory],
      warnings: [.ageInconsistent], .setup { $0.attestOnly([(18, false), (21, true)], disclosing: true) })
    missing("age-undetermined-higher", "Asked for 21, only age_over_25 = false, and no birth date.", "E24", .ageOnly) {
      $0.attestOnly([(25, false)], disclosing: true)
      $0.withholdBirthDate()
    }
    missing("age-undetermined-lower", "Asked for 21, only age_over_18 = true, and no birth date.", "E24", .ageOnly) {
      $0.attestOnly([(18, true)], disclosing: true)
      $0.withholdBirthDate()
    }
    missing(
      "birth-date-approximate", "Nothing tells the age but a birth date without day, month and last digit of its year.",
      "E24", .photoID
    ) {
      $0.data.ageThresholds = []
      // An mDL has no such form, and its birth date is left out.
      guard $0.mainNamespace == MockNamespace.photoID else { return $0.withholdBirthDate() }
      $0.data[$0.mainNamespace, "birth_date"] = [
        "birth_date": .fullDate($0.now.date.shifted(years: -21)), "approximate_mask": "00011111",
      ]
    }
    for identifier in ["age_over_2", "age_over_121", "age_over_1a"] {
      missing("\(identifier.replacingUnderscores)", "Only \(identifier) = true, and no birth date.", "E27", .ageOnly) {
        $0.data.ageThresholds = []
        $0.data[$0.mainNamespace, identifier] = true
        $0.added.append(($0.mainNamespace, identifier))
        $0.withholdBirthDate()
      }
    }
    missing(
      "age-device-signed", "Only the device, authorised, signs age_over_21 = true; no birth date.", "E27",
      .ageOnly
    ) {
      $0.data.ageThresholds = []
      $0.withholdBirthDate()
      $0.keyAuthorizations = ["dataElements": [.text($0.mainNamespace): ["age_over_21"]]]
      $0.deviceSigned = [($0.mainNamespace, [("age_over_21", true)])]
    }
    MockVariant(
      "age-against-birth-date", "age_over_21 is true, the birth date is that of a ten year old.", cases: "E28",
      warnings: [.ageInconsistent],
      .setup {
        $0.attestOnly([(21, true)], disclosing: true)
        $0.data[$0.mainNamespace, "birth_date"] = .fullDate($0.now.date.shifted(years: -10))
      })
    MockVariant(
      "expiry-date-passed", "The document's own expiry date, returned, has passed.", cases: "E29",
      codes: [.documentExpired], request: .withExpiryDate,
      .setup {
        $0.data[$0.mainNamespace, "expiry_date"] = .fullDate(($0.now - 10 * Seconds.day).date)
        $0.added.append(($0.mainNamespace, "expiry_date"))
      })
    MockVariant(
      "expiry-date-time-passed", "The document's own expiry date, a date and time, has passed by a second.",
      cases: "E29", codes: [.documentExpired], request: .withExpiryDate,
      .setup {
        $0.data[$0.mainNamespace, "expiry_date"] = .time($0.now - 1)
        $0.added.append(($0.mainNamespace, "expiry_date"))
      })
    MockVariant(
      "issuing-country-other", "The issuing country is not the signer's.", cases: "E30",
      codes: [.issuerJurisdictionMismatch], .setup { $0.returning("issuing_country", "CA") })
    MockVariant(
      "issuing-jurisdiction-other", "The issuing jurisdiction is not the signer's state.", cases: "E30",
      codes: [.issuerJurisdictionMismatch], .setup { $0.returning("issuing_jurisdiction", "US-NV") })
    MockVariant(
      "portrait-text", "The portrait is text.", cases: "E31", codes: [.elementTypeInvalid],
      .setup { $0.returning("portrait", "portrait") })
    MockVariant(
      "portrait-huge", "The portrait has more than a megabyte.", cases: "E31", codes: [.cborInputTooLarge],
      .setup { $0.returning("portrait", .bytes(MockPortrait.jpeg(padded: Limits.responseBytes + 4_096))) })
  }

  private static func missing(
    _ name: String, _ summary: String, _ cases: String, _ request: MockRequest = .standard,
    _ change: @escaping MockChange<AnswerSetup>
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: [.elementMissing], request: request, .setup(change))
  }
}

extension AnswerSetup {
  /// Gives an element of the main namespace this value, and returns it even if it was not requested.
  fileprivate mutating func returning(_ identifier: String, _ value: CBORValue) {
    data[mainNamespace, identifier] = value
    added.append((mainNamespace, identifier))
  }
}

extension String {
  fileprivate var replacingUnderscores: String { String(map { $0 == "_" ? "-" : $0 }) }
}
