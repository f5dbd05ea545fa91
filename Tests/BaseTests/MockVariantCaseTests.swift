import Base
import Mock
import Testing

/// The registry's cases are found by people who look for what answers a row of the list of negative cases; the mock
/// wallet's variants are those rows.
@Suite struct MockVariantCaseTests {
  @Test(arguments: MockVariant.all.filter { !$0.codes.isEmpty }.map(\.name))
  func everyCaseOfAVariantStandsUnderItsPrimaryCode(name: String) throws {
    let variant = try #require(MockVariant.named(name))
    let code = try #require(variant.codes.first)
    let missing = variant.cases.filter { !code.entry.cases.contains($0) }
    #expect(missing == [], "\(code.rawValue)")
  }

  @Test func variantsThatOnlyWarnStandUnderTheirWarnings() {
    for variant in MockVariant.all where variant.codes.isEmpty && !variant.warnings.isEmpty {
      let listed = variant.warnings.flatMap { $0.entry.cases }
      #expect(variant.cases.filter { !listed.contains($0) } == [], "\(variant.name)")
    }
  }
}
