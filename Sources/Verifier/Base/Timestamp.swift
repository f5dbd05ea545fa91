/// An instant in whole seconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
  public var secondsSince1970: Int64

  public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

  /// Out-of-range times saturate, so that they remain comparable.
  public static func + (time: Timestamp, seconds: Int64) -> Timestamp {
    let (sum, overflow) = time.secondsSince1970.addingReportingOverflow(seconds)
    return Timestamp(secondsSince1970: overflow ? (seconds > 0 ? .max : .min) : sum)
  }

  public static func - (time: Timestamp, seconds: Int64) -> Timestamp {
    let (difference, overflow) = time.secondsSince1970.subtractingReportingOverflow(seconds)
    return Timestamp(secondsSince1970: overflow ? (seconds > 0 ? .min : .max) : difference)
  }

  /// Reads a `tdate` (ISO/IEC 18013-5, 7.2.1: RFC 3339 date-time in UTC, written with `Z`).
  ///
  /// Accepts and drops a fraction of a second, which several wallets write. Refuses offsets, a lower-case `t` or `z`,
  /// leap seconds and impossible dates.
  public init?(rfc3339 text: String) {
    var text = text
    guard let time = text.withUTF8(Timestamp.init(rfc3339:)) else { return nil }
    self = time
  }

  private init?(rfc3339 characters: UnsafeBufferPointer<UInt8>) {
    guard characters.count >= 20, characters.count <= 40, characters.last == UInt8(ascii: "Z"),
      let date = FullDate(ascii: characters[0..<10]), characters[10] == UInt8(ascii: "T"),
      characters[13] == UInt8(ascii: ":"), characters[16] == UInt8(ascii: ":"),
      let hour = decimal(characters[11..<13]), let minute = decimal(characters[14..<16]),
      let second = decimal(characters[17..<19]), hour < 24, minute < 60, second < 60
    else { return nil }
    if characters.count > 20 {
      guard characters[19] == UInt8(ascii: "."), characters.count > 21,
        characters[20..<(characters.count - 1)].allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
      else { return nil }
    }
    self.init(date: date, hour: hour, minute: minute, second: second)
  }

  public init(date: FullDate, hour: Int = 0, minute: Int = 0, second: Int = 0) {
    let seconds = date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second
    self.init(secondsSince1970: Int64(seconds))
  }

  /// The UTC calendar day of this instant.
  public var date: FullDate {
    let (days, remainder) = secondsSince1970.quotientAndRemainder(dividingBy: 86_400)
    return FullDate(daysSince1970: Int(remainder < 0 ? days - 1 : days))
  }

  /// RFC 3339 in UTC: `2026-11-20T10:00:00Z`. Instants outside the years 1 to 9999 are written as the first or last
  /// instant of these years.
  public var description: String {
    let day = date
    let second = min(max(Int(secondsSince1970 - Timestamp(date: day).secondsSince1970), 0), 86_399)
    return "\(day)T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))Z"
  }
}

/// A day of the Gregorian calendar, years 0001 to 9999 (`full-date`, RFC 8943 tag 1004).
public struct FullDate: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let year: Int
  public let month: Int
  public let day: Int

  /// The date; nil if the calendar has no such day.
  public init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= FullDate.daysIn(month: month, year: year)
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Reads exactly `YYYY-MM-DD`.
  public init?(_ text: String) {
    var text = text
    guard let date = text.withUTF8({ FullDate(ascii: $0[...]) }) else { return nil }
    self = date
  }

  init?(ascii text: Slice<UnsafeBufferPointer<UInt8>>) {
    let start = text.startIndex
    guard text.count == 10, text[start + 4] == UInt8(ascii: "-"), text[start + 7] == UInt8(ascii: "-"),
      let year = decimal(text[start..<(start + 4)]), let month = decimal(text[(start + 5)..<(start + 7)]),
      let day = decimal(text[(start + 8)..<(start + 10)])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  /// Days since 1970-01-01, counted in 400-year eras that begin on 1 March.
  public var daysSince1970: Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = shiftedYear / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// Clamps to the years 1 to 9999.
  init(daysSince1970 days: Int) {
    let shifted = min(max(days, -719_162), 2_932_896) + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  public static func < (left: FullDate, right: FullDate) -> Bool {
    (left.year, left.month, left.day) < (right.year, right.month, right.day)
  }

  public var description: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }

  static func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

private func decimal(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
  var value = 0
  for digit in digits {
    guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
    value = value * 10 + Int(digit - UInt8(ascii: "0"))
  }
  return value
}

private func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
