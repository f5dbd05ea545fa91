import Base

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
    // By bytes and length first: this is asked of every element of every document.
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

  /// Over some age and yet not over a lower one.
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
  /// The day that has begun everywhere, that is in UTC−12.
  static func dayReachedEverywhere(at time: Timestamp) -> FullDate { (time - 12 * 3_600).date }

  /// The day that has begun anywhere, that is in UTC+14.
  static func dayReachedAnywhere(at time: Timestamp) -> FullDate { (time + 14 * 3_600).date }

  /// Completed years on a day; who was born on 29 February completes one on 1 March in other years.
  static func completedYears(since birth: FullDate, on day: FullDate) -> Int {
    let hadBirthday = (day.month, day.day) >= (birth.month, birth.day)
    return day.year - birth.year - (hadBirthday ? 0 : 1)
  }

  /// Whether somebody born in a year is at least `age`; nil where it depends on the day.
  static func isAtLeast(_ age: Int, bornIn year: Int, on day: FullDate) -> Bool? {
    let difference = day.year - year
    if difference - 1 >= age { return true }
    return difference < age ? false : nil
  }
}
