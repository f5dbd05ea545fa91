import Base
import CBOR

/// What a document says about its holder: the elements of each namespace, not yet signed.
package struct MockDocumentData: Sendable {
  package struct Namespace: Sendable {
    package var name: String
    package var elements: [(identifier: String, value: CBORValue)]

    package init(_ name: String, _ elements: [(identifier: String, value: CBORValue)]) {
      self.name = name
      self.elements = elements
    }

    package subscript(identifier: String) -> CBORValue? {
      get { elements.first { $0.identifier == identifier }?.value }
      set {
        guard let index = elements.firstIndex(where: { $0.identifier == identifier }) else {
          if let newValue { elements.append((identifier, newValue)) }
          return
        }
        if let newValue { elements[index].value = newValue } else { elements.remove(at: index) }
      }
    }
  }

  package var docType: String
  package var namespaces: [Namespace]
  /// The NN of each `age_over_NN` that the issuer attests (ISO/IEC 18013-5, 7.2.5). The issuer adds them,
  /// `age_in_years` and `age_birth_year` to each namespace that has a `birth_date`, and computes them for the day on
  /// which the document becomes valid. Elements that are in the data already stay as they are.
  package var ageThresholds: [Int]

  package init(docType: String, namespaces: [Namespace], ageThresholds: [Int] = []) {
    self.docType = docType
    self.namespaces = namespaces
    self.ageThresholds = ageThresholds
  }

  package subscript(namespace: String, identifier: String) -> CBORValue? {
    get { namespaces.first { $0.name == namespace }?[identifier] }
    set {
      guard let index = namespaces.firstIndex(where: { $0.name == namespace }) else {
        if let newValue { namespaces.append(Namespace(namespace, [(identifier, newValue)])) }
        return
      }
      namespaces[index][identifier] = newValue
    }
  }

  /// The same data, with each portrait made `bytes` long, or as little longer as a JPEG can be.
  package func resizingPortrait(to bytes: Int) -> MockDocumentData {
    var copy = self
    for index in copy.namespaces.indices where copy.namespaces[index]["portrait"] != nil {
      copy.namespaces[index]["portrait"] = .bytes(MockPortrait.jpeg(padded: bytes))
    }
    return copy
  }
}

extension CBORValue {
  /// `full-date`: a text in tag 1004 (RFC 8943).
  package static func fullDate(_ date: FullDate) -> CBORValue { .tagged(1004, .text(date.description)) }

  /// `tdate`: a text in tag 0, in UTC, without a fraction of a second.
  package static func tdate(_ time: Timestamp) -> CBORValue { .tagged(0, .text(time.description)) }

  /// The day of a `full-date` or `tdate`, plain or in the map in which ISO/IEC 23220 has birth dates; nil for other
  /// values.
  var calendarDay: FullDate? {
    switch self {
    case .tagged(1004, .text(let text)): FullDate(text)
    case .tagged(0, .text(let text)): Timestamp(rfc3339: text)?.date
    case .map: MapDraft(self)["birth_date"]?.calendarDay
    default: nil
    }
  }
}

extension MockDocumentData {
  /// The same data, with the age elements that the issuer computes for this day.
  func attestingAges(on day: FullDate) -> MockDocumentData {
    var copy = self
    for index in copy.namespaces.indices {
      guard let birth = copy.namespaces[index]["birth_date"]?.calendarDay, !ageThresholds.isEmpty else { continue }
      let age = birth.completedYears(on: day)
      var attestations: [(String, CBORValue)] = ageThresholds.map { threshold in
        ("age_over_\(threshold < 10 ? "0" : "")\(threshold)", .bool(age >= threshold))
      }
      attestations.append(("age_in_years", .integer(Int64(max(age, 0)))))
      attestations.append(("age_birth_year", .integer(Int64(birth.year))))
      for (identifier, value) in attestations where copy.namespaces[index][identifier] == nil {
        copy.namespaces[index][identifier] = value
      }
    }
    return copy
  }
}

extension FullDate {
  func completedYears(on day: FullDate) -> Int {
    day.year - year - ((day.month, day.day) < (month, self.day) ? 1 : 0)
  }

  /// The same day of another year; 29 February becomes 1 March.
  func shifted(years: Int) -> FullDate {
    FullDate(year: year + years, month: month, day: day) ?? FullDate(year: year + years, month: 3, day: 1) ?? self
  }
}

/// The NN of `age_over_NN`; nil if the identifier has another form, or not exactly two digits.
func ageThreshold(of identifier: String) -> Int? {
  guard identifier.hasPrefix("age_over_"), identifier.utf8.count == 11 else { return nil }
  let digits = identifier.dropFirst(9)
  return digits.allSatisfy { $0.isASCII && $0.isNumber } ? Int(digits) : nil
}

/// The attestation that answers "is at least NN years old" (ISO/IEC 18013-5, 7.2.5): the smallest threshold from NN up
/// that is true, else the largest from NN down that is false. Nil if there is neither.
func nearestAgeAttestation(to threshold: Int, in elements: [(identifier: String, value: CBORValue)]) -> String? {
  var nearestTrue: (threshold: Int, identifier: String)?
  var nearestFalse: (threshold: Int, identifier: String)?
  for element in elements {
    guard let attested = ageThreshold(of: element.identifier), case .bool(let isOver) = element.value else { continue }
    if isOver, attested >= threshold, attested < nearestTrue?.threshold ?? .max {
      nearestTrue = (attested, element.identifier)
    }
    if !isOver, attested <= threshold, attested > nearestFalse?.threshold ?? .min {
      nearestFalse = (attested, element.identifier)
    }
  }
  return nearestTrue?.identifier ?? nearestFalse?.identifier
}
