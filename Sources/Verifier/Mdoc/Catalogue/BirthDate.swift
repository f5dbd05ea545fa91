import Base

/// The days on which a person may have been born: one day, or all that fit the known digits of an approximate date.
struct BirthDate: Sendable, Hashable {
  let earliest: FullDate
  let latest: FullDate

  /// The value of a `birth_date`: a full-date, the day of a tdate, or the map of ISO/IEC 23220-2, 6.3.1.1.3,
  /// `{"birth_date": full-date, ? "approximate_mask": tstr}`. The mask has a digit for each of YYYYMMDD; 1 says that it
  /// is not known. Nil for anything else: a mask in another form leaves open which digits are known.
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

  /// The earliest or the latest day of the calendar that has the digits which are not masked.
  private static func firstDay(like day: FullDate, masked mask: String, isLatest: Bool) -> FullDate? {
    let mask = mask.utf8.map { $0 == UInt8(ascii: "1") }
    guard mask.contains(true) else { return day }
    func candidates(_ number: Int, _ mask: ArraySlice<Bool>, _ range: ClosedRange<Int>) -> [Int] {
      let places = zip(mask.reversed(), [1, 10, 100, 1_000])
      let fits = range.filter { other in
        places.allSatisfy { isMasked, place in isMasked || other / place % 10 == number / place % 10 }
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
