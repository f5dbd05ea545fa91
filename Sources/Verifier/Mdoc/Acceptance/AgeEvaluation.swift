import Base
import CBOR

/// A document whose elements can show an age.
protocol AgeSource {
  var docType: String { get }
  subscript(element: ElementReference) -> ElementValue? { get }
  /// Calls `body` once for each distinct element.
  func forEachElement(_ body: (ElementReference, CBORItem) -> Void)
}

/// Decides on a document's age thresholds from its elements.
struct AgeEvaluation<Document: AgeSource> {
  let document: Document
  let request: DocumentRequest
  /// Whether `age_in_years` counts as requested. In Apple's in-app protocol, the wallet falls back to this element by
  /// itself.
  let fallsBackToAgeInYears: Bool
  let now: Timestamp

  private let namespace: String
  private let attestations: AgeAttestations
  /// The document type's age attestations whose value is not a boolean.
  let mistypedAttestations: [ElementReference]

  init(document: Document, request: DocumentRequest, fallsBackToAgeInYears: Bool, now: Timestamp) {
    self.document = document
    self.request = request
    self.fallsBackToAgeInYears = fallsBackToAgeInYears
    self.now = now
    let namespace = DocTypeCatalogue.ageNamespace(ofDocType: document.docType)
    self.namespace = namespace
    var answers: [(age: Int, isOver: Bool)] = []
    var mistyped: [ElementReference] = []
    // Elements are distinct, and so are the ages.
    document.forEachElement { element, value in
      guard let age = AgeAttestations.age(of: element.identifier), element.namespace.hasSameBytes(as: namespace) else {
        return
      }
      if let isOver = value.bool { answers.append((age, isOver)) } else { mistyped.append(element) }
    }
    attestations = AgeAttestations(answers)
    mistypedAttestations = mistyped
  }

  var isContradictory: Bool { attestations.areContradictory }

  /// All returned attestations. To list only two of them would reveal their values.
  var attestationElements: [ElementReference] {
    attestations.all.map { ElementReference(namespace, AgeAttestations.identifier(for: $0.age)) }
  }

  /// Every returned element that reveals the age.
  var elements: [ElementReference] {
    ["birth_date", "age_in_years"].map { ElementReference(namespace, $0) }.filter { document[$0] != nil }
      + attestationElements
  }

  /// The result for a threshold, with the element that proves it; nil if no returned element decides it.
  func answer(_ threshold: Int) -> AgeAnswer? {
    func make(_ answer: Bool, _ identifier: String) -> AgeAnswer {
      AgeAnswer(threshold: threshold, answer: answer, provedBy: ElementReference(namespace, identifier))
    }
    if let nearest = attestations.nearest(to: threshold) {
      return make(nearest.isOver, AgeAttestations.identifier(for: nearest.age))
    }
    let today = AgeCalendar.dayReachedEverywhere(at: now)
    if isUsable("age_in_years"), let years = ageInYears { return make(years >= threshold, "age_in_years") }
    if isUsable("birth_date"), let birthDate,
      let answer = AgeCalendar.isAtLeast(threshold, born: birthDate, on: today)
    {
      return make(answer, "birth_date")
    }
    guard isUsable("age_birth_year"), let year = integer("age_birth_year") else { return nil }
    return AgeCalendar.isAtLeast(threshold, bornIn: year, on: today).map { make($0, "age_birth_year") }
  }

  private var ageInYears: Int? { integer("age_in_years") }

  private var birthDate: BirthDate? { document[ElementReference(namespace, "birth_date")].flatMap(BirthDate.init) }

  /// A whole number that is not negative.
  private func integer(_ identifier: String) -> Int? {
    guard case .integer(let number)? = document[ElementReference(namespace, identifier)], number >= 0 else {
      return nil
    }
    return Int(exactly: number)
  }

  /// Whether the element may replace an attestation. This is so only if it was requested, or if the wallet falls back
  /// to it by itself.
  private func isUsable(_ identifier: String) -> Bool {
    let element = ElementReference(namespace, identifier)
    return fallsBackToAgeInYears && identifier == "age_in_years"
      || request.elements.contains { $0.element == element || $0.alternatives.contains(element) }
  }
}

extension AgeEvaluation<VerifiedDocument> {
  /// Whether the birth date, the age in years and the attestations contradict one another. If they do, no person can
  /// have all of them at any time from signing until now. Attestations are made for the day of signing, so a person may
  /// be older than attested.
  var isInconsistent: Bool {
    guard let birthDate else { return contradicts(youngest: ageInYears, oldest: nil) }
    // A proof hides the time of signing.
    let atSigning = document.validity.map {
      AgeCalendar.completedYears(since: birthDate.latest, on: AgeCalendar.dayReachedEverywhere(at: $0.signed))
    }
    let today = AgeCalendar.completedYears(since: birthDate.earliest, on: AgeCalendar.dayReachedAnywhere(at: now))
    if let years = ageInYears, years < atSigning ?? years || years > today { return true }
    return contradicts(youngest: atSigning, oldest: today)
  }

  private func contradicts(youngest: Int?, oldest: Int?) -> Bool {
    attestations.all.contains { attestation in
      if attestation.isOver { return oldest.map { $0 < attestation.age } ?? false }
      return youngest.map { $0 >= attestation.age } ?? false
    }
  }
}

/// The age attestations of one document (ISO/IEC 18013-5:2021, 7.2.5).
public struct AgeAttestations: Sendable {
  /// `age_over_NN` by NN, ascending.
  let all: [(age: Int, isOver: Bool)]

