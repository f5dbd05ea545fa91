import Base
import CBOR

/// The elements in which age questions find their answers.
protocol AgeSource {
  var docType: String { get }
  subscript(element: ElementReference) -> ElementValue? { get }
  /// Calls `body` once for each distinct element.
  func forEachElement(_ body: (ElementReference, CBORItem) -> Void)
}

extension VerifiedDocument: AgeSource {}

/// Answers a document's age questions from its elements.
struct AgeEvaluation<Document: AgeSource> {
  let document: Document
  let request: DocumentRequest
  /// Whether `age_in_years` counts as requested, as in Apple's in-app protocol, which falls back to it by itself.
  let fallsBackToAgeInYears: Bool
  let now: Timestamp

  private let namespace: String
  private let attestations: AgeAttestations
  /// Age attestations whose value is no boolean, among those that could answer.
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

  /// The attestations that came, all of them: to name two would tell their values.
  var attestationElements: [ElementReference] {
    attestations.all.map { ElementReference(namespace, AgeAttestations.identifier(for: $0.age)) }
  }

  /// Every element that came and tells of the age.
  var elements: [ElementReference] {
    ["birth_date", "age_in_years"].map { ElementReference(namespace, $0) }.filter { document[$0] != nil }
      + attestationElements
  }

  /// The answer for a threshold, with the element that proves it; nil if no returned element decides it.
  func answer(_ threshold: Int) -> AgeAnswer? {
    if let nearest = attestations.nearest(to: threshold) {
      return make(threshold, nearest.isOver, AgeAttestations.identifier(for: nearest.age))
    }
    if isUsable("age_in_years"), let years = ageInYears { return make(threshold, years >= threshold, "age_in_years") }
    if isUsable("birth_date"), let birthDate,
      let answer = AgeCalendar.isAtLeast(threshold, born: birthDate, on: AgeCalendar.dayReachedEverywhere(at: now))
    {
      return make(threshold, answer, "birth_date")
    }
    if isUsable("age_birth_year"), let year = integer("age_birth_year"),
      let answer = AgeCalendar.isAtLeast(
        threshold, bornIn: Int(clamping: year), on: AgeCalendar.dayReachedEverywhere(at: now))
    {
      return make(threshold, answer, "age_birth_year")
    }
    return nil
  }

  private var ageInYears: Int? { integer("age_in_years").map { Int(clamping: $0) } }

  private var birthDate: BirthDate? { document[ElementReference(namespace, "birth_date")].flatMap(BirthDate.init) }

  private func integer(_ identifier: String) -> Int64? {
    guard case .integer(let number)? = document[ElementReference(namespace, identifier)], number >= 0 else {
      return nil
    }
    return Int64(exactly: number)
  }

  /// Whether the element may answer in place of an attestation: only if it was asked for, or the wallet falls back to
  /// it by itself.
  private func isUsable(_ identifier: String) -> Bool {
    let element = ElementReference(namespace, identifier)
    return fallsBackToAgeInYears && identifier == "age_in_years"
      || request.elements.contains { $0.element == element || $0.alternatives.contains(element) }
  }

  private func make(_ threshold: Int, _ answer: Bool, _ identifier: String) -> AgeAnswer {
    AgeAnswer(threshold: threshold, answer: answer, provedBy: ElementReference(namespace, identifier))
  }
}

extension AgeEvaluation<VerifiedDocument> {
  /// Whether birth date, age in years and attestations cannot all be true of one person at any time from signing
  /// until now. Attestations are made for the day of signing, so an older person than attested is not a contradiction.
  var isInconsistent: Bool {
    guard let birthDate else { return contradicts(youngest: ageInYears, oldest: nil) }
    // A proof hides when the document was signed.
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
  private let answers: [(age: Int, isOver: Bool)]

  public init(_ answers: [Int: Bool]) {
    self.init(answers.map { (age: $0.key, isOver: $0.value) })
  }

  /// Each age at most once, in any order.
  init(_ answers: [(age: Int, isOver: Bool)]) { self.answers = answers.sorted { $0.age < $1.age } }

  /// The NN of `age_over_NN`: exactly two digits, or nil.
  public static func age(of identifier: String) -> Int? {
    let prefix = "age_over_"
    // Bytes and length are compared first, because this is asked of every element of every document.
    guard identifier.utf8.count == prefix.utf8.count + 2, identifier.utf8.starts(with: prefix.utf8) else { return nil }
    let digits = identifier.utf8.suffix(2).map { Int($0) - Int(UInt8(ascii: "0")) }
    guard digits.allSatisfy((0...9).contains) else { return nil }
    return digits[0] * 10 + digits[1]
  }

  public static func identifier(for age: Int) -> String { "age_over_" + (age < 10 ? "0\(age)" : "\(age)") }

  /// The attestation that answers "at least `age`": the smallest NN at or above it that is true, failing that the
  /// largest at or below it that is false.
  public func nearest(to age: Int) -> (age: Int, isOver: Bool)? {
    answers.first { $0.age >= age && $0.isOver } ?? answers.last { $0.age <= age && !$0.isOver }
  }

  /// Whether one attestation says yes for an age and another says no for a lower age.
  public var areContradictory: Bool {
    guard let oldest = answers.last(where: \.isOver), let youngest = answers.first(where: { !$0.isOver }) else {
      return false
    }
    return oldest.age >= youngest.age
  }

  /// The attestations, ascending.
  var all: [(age: Int, isOver: Bool)] { answers }
}

/// Ages by the calendar.
enum AgeCalendar {
  /// The latest day that has begun everywhere: the date in UTC−12.
  static func dayReachedEverywhere(at time: Timestamp) -> FullDate { (time - 12 * 3_600).date }

  /// The latest day that has begun anywhere: the date in UTC+14.
  static func dayReachedAnywhere(at time: Timestamp) -> FullDate { (time + 14 * 3_600).date }

  /// Completed years on a day. A person born on 29 February completes a year on 1 March if the year is no leap year.
  static func completedYears(since birth: FullDate, on day: FullDate) -> Int {
    let hadBirthday = (day.month, day.day) >= (birth.month, birth.day)
    return day.year - birth.year - (hadBirthday ? 0 : 1)
  }

  /// Whether somebody born on one of the days is at least `age`; nil if it depends on the day.
  static func isAtLeast(_ age: Int, born birth: BirthDate, on day: FullDate) -> Bool? {
    if completedYears(since: birth.latest, on: day) >= age { return true }
    return completedYears(since: birth.earliest, on: day) < age ? false : nil
  }

  /// Whether somebody born in a year is at least `age`; nil if it depends on the day.
  static func isAtLeast(_ age: Int, bornIn year: Int, on day: FullDate) -> Bool? {
    let difference = day.year - year
    if difference - 1 >= age { return true }
    return difference < age ? false : nil
  }
}
