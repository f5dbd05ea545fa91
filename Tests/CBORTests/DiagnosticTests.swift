import Base
import CBOR
import Testing

@Suite struct DiagnosticTests {
  private let response = (try? CBORItem(parsing: Sample.response)).map { CBORDiagnostic().describe($0) } ?? ""

  @Test func hidesElementValuesAndBytesUnlessAsked() throws {
    let personal = ["Mustermann", "Zoë", "1998-09-04", "2030-01-01", "\"B\"", "d8d8d8", "070707", "true"]
    #expect(personal.filter(response.contains) == [])
    let shown = CBORDiagnostic(showsValues: true).describe(try CBORItem(parsing: Sample.response))
    #expect(personal.filter { !shown.contains($0) } == [])
  }

  @Test func showsKeysNamesSizesAndStructure() {
    let structure = [
      "\"docType\": \"org.iso.18013.5.1.mDL\"", "\"elementIdentifier\": \"family_name\"", "\"elementValue\": \"…\"",
      "\"digestID\": 5", "\"status\": 0", "24(<<{", "h'…' /300 bytes/", "\"vehicle_category_code\": \"…\"",
      "1004(\"…\")",
    ]
    #expect(structure.filter { !response.contains($0) } == [])
  }

  /// Device-signed elements have no `elementValue`: they are the values of the maps in DeviceNameSpaces.
  @Test func hidesDeviceSignedElementsUnlessAsked() throws {
    let deviceSigned: CBORValue = ["nameSpaces": .embedded(["org.iso.18013.5.1": ["given_name": "Erika", "n": 47]])]
    let item = try CBORItem(parsing: deviceSigned.encoded())
    let hidden = CBORDiagnostic().describe(item)
    #expect(hidden.contains("\"given_name\": \"…\""))
    #expect(!hidden.contains("Erika"))
    #expect(!hidden.contains("47"))
    #expect(CBORDiagnostic(showsValues: true).describe(item).contains("\"given_name\": \"Erika\""))
  }

  @Test(arguments: [
    ("a2016161f5f7", "{1: \"a\", true: undefined}"), ("f97e00", "NaN"), ("f9fc00", "-Infinity"), ("f93e00", "1.5"),
    ("3bffffffffffffffff", "-18446744073709551616"), ("3b7fffffffffffffff", "-9223372036854775808"),
    ("1bffffffffffffffff", "18446744073709551615"), ("1b8000000000000000", "9223372036854775808"),
    ("1b0020000000000001", "9007199254740993"), ("3b8000000000000000", "-9223372036854775809"), ("80", "[]"),
    ("a0", "{}"), ("40", "h''"), ("c1f6", "1(null)"),
    ("d8186161", "24(\"a\")"),
  ])
  func usesDiagnosticNotation(text: String, notation: String) throws {
    let shown = CBORDiagnostic(showsValues: true).describe(try CBORItem(parsing: hex(text)))
    #expect(shown.filter { !$0.isWhitespace } == notation.filter { !$0.isWhitespace })
  }

  /// A wallet's text must neither control the terminal nor change the direction of text.
  @Test func escapesControlAndFormatCharacters() throws {
    let text = "\"\\\n\r\u{1b}[31m\u{7f}\u{9b}31m\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}ü"
    let shown = CBORDiagnostic().describe(try CBORItem(parsing: CBORValue.text(text).encoded()))
    #expect(
      shown
        == "\"\\\"\\\\\\n\\u{d}\\u{1b}[31m\\u{7f}\\u{9b}31m\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{2028}ü\"")
  }
}