  public init(_ answers: [Int: Bool]) {
    self.init(answers.map { (age: $0.key, isOver: $0.value) })
  }

  /// Each age at most once, in any order.
  init(_ answers: [(age: Int, isOver: Bool)]) { all = answers.sorted { $0.age < $1.age } }

  /// The NN of `age_over_NN`: exactly two digits, or nil.
  public static func age(of identifier: String) -> Int? {
    let prefix = "age_over_"
    // Compares the length and the bytes first, since this runs for every element of every document.
    guard identifier.utf8.count == prefix.utf8.count + 2, identifier.utf8.starts(with: prefix.utf8) else { return nil }
    let digits = identifier.utf8.suffix(2).map { Int($0) - Int(UInt8(ascii: "0")) }
    guard digits.allSatisfy((0...9).contains) else { return nil }
    return digits[0] * 10 + digits[1]
  }

  public static func identifier(for age: Int) -> String { "age_over_" + (age < 10 ? "0\(age)" : "\(age)") }

  /// The attestation that decides "at least `age`": the smallest true NN at or above it, otherwise the largest false NN
  /// at or below it.
  public func nearest(to age: Int) -> (age: Int, isOver: Bool)? {
    all.first { $0.age >= age && $0.isOver } ?? all.last { $0.age <= age && !$0.isOver }
  }

  /// Whether an attestation is true for one age, and another is false for a lower age.
  public var areContradictory: Bool {
    guard let oldest = all.last(where: \.isOver), let youngest = all.first(where: { !$0.isOver }) else { return false }
    return oldest.age >= youngest.age
  }
}

enum AgeCalendar {
  /// The latest day that has begun everywhere: the date in UTC−12.
  static func dayReachedEverywhere(at time: Timestamp) -> FullDate { (time - 12 * 3_600).date }

  /// The latest day that has begun anywhere: the date in UTC+14.
  static func dayReachedAnywhere(at time: Timestamp) -> FullDate { (time + 14 * 3_600).date }

  /// Completed years on a day. A person born on 29 February completes a year on 1 March if the year is not a leap year.
  static func completedYears(since birth: FullDate, on day: FullDate) -> Int {
    let hadBirthday = (day.month, day.day) >= (birth.month, birth.day)
    return day.year - birth.year - (hadBirthday ? 0 : 1)
  }

  /// Whether a person born on one of the days is at least `age`; nil if it depends on the day.
  static func isAtLeast(_ age: Int, born birth: BirthDate, on day: FullDate) -> Bool? {
    if completedYears(since: birth.latest, on: day) >= age { return true }
    return completedYears(since: birth.earliest, on: day) < age ? false : nil
  }

  /// Whether a person born in a year is at least `age`; nil if it depends on the day.
  static func isAtLeast(_ age: Int, bornIn year: Int, on day: FullDate) -> Bool? {
    let difference = day.year - year
    if difference - 1 >= age { return true }
    return difference < age ? false : nil
  }
}

/// The possible days of birth: one day, or all days that fit the known digits of an approximate date.
struct BirthDate: Sendable, Hashable {
  let earliest: FullDate
  let latest: FullDate

  /// Reads a `birth_date`: a full-date, the day of a tdate, or the map of ISO/IEC 23220-2, 6.3.1.1.3, `{"birth_date":
  /// full-date, ? "approximate_mask": tstr}`. The mask has a digit for each digit of YYYYMMDD; 1 marks an unknown
  /// digit. Nil for anything else, since a mask in another form does not show which digits are known.
  init?(_ value: ElementValue) {
    let isMap = if case .map = value { true } else { false }
    let mask = isMap ? value["approximate_mask"] ?? Self.exact : Self.exact
    guard let day = Self.day(isMap ? value["birth_date"] : value), case .text(let text) = mask, text.utf8.count == 8,
      text.utf8.allSatisfy({ "01".utf8.contains($0) }),
      let earliest = Self.firstDay(like: day, masked: text, isLatest: false),
      let latest = Self.firstDay(like: day, masked: text, isLatest: true)
    else { return nil }
    (self.earliest, self.latest) = (earliest, latest)
  }

  private static let exact = ElementValue.text("00000000")

  private static func day(_ value: ElementValue?) -> FullDate? {
    switch value {
    case .fullDate(let date): date
    case .dateTime(let text): FullDate(String(text.prefix(10)))
    default: nil
    }
  }

  /// The earliest or the latest day of the calendar with the unmasked digits.
  private static func firstDay(like day: FullDate, masked mask: String, isLatest: Bool) -> FullDate? {
    let mask = mask.utf8.map { $0 == UInt8(ascii: "1") }
    guard mask.contains(true) else { return day }
    func candidates(_ number: Int, _ mask: ArraySlice<Bool>, _ range: ClosedRange<Int>) -> [Int] {
      let digits = zip(mask.reversed(), [1, 10, 100, 1_000])
      let fits = range.filter { other in
        digits.allSatisfy { isMasked, power in isMasked || other / power % 10 == number / power % 10 }
      }
      return isLatest ? fits.reversed() : fits
    }
    let years = mask[..<4].contains(true) ? candidates(day.year, mask[..<4], 1...9_999) : [day.year]
    let months = candidates(day.month, mask[4..<6], 1...12)
    let days = candidates(day.day, mask[6...], 1...31)
    for year in years {
      for month in months {
        for day in days {
          if let found = FullDate(year: year, month: month, day: day) { return found }
        }
      }
    }
    return nil
  }
}
