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

  @Test func aBirthYearLeavesOneYearOpen() throws {
    let day = try #require(FullDate("2026-11-20"))
    #expect(AgeCalendar.isAtLeast(21, bornIn: 2004, on: day) == true)
    #expect(AgeCalendar.isAtLeast(21, bornIn: 2005, on: day) == nil)
    #expect(AgeCalendar.isAtLeast(21, bornIn: 2006, on: day) == false)
  }
}
