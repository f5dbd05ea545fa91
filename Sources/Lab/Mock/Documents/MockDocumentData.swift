import Base
import CBOR

/// A document's elements by namespace, before they are signed.
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
      set { elements.set(newValue.map { (identifier, $0) }) { $0.identifier == identifier } }
    }
  }

  package var docType: String
  package var namespaces: [Namespace]
  /// The NN of each `age_over_NN` that the issuer attests (ISO/IEC 18013-5, 7.2.5). The issuer adds these elements,
  /// `age_in_years` and `age_birth_year` to each namespace with a `birth_date`. It does not replace elements that the
  /// namespace already has. The issuer computes them for the first day of validity.
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

  /// The same data, with portraits of `bytes` bytes. A portrait may be larger, if a JPEG needs more bytes.
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

  /// The day of a `full-date` or `tdate`, or of the `birth_date` in ISO/IEC 23220's map; nil for other values.
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
  /// The same data, with the age elements computed for this day.
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

  /// The same day of another year. 29 February becomes 1 March if that year is not a leap year.
  func shifted(years: Int) -> FullDate {
    FullDate(year: year + years, month: month, day: day) ?? FullDate(year: year + years, month: 3, day: 1) ?? self
  }
}

/// The NN of `age_over_NN`; nil if the identifier does not have this form with exactly two digits.
func ageThreshold(of identifier: String) -> Int? {
  guard identifier.hasPrefix("age_over_"), identifier.utf8.count == 11 else { return nil }
  let digits = identifier.dropFirst(9)
  return digits.allSatisfy { $0.isASCII && $0.isNumber } ? Int(digits) : nil
}

/// The identifier that attests "is at least NN years old" (ISO/IEC 18013-5, 7.2.5). It has the smallest true threshold
/// at or above NN, otherwise the largest false threshold at or below NN. Nil if neither exists.
func nearestAgeAttestation(to threshold: Int, in elements: [(identifier: String, value: CBORValue)]) -> String? {
  func attested(_ isOver: Bool) -> [(threshold: Int, identifier: String)] {
    elements.compactMap { element in
      guard case .bool(isOver) = element.value else { return nil }
      return ageThreshold(of: element.identifier).map { ($0, element.identifier) }
    }
  }
  let above = attested(true).filter { $0.threshold >= threshold }.min { $0.threshold < $1.threshold }
  return (above ?? attested(false).filter { $0.threshold <= threshold }.max { $0.threshold < $1.threshold })?.identifier
}
