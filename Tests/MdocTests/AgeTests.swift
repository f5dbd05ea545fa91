import Base
import TestSupport
import Testing

@testable import Mdoc

@Suite struct AgeTests {
  private struct Row: Decodable {
    let attestations: [String: Bool]
    let request: String
    let response: [String: Bool]?
  }

  /// ISO/IEC 18013-5, D.2.2.
  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func nearestAttestationAnswersEveryRowOfTheTable() throws {
    let rows: [Row] = try PublishedVectors.json("iso18013-5-annexD/D.2.2-age-over-table.json")
    #expect(rows.count == 55)
    for row in rows {
      let attestations = AgeAttestations(
        Dictionary(
          uniqueKeysWithValues: try row.attestations.map { (try #require(AgeAttestations.age(of: $0.key)), $0.value) }))
      let nearest = attestations.nearest(to: try #require(AgeAttestations.age(of: row.request)))
      let answer = nearest.map { [AgeAttestations.identifier(for: $0.age): $0.isOver] }
      #expect(answer == row.response)
    }
  }

  @Test(arguments: ["age_over_2", "age_over_121", "age_over_1a", "age_over_", "age_over_٢١", "Age_over_21"])
  func otherIdentifiersAreNoAttestations(identifier: String) {
    #expect(AgeAttestations.age(of: identifier) == nil)
  }

  @Test func attestationsContradictWhereAnOlderAgeIsTrue() {
    #expect(AgeAttestations([21: true, 18: false]).areContradictory)
    #expect(!AgeAttestations([21: false, 18: true]).areContradictory)
    #expect(!AgeAttestations([21: true]).areContradictory)
  }

  @Test(arguments: [
    ("2004-02-29", "2025-02-28", 20), ("2004-02-29", "2025-03-01", 21), ("2004-02-29", "2028-02-29", 24),
    ("2000-01-01", "2021-01-01", 21), ("2000-01-02", "2021-01-01", 20),
  ])
  func yearsAreCompletedOnTheBirthdayAndOnFirstMarchForLeapDays(birth: String, day: String, years: Int) throws {
    let completed = AgeCalendar.completedYears(since: try #require(FullDate(birth)), on: try #require(FullDate(day)))
    #expect(completed == years)
  }

  @Test func aDayCountsOnceItHasBegunEverywhere() throws {
    let noon = try #require(Timestamp(rfc3339: "2026-11-20T12:00:00Z"))
    #expect(AgeCalendar.dayReachedEverywhere(at: noon).description == "2026-11-20")
    #expect(AgeCalendar.dayReachedEverywhere(at: noon - 1).description == "2026-11-19")
  }

  private static func birthDate(_ day: String, _ mask: ElementValue? = nil) -> BirthDate? {
    guard let date = FullDate(day) else { return nil }
    let entries: [(String, ElementValue?)] = [("birth_date", .fullDate(date)), ("approximate_mask", mask)]
    return BirthDate(.map(entries.compactMap { name, value in value.map { .init(key: .text(name), value: $0) } }))
  }

  /// ISO/IEC 23220-2, 6.3.1.1.3: a mask of eight digits, 1 for each digit of YYYYMMDD that is not known.
  @Test(arguments: [
    ("1990-04-12", "00000000", "1990-04-12", "1990-04-12"), ("1990-04-12", "00000011", "1990-04-01", "1990-04-30"),
    ("1990-04-12", "00001111", "1990-01-01", "1990-12-31"), ("1990-04-12", "00011111", "1990-01-01", "1999-12-31"),
    ("1990-04-12", "00001100", "1990-01-12", "1990-12-12"), ("1990-04-12", "11111111", "0001-01-01", "9999-12-31"),
    ("1990-12-05", "00000100", "1990-10-05", "1990-12-05"), ("1990-04-12", "00000010", "1990-04-02", "1990-04-22"),
    // 31 is in no month like 0? after August; 29 February is in leap years only.
    ("1990-01-31", "00000100", "1990-01-31", "1990-08-31"), ("1988-02-29", "00010000", "1980-02-29", "1988-02-29"),
  ])
  func `An approximate birth date is every day that has its known digits`(
    day: String, mask: String, earliest: String, latest: String
  ) throws {
    let birth = try #require(Self.birthDate(day, .text(mask)))
    #expect(birth.earliest.description == earliest && birth.latest.description == latest)
  }

  @Test(
    arguments: [
      .text("0000111"), .text("000011111"), .text(""), .text("0000112 "), .text("0000xxxx"), .text("０0001111"), .null,
      .integer(1_111), .bytes([0, 0, 0, 0, 1, 1, 1, 1]), .array([]),
    ] as [ElementValue])
  func `A mask of another form leaves open what is known`(mask: ElementValue) {
    #expect(Self.birthDate("1990-04-12", mask) == nil)
    #expect(Self.birthDate("1990-04-12") != nil)
  }

  @Test(
    arguments: [.text("1990-04-12"), .map([]), .tagged(1_004, .text("1990-00-00")), .integer(1990), .array([])]
      as [ElementValue])
  func `What is no date is none in a map either`(value: ElementValue) {
    #expect(BirthDate(value) == nil)
    #expect(BirthDate(.map([.init(key: .text("birth_date"), value: value)])) == nil)
  }

  @Test(arguments: [("2007-05-01", true), ("2008-05-01", nil), ("2009-05-01", false)] as [(String, Bool?)])
  func `An age is known where every day that it may be says the same`(born: String, isAtLeast18: Bool?) throws {
    let day = try #require(FullDate("2026-11-20"))
    let birth = try #require(Self.birthDate(born, .text("00001111")))
    #expect(AgeCalendar.isAtLeast(18, born: birth, on: day) == isAtLeast18)
  }

  @Test func aBirthYearLeavesOneYearOpen() throws {
    let day = try #require(FullDate("2026-11-20"))
    #expect(AgeCalendar.isAtLeast(21, bornIn: 2004, on: day) == true)
    #expect(AgeCalendar.isAtLeast(21, bornIn: 2005, on: day) == nil)
    #expect(AgeCalendar.isAtLeast(21, bornIn: 2006, on: day) == false)
  }
}
