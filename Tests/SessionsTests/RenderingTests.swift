import Base
import Mdoc
import Testing

@testable import Sessions

@Suite("Rendering")
struct RenderingTests {
  @Test("a result is the contract's, member for member")
  func result() {
    let expected = """
      {"documents":[{"doc_type":"org.iso.18013.5.1.mDL","elements":{"org.iso.18013.5.1":{"given_name":\
      "\(Fixture.personal)","birth_date":"1990-04-12"}},"device_signed_elements":{},"age_over":[{"threshold":21,\
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
