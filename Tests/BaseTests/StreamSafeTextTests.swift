import Base
import Testing

/// Runs of combining marks, which are slow to compare, are found in every text input.
@Suite struct StreamSafeTextTests {
  private static func marks(_ count: Int, _ kinds: [String] = ["\u{301}", "\u{327}"]) -> String {
    (0..<count).map { kinds[$0 % kinds.count] }.joined()
  }

  @Test(arguments: ["", "Mustermann", "Zo\u{eb}", "e\u{301}", "\u{1f98a}\u{200d}\u{2642}", "한국어", "นํ้า"])
  func whatPeopleWriteIsSafe(text: String) { #expect(StreamSafeText.isSafe(text)) }

  @Test(arguments: [["\u{301}"], ["\u{301}", "\u{327}"], ["\u{344}"], ["\u{f73}", "\u{f75}", "\u{f81}"]])
  func aRunIsSafeUpToThirtyMarks(kinds: [String]) {
    #expect(StreamSafeText.isSafe("a" + Self.marks(30, kinds) + "b"))
    #expect(!StreamSafeText.isSafe("a" + Self.marks(31, kinds)))
    #expect(StreamSafeText.isSafe(Self.marks(30, kinds) + "b" + Self.marks(30, kinds)))
  }

  @Test func aRunGoesOnInWhatFollows() {
    var text = StreamSafeText()
    #expect(text.takes("a" + Self.marks(20)) && text.takes("") && !text.takes(Self.marks(11)))
    text = StreamSafeText()
    #expect(text.takes("a" + Self.marks(20)) && text.takes("b") && text.takes(Self.marks(11)))
  }

  @Test func noJSONHasALongerRun() throws {
    for text in ["[\"a%\"]", "{\"a%\":1}", "{\"a\":\"%\"}", "\"\\u0061%\""] {
      let safe = Array(text.replacing("%", with: Self.marks(30)).utf8)
      let unsafe = Array(text.replacing("%", with: Self.marks(31)).utf8)
      #expect(try !JSON(parsing: safe).isNull)
      #expect(throws: JSON.SyntaxError.self) { try JSON(parsing: unsafe) }
    }
    let escaped = "\"" + String(repeating: "\\u0301\\u0327", count: 16) + "\""
    #expect(throws: JSON.SyntaxError.self) { try JSON(parsing: Array(escaped.utf8)) }
  }

  @Test func exactTextsAreEqualByBytes() {
    #expect(UTF8Key("\u{e9}") != UTF8Key("e\u{301}") && "\u{e9}" == "e\u{301}")
    #expect(Set([UTF8Key("a"), UTF8Key("a"), UTF8Key("b")]).count == 2)
  }
}
