import TestSupport
import Testing

@testable import Base

@Suite struct TimestampTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0),
      ("1969-12-31T23:59:59Z", -1),
      ("2000-02-29T12:30:45Z", 951_827_445),
      ("2020-10-01T13:30:02Z", 1_601_559_002),
      ("2038-01-19T03:14:08Z", 2_147_483_648),
      ("0001-01-01T00:00:00Z", -62_135_596_800),
      ("9999-12-31T23:59:59Z", 253_402_300_799),
    ] as [(String, Int64)])
  func readsAndWritesUTC(text: String, seconds: Int64) throws {
    let time = try #require(Timestamp(rfc3339: text))
    #expect(time.secondsSince1970 == seconds)
    #expect(time.description == text)
  }

  @Test(arguments: ["2020-10-01T13:30:02.0Z", "2020-10-01T13:30:02.123456789Z", "2020-10-01T13:30:02.999999Z"])
  func dropsAFractionOfASecond(text: String) {
    #expect(Timestamp(rfc3339: text)?.secondsSince1970 == 1_601_559_002)
  }

  @Test(arguments: [
    "", "Z", "2020-10-01", "2020-10-01T13:30:02", "2020-10-01T13:30Z",
    // Offsets, even that of UTC.
    "2020-10-01T13:30:02+00:00", "2020-10-01T13:30:02-00:00", "2020-10-01T15:30:02+02:00", "2020-10-01T13:30:02+0000Z",
    // Other spellings of the separators.
    "2020-10-01t13:30:02Z", "2020-10-01T13:30:02z", "2020-10-01 13:30:02Z", "2020-10-01T13:30:02ZZ",
    "2020/10/01T13:30:02Z", "2020-10-01T13.30.02Z", "20201001T133002Z", " 2020-10-01T13:30:02Z",
    "2020-10-01T13:30:02Z ", "2020-10-01T13:30:02\nZ",
    // Times and days that do not exist, leap seconds among them.
    "2016-12-31T23:59:60Z", "2020-10-01T24:00:00Z", "2020-10-01T13:60:00Z", "2020-10-01T13:30:61Z",
    "2020-02-30T00:00:00Z", "2021-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2020-04-31T00:00:00Z",
    "2020-13-01T00:00:00Z", "2020-00-01T00:00:00Z", "2020-01-00T00:00:00Z", "2020-01-32T00:00:00Z",
    "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z", "+020-01-01T00:00:00Z",
    // Invalid fractions.
    "2020-10-01T13:30:02.Z", "2020-10-01T13:30:02,5Z", "2020-10-01T13:30:02.5.5Z", "2020-10-01T13:30:02.-5Z",
    "2020-10-01T13:30:02.55555555555555555555555555555555Z",
    // Digits of other scripts.
    "２０２０-10-01T13:30:02Z", "2020-10-01T13:30:0٢Z",
  ])
  func refusesWhatIsNotAUTCInstant(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test func returnsTheSameInstantThatItWrote() {
    var generator = SeededGenerator(seed: 1)
    var broken: [Int64] = []
    for _ in 0..<20_000 {
      let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator)
      let text = Timestamp(secondsSince1970: seconds).description
      if Timestamp(rfc3339: text)?.secondsSince1970 != seconds || text.utf8.count != 20 { broken.append(seconds) }
    }
    #expect(broken == [])
  }

  @Test func addsAndSubtractsWithoutEverOverflowing() {
    let far = Timestamp(secondsSince1970: .max)
    let early = Timestamp(secondsSince1970: .min)
    #expect(far + 1 == far)
    #expect(early - 1 == early)
    #expect(early + .min == early)
    #expect(far - .min == far)
    #expect(Timestamp(secondsSince1970: -1) - .min == far)
    #expect(early - .max == early)
    #expect(Timestamp(secondsSince1970: 0) - .min == far)
    #expect(Timestamp(secondsSince1970: 100) - 40 == Timestamp(secondsSince1970: 60))
    #expect(Timestamp(secondsSince1970: 100) + -40 == Timestamp(secondsSince1970: 60))
  }

  @Test func writesInstantsOutsideTheCalendarAsItsEnds() {
    #expect(Timestamp(secondsSince1970: .max).description == "9999-12-31T23:59:59Z")
    #expect(Timestamp(secondsSince1970: 253_402_300_800).description == "9999-12-31T23:59:59Z")
    #expect(Timestamp(secondsSince1970: .min).description == "0001-01-01T00:00:00Z")
    #expect(Timestamp(secondsSince1970: -62_135_596_801).description == "0001-01-01T00:00:00Z")
  }

  @Test func knowsTheDayBeforeAndAfterMidnight() {
    #expect(Timestamp(secondsSince1970: -1).date.description == "1969-12-31")
    #expect(Timestamp(secondsSince1970: -86_400).date.description == "1969-12-31")
    #expect(Timestamp(secondsSince1970: -86_401).date.description == "1969-12-30")
    #expect(Timestamp(secondsSince1970: 86_399).date.description == "1970-01-01")
    #expect(Timestamp(secondsSince1970: 86_400).date.description == "1970-01-02")
  }
}

@Suite struct FullDateTests {
  /// Counts every day of every year from a plain table of month lengths.
  @Test func agreesWithCountingEveryDayOfTheCalendar() throws {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var days = -719_162
    var broken: [String] = []
    for year in 1...9999 {
      let isLeap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
      for month in 1...12 {
        let length = month == 2 && isLeap ? 29 : lengths[month - 1]
        let first = FullDate(year: year, month: month, day: 1)
        if first?.daysSince1970 != days || FullDate(daysSince1970: days) != first { broken.append("\(year)-\(month)") }
        days += length
        let last = FullDate(year: year, month: month, day: length)
        if FullDate(daysSince1970: days - 1) != last { broken.append("\(year)-\(month)-\(length)") }
        if FullDate(year: year, month: month, day: length + 1) != nil { broken.append("\(year)-\(month) is too long") }
      }
    }
    #expect(broken == [])
    #expect(days == 2_932_897)
  }

  @Test(arguments: ["2020-1-01", "2020-01-1", "20-01-01", "2020-01-01Z", "2020-01-0a", "2020-01-+1", "", "2020_01_01"])
  func refusesWhatIsNotAFullDate(text: String) {
    #expect(FullDate(text) == nil)
  }

  @Test func comparesByYearThenMonthThenDay() throws {
    let dates = try ["1999-12-31", "2000-01-01", "2000-01-02", "2000-02-01", "2001-01-01"].map {
      try #require(FullDate($0))
    }
    #expect(dates.reversed().sorted() == dates)
  }
}
