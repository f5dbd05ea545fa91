import Base
import CBOR
import Mock
import Testing

@Suite struct DocumentDataTests {
  @Test func jsonBecomesTypedElements() throws {
    let json = """
      { "doc_type": "org.example.1", "age_over": [18],
        "namespaces": { "org.example.1.ns": {
          "name": "Ada", "sex": 2, "member": true, "score": 1.5, "none": null,
          "birth_date": {"full_date": "1990-04-12"}, "issued": {"tdate": "2024-02-01T00:00:00Z"},
          "mark": {"base64": "AQID"}, "raw": {"hex": "ff00"}, "list": [1, {"full_date": "2000-01-01"}],
          "map": {"b": 1, "a": "x"}, "portrait": {"jpeg_portrait": 5000} } } }
      """
    let data = try MockDocumentData(json: Array(json.utf8))
    #expect(data.docType == "org.example.1" && data.ageThresholds == [18])
    func encoded(_ identifier: String) -> String { Hex.encode(data["org.example.1.ns", identifier]?.encoded() ?? []) }
    #expect(encoded("name") == "63416461")
    #expect(encoded("sex") == "02")
    #expect(encoded("member") == "f5")
    #expect(encoded("score") == "fb3ff8000000000000")
    #expect(encoded("none") == "f6")
    #expect(encoded("birth_date") == "d903ec6a" + Hex.encode(Array("1990-04-12".utf8)))
    #expect(encoded("issued") == "c074" + Hex.encode(Array("2024-02-01T00:00:00Z".utf8)))
    #expect(encoded("mark") == "43010203" && encoded("raw") == "42ff00")
    #expect(encoded("list") == "8201d903ec6a" + Hex.encode(Array("2000-01-01".utf8)))
    #expect(encoded("map") == "a261616178616201")
    #expect(encoded("portrait").hasPrefix("591388ffd8"))
  }

  @Test(arguments: [
    ("9007199254740993", "1b0020000000000001"), ("9223372036854775808", "1b8000000000000000"),
    ("18446744073709551615", "1bffffffffffffffff"), ("18446744073709551616", "c249010000000000000000"),
    ("-9223372036854775809", "3b8000000000000000"), ("-18446744073709551616", "3bffffffffffffffff"),
    ("-18446744073709551617", "c349010000000000000000"),
  ])
  func `An integer keeps its digits on the way to CBOR and back`(text: String, encoded: String) throws {
    let json = #"{"doc_type":"a","age_over":[],"namespaces":{"n":{"e":\#(text)}}}"#
    let data = try MockDocumentData(json: Array(json.utf8))
    #expect(Hex.encode(data["n", "e"]?.encoded() ?? []) == encoded)
    #expect(data.json["namespaces"]?["n"]?["e"]?.text() == text)
  }

  @Test(arguments: [
    ("[", "cannot"), ("{}", "doc_type: is required"), (#"{"doc_type": 1, "namespaces": {}}"#, "doc_type"),
    (#"{"doc_type": "a", "namespaces": {"n": {"d": {"full_date": "1990-02-30"}}}}"#, "not a valid full_date"),
    (#"{"doc_type": "a", "namespaces": {"n": {"d": {"base64": 7}}}}"#, "not a valid base64"),
    (#"{"doc_type": "a", "namespaces": {}, "age_over": [100]}"#, "0 to 99"),
  ])
  func badJSONIsExplained(_ json: String, _ expected: String) {
    do {
      _ = try MockDocumentData(json: Array(json.utf8))
      Issue.record("accepted \(json)")
    } catch let error as MockError {
      guard case .invalidData(let path, let reason) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(!path.isEmpty && !reason.isEmpty)
      #expect(error.description.contains(expected) || expected == "cannot", "\(error)")
    } catch { Issue.record("\(error)") }
  }

  @Test func aListHasOneDocumentOrMore() throws {
    let one = #"{"doc_type": "a", "namespaces": {}}"#
    #expect(try MockDocumentData.list(json: Array(one.utf8)).count == 1)
    #expect(try MockDocumentData.list(json: Array(" [\(one), \(one)]".utf8)).count == 2)
  }

  @Test func thePortraitIsAJPEGOfAnySize() {
    let plain = MockPortrait.jpeg
    #expect(plain.starts(with: [0xff, 0xd8, 0xff]) && plain.suffix(2) == [0xff, 0xd9])
    #expect((2_000...4_000).contains(plain.count))
    for size in [plain.count + 1, plain.count + 3, plain.count + 4, 35_000, 70_000, plain.count + 0xffff + 4] {
      let padded = MockPortrait.jpeg(padded: size)
      #expect(padded.count == size && padded.starts(with: [0xff, 0xd8, 0xff]))
    }
    #expect(MockPortrait.jpeg(padded: 10) == plain)
  }
}
