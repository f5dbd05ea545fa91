import Base
import Mdoc
import Testing

@testable import Sessions

@Suite("Rendering")
struct RenderingTests {
  @Test("a result is the contract's, member for member")
  func result() {
    let expected = """
      {"documents":[{"doc_type":"org.iso.18013.5.1.mDL","document_request_index":0,"elements":{"org.iso.18013.5.1":\
      {"given_name":"\(Fixture.personal)","birth_date":"1990-04-12"}},"device_signed_elements":{},"age_over":[{"threshold":21,\
      "answer":true,"proved_by":{"namespace":"org.iso.18013.5.1","identifier":"age_over_25"}}],"missing_elements":\
      [{"namespace":"org.iso.18013.5.1","identifier":"organ_donor"}],"unrequested_elements":[],"issuer":{"country":\
      "US","state_or_province":null,"common_name":"Signer","certificate_sha256":"aa","anchor_sha256":"bb"},\
      "validity":{"signed":1,"valid_from":2,"valid_until":3},"proven_by":"issuer_signature","device_authentication":"signature","revocation":"good"}]}
      """
    #expect(ResultRendering.json(Fixture.presentation).text() == expected)
  }

  @Test("a verdict is what `mdoc verify --json` prints")
  func verdict() {
    let report = VerificationReport(
      verifiedAt: Timestamp(secondsSince1970: 5), trustSnapshot: "5eed",
      checks: [Check(.envelopeMalformed, .passed)],
      documents: [
        DocumentReport(docType: "d", checks: [Check(.issuerUnknown, .failed), Check(.digestMismatch, .notRun)])
      ])
    let json = VerdictRendering.json(.refused(report))
    #expect(json.object?.map(\.name) == ["status", "last_error", "result", "report", "nothing_disclosed"])
    #expect(json["last_error"]?["reasons"]?.array?.first?["document"] == 0)
    #expect(
      json["report"]?.object?.map(\.name) == [
        "verified_at", "trust_snapshot", "revocation_policy", "checks", "documents",
      ])
    #expect(
      json["report"]?["documents"]?.array?.first?["checks"]?.array?.last == [
        "code": "mdoc.digest.mismatch", "outcome": "not_run", "clause": .string(Code.digestMismatch.entry.clause),
      ])
  }

  @Test(
    "values are JSON's own where it has one",
    arguments: [
      (.text("Ada"), "Ada"), (.integer(-7), -7), (.bool(true), true), (.null, .null), (.double(0.5), .double(0.5)),
      (.dateTime("2026-11-20T10:00:00Z"), "2026-11-20T10:00:00Z"),
      (.bytes([0xff, 0xd8, 0xff, 0xe0]), ["media_type": "image/jpeg", "base64": "/9j/4A=="]),
      (.bytes([1]), ["base64": "AQ=="]),
      (
        .bytes([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ["media_type": "image/png", "base64": "iVBORw0KGgo="]
      ),
      (.array([.integer(1), .text("a")]), [1, "a"]),
      (
        .map([.init(key: .integer(1), value: .bool(false)), .init(key: .text("b"), value: .null)]),
        ["1": false, "b": .null]
      ),
      (
        .map([.init(key: .integer(1), value: .null), .init(key: .text("1"), value: .null)]),
        [[1, .null], ["1", .null]]
      ),
      (.tagged(37, .bytes([1])), ["base64": "AQ=="]),
    ] as [(ElementValue, JSON)])
  func values(_ value: ElementValue, _ expected: JSON) {
    #expect(ElementValueRendering.json(value) == expected)
  }

  static let numbers: [(ElementValue, String)] = [
    (.integer(9_007_199_254_740_991), "9007199254740991"), (.integer(9_007_199_254_740_993), "9007199254740993"),
    (.integer(9_223_372_036_854_775_807), "9223372036854775807"),
    (.integer(9_223_372_036_854_775_808), "9223372036854775808"),
    (.integer(9_223_372_036_854_775_809), "9223372036854775809"),
    (.integer(18_446_744_073_709_551_615), "18446744073709551615"),
    (.integer(-9_223_372_036_854_775_808), "-9223372036854775808"),
    (.integer(-9_223_372_036_854_775_809), "-9223372036854775809"),
    (.integer(-18_446_744_073_709_551_616), "-18446744073709551616"),
    (.tagged(2, .bytes([1] + [UInt8](repeating: 0, count: 8))), "18446744073709551616"),
    (.tagged(3, .bytes([UInt8](repeating: 0xff, count: 10))), "-1208925819614629174706176"),
    (.tagged(2, .bytes([0, 0, 5])), "5"), (.tagged(3, .bytes([])), "-1"), (.tagged(2, .bytes([])), "0"),
    (.double(.nan), #""NaN""#), (.double(.infinity), #""Infinity""#), (.double(-.infinity), #""-Infinity""#),
    (.double(-0.0), "-0.0"), (.double(1e300), "1e+300"), (.double(0.1), "0.1"),
  ]

  @Test("a number is shown with all its digits, and keeps them where it is stored", arguments: numbers)
  func number(_ value: ElementValue, _ text: String) throws {
    #expect(ElementValueRendering.json(value).text() == text)
    #expect(ElementValueRendering.json(.array([.tagged(30, value)])).text() == "[\(text)]")
    let stored = JSON.object([.init("a", ElementValueRendering.json(value))])
    #expect(try StoredForm.text(stored.serialized()).parsed().text() == #"{"a":\#(text)}"#)
    #expect(try StoredForm.decodeOrdered(stored.serialized()).text() == #"{"a":\#(text)}"#)
  }

  @Test("a bignum too long for decimal digits has hexadecimal ones, and none is slow")
  func longBignum() {
    let longest = [UInt8](repeating: 0xff, count: Limits.decimalBytes)
    let text = ElementValueRendering.json(.tagged(2, .bytes(longest))).text()
    // 2^8192 − 1.
    #expect(text.utf8.count == 2_467 && text.hasPrefix("10907481356194159294") && text.hasSuffix("15792895"))
    let hexadecimal = Hex.encode([1] + longest)
    #expect(ElementValueRendering.json(.tagged(2, .bytes([1] + longest))) == .string("0x" + hexadecimal))
    #expect(
      ElementValueRendering.json(.tagged(3, .bytes([1] + longest)))
        == .string("-0x02" + String(repeating: "00", count: Limits.decimalBytes)))
  }

  @Test("JSON comes back from a store as it went in")
  func ordered() throws {
    let json: JSON = ["z": [1, "o", [], .null], "a": ["b": [:], "a": true], "o": "a"]
    #expect(try StoredForm.decodeOrdered(json.serialized()) == json)
    let before = #"["o","z",["a",1,"o",["a"],null],"a",["o","b",["o"],"a",true],"o","a"]"#
    #expect(try StoredForm.decodeOrdered(Array(before.utf8)) == json)
    #expect(try StoredForm.text(Array(before.utf8)).bytes == json.serialized())
    for damaged in ["", "{", "x}", #"["o","#] {
      #expect(throws: StoreError.corrupt("JSON")) { try StoredForm.text(Array(damaged.utf8)) }
    }
  }
}
