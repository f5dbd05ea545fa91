import Base
import Testing

@Suite struct JSONTests {
  private func parse(_ text: String) -> JSON? { try? JSON(parsing: Array(text.utf8), values: .max) }

  @Test func readsEveryKindOfValueInItsOrder() {
    #expect(
      parse(" {\"z\": [1, -0, 2.5, 1e2, true, false, null], \"a\": {\"b\": \"c\"}, \"\": []}\n")
        == [
          "z": [1, 0, .double(2.5), 100, true, false, .null], "a": ["b": "c"], "": [],
        ])
    #expect(parse("\"\"") == "")
    #expect(parse("[]") == [])
    #expect(parse("{}") == [:])
  }

  @Test(arguments: [
    ("", 1, 1), ("{", 1, 2), ("{\n  \"a\": 1,\n  \"é\" 2\n}", 3, 7), ("[1,\r\n2,]", 2, 3), ("{} {}", 1, 4),
    ("[nul]", 1, 2),
    ("{\"a\":1,\"a\":2}", 1, 11), ("\n\n[\"\u{1}\"]", 3, 3),
  ])
  func `A fault has its line and column`(text: String, line: Int, column: Int) {
    let error = #expect(throws: JSON.SyntaxError.self) { try JSON(parsing: Array(text.utf8)) }
    #expect(error?.line == line && error?.column == column, "\(text): \(String(describing: error))")
    #expect(error.map { "\($0)" } == "is not valid JSON at line \(line), column \(column)")
  }

  @Test func readsEscapesAndSurrogatePairs() {
    #expect(parse(#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀""#) == .string("\"\\/\u{8}\u{c}\n\r\té😀é😀"))
    #expect(parse(#"{"\u0061": 1}"#) == ["a": 1])
  }

  @Test func keepsWholeNumbersWhole() {
    #expect(parse("9223372036854775807") == .integer(.max))
    #expect(parse("-9223372036854775808") == .integer(.min))
    #expect(parse("9223372036854775808") == .largeInteger("9223372036854775808"))
    #expect(parse("600.0") == 600)
    #expect(parse("1e-1") == .double(0.1))
  }

  @Test(arguments: [
    "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809",
    "-18446744073709551616", "1" + String(repeating: "0", count: 400), "0", "-0.0", "0.1", "1e+16",
  ])
  func `A number comes back with all its digits`(text: String) throws {
    #expect(parse(text)?.text() == text)
    #expect(try JSONText(JSON.array([#require(parse(text))])).parsed().text() == "[\(text)]")
  }

  @Test func `An integer beyond 64 bits is an integer, outside of every range`() {
    let schema: JSON = ["type": "integer", "minimum": 0, "maximum": 100]
    for text in ["18446744073709551616", "-18446744073709551616", "101"] {
      #expect(Schema(schema).violations(of: parse(text) ?? .null, with: .init(of: schema)).count == 1)
    }
    let large = JSON.digits("18446744073709551616")
    #expect(Schema(["type": "integer"]).violations(of: large, with: .init(of: schema)).isEmpty)
  }

  @Test(arguments: [
    "", " ", "{", "[", "]", "{]", "[1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "nul",
    "True", "truex", "1 2", "[] []", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x10", "NaN", "Infinity", "1e999",
    "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\u0041\"",
    "\"\\udc00\"", "\"a\nb\"", "\"\u{0}\"", "\u{feff}{}", "// c\n1", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
  ])
  func refusesWhatIsNotOneJSONText(text: String) { #expect(parse(text) == nil) }

  @Test func refusesBytesThatAreNotUTF8() {
    for bytes: [UInt8] in [
      [0x22, 0xff, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x7b, 0, 0x7d, 0], [0x22, 0x5c, 0x6e, 0xc3, 0x22],
    ] {
      #expect((try? JSON(parsing: bytes)) == nil)
    }
  }

  @Test func boundsNesting() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(parse(nested(128)) != nil)
    #expect(parse(nested(129)) == nil)
    #expect(parse(nested(1_000_000)) == nil)
  }

  @Test func readsSoManyValuesAndNoMore() throws {
    #expect(throws: Never.self) { try JSON(parsing: Array("[1,{\"a\":[]}]".utf8), values: 4) }
    for text in ["[1,2,3,4]", "[[[[[]]]]]", "{\"a\":1,\"b\":{\"c\":{\"d\":1}}}", "[1,2,3,4"] {
      let error = #expect(throws: JSON.SyntaxError.self) { try JSON(parsing: Array(text.utf8), values: 4) }
      #expect(error?.hasTooManyValues == true, "\(text)")
    }
    let broken = #expect(throws: JSON.SyntaxError.self) { try JSON(parsing: Array("[1,".utf8), values: 4) }
    #expect(broken?.hasTooManyValues == false)
  }

  /// Swift treats the Kelvin sign as a K, and an accent in one scalar like an accent in two.
  @Test func tellsNamesApartByTheirBytes() throws {
    let json = try #require(parse("{\"\u{212a}\":1,\"K\":2,\"\u{e9}\":3,\"e\u{301}\":4}"))
    #expect(json["K"] == 2 && json["\u{212a}"] == 1 && json["\u{e9}"] == 3 && json["e\u{301}"] == 4)
    #expect(parse("{\"\u{e9}\":1,\"\\u00e9\":2}") == nil)
  }

  @Test func knowsWhatItTakes() throws {
    let small = try #require(parse("[1,2,3]")),
      large = try #require(parse("[\"\(String(repeating: "x", count: 999))\"]"))
    #expect((48...480).contains(small.memoryBytes))
    #expect((999...1_300).contains(large.memoryBytes))
    #expect(JSON.null.memoryBytes == 0)
  }

  /// Any text of the largest size is read quickly.
  @Test(arguments: ["1,", "[],", "{},", "\"\",", "1e5,", "\"\\n\","])
  func readsInLinearTime(unit: String) {
    let text = "[" + String(repeating: unit, count: Limits.responseBytes / unit.utf8.count) + "1]"
    let start = ContinuousClock.now
    #expect(parse(text) != nil)
    #expect(ContinuousClock.now - start < .seconds(10), "also without optimisation and beside other tests")
  }

  @Test(arguments: [
    ("", #""""#), ("plain", #""plain""#), ("\"", #""\"""#), ("a\\b\nc", #""a\\b\nc""#),
    ("\u{1}é\u{1f}", #""\u0001é\u001f""#),
    ("a\"", #""a\"""#),
  ])
  func escapesWhatItMustAndNothingElse(text: String, expected: String) {
    #expect(JSON.string(text).text() == expected)
  }

  /// The bytes are read and written eight at a time.
  @Test(arguments: 0...17) func `Every byte is escaped or kept, wherever it is`(offset: Int) throws {
    for byte in UInt8(0)...127 {
      for next in ["", "z", "\u{1f}", "é"] {
        let text = String(repeating: "a", count: offset) + String(UnicodeScalar(byte)) + next
        let bytes = JSON.string(text).serialized()
        let isEscaped = byte < 0x20 || byte == 0x22 || byte == 0x5c
        #expect((bytes[1 + offset] == 0x5c) == isEscaped, "\(byte)")
        #expect(try JSON(parsing: bytes) == .string(text))
        let raw = [0x22] + Array(text.utf8) + [0x22]
        #expect((try? JSON(parsing: raw)) == (isEscaped || next == "\u{1f}" ? nil : .string(text)), "\(byte)")
      }
    }
  }

  /// `nil` is not a JSON literal, so an absent value cannot become a null through the type `JSON?`.
  @Test(arguments: [true, false]) func leavesOutWhatIsAbsentAndWritesNullOnPurposeAlone(isThere: Bool) {
    let value = JSON.integer(1)
    let json = JSON.members(["a": isThere ? value : nil, "b": isThere ? nil : value, "c": .null])
    #expect(json.text() == (isThere ? #"{"a":1,"c":null}"# : #"{"b":1,"c":null}"#))
  }

  @Test func readsWhatItWrites() {
    let json: JSON = ["a": ["\u{0}\"\\\n\u{1f}é😀", .integer(.min), .double(0.1), true, .null], "b": [:], "c": []]
    #expect((try? JSON(parsing: json.serialized())) == json)
    #expect((try? JSON(parsing: json.serialized(pretty: true))) == json)
  }
}
