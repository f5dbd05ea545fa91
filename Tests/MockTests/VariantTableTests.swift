import Base
import CBOR
import Testing

@testable import Mock

@Suite struct VariantTableTests {
  private func changed(_ edits: String, _ entries: [(key: CBORValue, value: CBORValue)]) throws -> CBORValue {
    let row = try #require(try VariantTable.rows(of: "a | \(edits) | | | A sentence.").first)
    var draft = MapDraft(entries)
    try row.mutation.apply(Stages.document, to: &draft)
    return draft.value
  }

  @Test(arguments: [
    ("document.a = 2", "a2616102616202"), ("document.b = it + 1", "a2616101616203"), ("delete document.a", "a1616202"),
    ("document.c[-1] = [b, it]", "a2616101616202"), ("document.c = [b, a]", "a36161016162026163820201"),
    ("duplicate document.a = null", "a36161016162026161f6"), ("document.a = 24(h'00')", "a26161d81841006162 02"),
    ("document.a = {1: -1, \"x\": 0.5}", "a26161a201206178fb3fe0000000000000616202"),
    ("document.a = undefined; .b = 2d - 1h", "a26161f761621a000294f0"), ("document = {}", "a0"),
    ("document.a = none", "a2616101616202"),
  ])
  func `an edit changes what it names`(edits: String, expected: String) throws {
    let value = try changed(edits, [("a", 1), ("b", 2)])
    #expect(Hex.encode(value.encoded()) == expected.filter { $0 != " " })
  }

  @Test func `a row has options, codes, warnings, rules and a sentence`() throws {
    let rows = try VariantTable.rows(
      of: """
        # A comment.
        [device_mac]
        let size = 2
        a-<b/c> (fixed_clock) | mso.<b/c> = zeros(size) | cbor.truncated warns mdoc.response.deviation | C1 C2 | <X/Y>.
        """)
    #expect(rows.map(\.declaration.name) == ["a-b", "a-c"] && rows.map(\.declaration.summary) == ["X.", "Y."])
    #expect(
      rows[0].declaration.codes == [.cborTruncated]
        && rows[0].declaration.warnings == [Code(named: "mdoc.response.deviation")])
    #expect(rows[0].declaration.cases == ["C1", "C2"] && rows[0].options == ["device_mac", "fixed_clock"])
  }

  @Test func `lists of different lengths are combined`() throws {
    let rows = try VariantTable.rows(of: "<a/b>-<1/2/3> | mso.x = <1/2/3> | | | <A/B>.")
    #expect(rows.map(\.declaration.name) == ["a-1", "b-1", "a-2", "b-2", "a-3", "b-3"])
    #expect(rows.map(\.declaration.summary) == ["A.", "B.", "A.", "B.", "A.", "B."])
  }

  @Test(arguments: [
    ("a | documents.a = 1 | | | A.", 14, "unknown stage documents"), ("a | mso | | | A.", 8, "= is expected"),
    ("a | setup.nothing = 1 | | | A.", 10, "setup has no part nothing"),
    ("a | mso.a = nothing(1) | | | A.", 13, "unknown function nothing"), ("a | b", 5, "a row has 5 columns"),
    ("a | mso.a = h'0 | | | A.", 17, "hexadecimal digits"),
  ])
  func `what is wrong with a table is said with row and column`(line: String, column: Int, message: String) throws {
    let error = #expect(throws: VariantTableError.self) { try VariantTable.rows(of: "\n" + line) }
    #expect(error?.row == 2 && error?.message.contains(message) == true, "\(String(describing: error))")
    #expect(error?.column == column, "\(line)")
  }

  /// The tables are read here at the latest, and each edit is applied by the tests of variants.
  @Test func `every table can be read`() {
    #expect(MockVariant.groups.allSatisfy { !$0.variants.isEmpty })
  }
}
