import Base
import Mock
import Testing
import Vectors

/// The registry's cases are found by people who look for what answers a row of the list of negative cases; the mock
/// wallet's variants are those rows.
@Suite struct CodeCaseTests {
  @Test(arguments: MockVariant.all.filter { !$0.codes.isEmpty }.map(\.name))
  func everyCaseOfAVariantStandsUnderItsPrimaryCode(name: String) throws {
    let variant = try #require(MockVariant.named(name))
    let code = try #require(variant.codes.first)
    let missing = variant.cases.filter { !code.cases.contains($0) }
    #expect(missing == [], "\(code.rawValue)")
  }

  @Test func variantsThatOnlyWarnStandUnderTheirWarnings() {
    for variant in MockVariant.all where variant.codes.isEmpty && !variant.warnings.isEmpty {
      let listed = variant.warnings.flatMap { $0.cases }
      #expect(variant.cases.filter { !listed.contains($0) } == [], "\(variant.name)")
    }
  }

  @Test func everyCaseOfAListStandsUnderItsCode() {
    for mock in MockVICAL.all where !mock.cases.isEmpty {
      #expect((mock.code ?? mock.documentCode)?.cases.contains { mock.cases.contains($0) } == true)
    }
  }

  @Test(arguments: Code.allCases)
  func casesAreNamedAsTheCorpusNamesThem(code: Code) throws {
    let cases = code.cases
    #expect(Set(cases).count == cases.count)
    #expect(try cases.filter { try /[A-Z][0-9]{2}/.wholeMatch(in: $0) == nil } == [])
  }
}
