import Base
import Mock
import Sessions
import Testing
import Vectors

/// The mock names codes by their text, with rows of the list of negative cases. The registry has the codes, and the
/// rows that no variant covers.
@Suite struct CodeCaseTests {
  @Test(arguments: MockVariant.all.map(\.name))
  func `a variant's codes are registered, in the order of the checks`(name: String) throws {
    let variant = try #require(MockVariant.named(name))
    let codes = variant.codes.compactMap(\.registered)
    let warnings = variant.warnings.compactMap(\.registered)
    #expect(codes == variant.codes && warnings == variant.warnings)
    let positions = codes.compactMap(Code.allCases.firstIndex)
    // A proof's elements are checked before much that comes earlier elsewhere.
    if variant.applicability != .zeroKnowledge { #expect(positions == positions.sorted()) }
    #expect(codes.allSatisfy { !$0.entry.isWarning })
    #expect(warnings.allSatisfy { $0.entry.isWarning })
  }

  @Test func `codes of published lists are registered, and each row of a list is one of its code's`() {
    let others: [[any MockDeclared]] = [MockList.all, MockRevocationCase.all]
    for mock in others.joined() {
      #expect((mock.codes + mock.warnings).allSatisfy { $0.registered != nil }, "\(mock.name)")
    }
    for mock in MockList.all(.vical) {
      let codes = mock.codes + mock.warnings + [mock.documentCode].compactMap { $0 }
      #expect(codes.allSatisfy { $0.registered != nil }, "\(mock.name)")
      if !mock.cases.isEmpty { #expect(codes.first?.entry.cases.contains(where: mock.cases.contains) == true) }
    }
  }

  @Test(arguments: Code.allCases)
  func `a code declares only the rows that no variant covers`(code: Code) throws {
    let cases = code.entry.cases
    #expect(Set(cases).count == cases.count)
    #expect(try cases.filter { try /[A-Z][0-9]{2}/.wholeMatch(in: $0) == nil } == [])
    let variants = MockVariant.all + MockPublishedList.chosen.map(\.variant)
    let covered = variants.filter { ($0.code.map { [$0] } ?? $0.warnings).contains(code) }.flatMap(\.cases)
    #expect(cases.filter(covered.contains) == [])
  }
}
