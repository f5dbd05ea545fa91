import Base
import CBOR

extension MockDocumentData {
  /// With the age elements that the issuer computes for a day.
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

/// `age_over_NN`: exactly two digits.
func ageThreshold(of identifier: String) -> Int? {
  guard identifier.hasPrefix("age_over_"), identifier.utf8.count == 11 else { return nil }
  let digits = identifier.dropFirst(9)
  return digits.allSatisfy { $0.isASCII && $0.isNumber } ? Int(digits) : nil
}

/// The attestation that answers "is at least NN years old" (ISO/IEC 18013-5, 7.2.5): the smallest threshold from NN up
/// that is true; else the largest threshold down from NN that is false; else none.
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
