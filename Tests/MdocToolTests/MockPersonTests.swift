import Base
import Mock
import Testing

@testable import MdocTool

/// `mdoc mock person`, and the effect of `--person`.
@Suite struct MockPersonTests {
  private let scratch: Scratch
  private let time = ["--at", "2026-11-20T10:00:00Z"]

  init() async throws {
    scratch = try Scratch()
    #expect(await Run(["mock", "anchors", "--out", scratch("anchors")] + time).status == 0)
  }

  private func answer(_ more: String...) async -> Run {
    await Run(
      ["mock", "response", "--person", scratch("person.json"), "--new-transcript", scratch("t"), "--out", scratch("r")]
        + time + more)
  }

  private func verify() async throws -> JSON {
    let run = await Run(
      ["verify", "response", "--response", scratch("r"), "--transcript", scratch("t"), "--trust", scratch("anchors")]
        + ["--json"] + time)
    #expect(run.status == 0, "\(run.output)")
    return try run.json()
  }

  @Test func `what is printed is read again, to the byte`() async throws {
    let run = await Run("mock", "person")
    #expect(run.status == 0)
    let documents = try MockDocumentData.list(json: Array(run.output.utf8))
    #expect(documents.map(\.docType) == MockPerson.allDocuments.map(\.docType))
    for (own, read) in zip(MockPerson.allDocuments, documents) {
      #expect(own.ageThresholds == read.ageThresholds)
      for space in own.namespaces {
        for element in space.elements {
          let again = read[space.name, element.identifier]
          // A map's members come sorted by their names.
          let isSame = again?.encoded().sorted() == element.value.encoded().sorted()
          #expect(isSame, "\(own.docType) \(element.identifier)")
        }
      }
    }
  }

  @Test(arguments: MockPerson.allDocuments.map(\.docType))
  func `a document of each type is asked for all that it says, and verifies`(docType: String) async throws {
    _ = try scratch.write("person.json", Array(await Run("mock", "person", "--doc-type", docType).output.utf8))
    #expect(await answer().status == 0)
    let document = try await verify()["result"]?["documents"]?.array?.first
    #expect(document?["doc_type"]?.string == docType)
  }

  @Test func `its schema names every typed value that is read, and what it prints has its shape`() async throws {
    let schema = try await Run("mock", "person", "--schema").json()
    #expect(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema")
    let typed = (schema["$defs"]?["value"]?["anyOf"]?.array ?? []).compactMap { $0["required"]?.array?.first?.string }
    let example: [String: JSON] = [
      "full_date": "1990-04-12", "tdate": "2024-02-01T00:00:00Z", "base64": "AA==", "hex": "00", "jpeg_portrait": 0,
    ]
    #expect(Set(typed) == Set(example.keys))
    for name in typed {
      let value = JSON.object([.init(name, example[name] ?? .null)])
      let read = try MockDocumentData(
        json: (["doc_type": "a", "namespaces": ["n": ["e": value]]] as JSON).serialized())
      // Otherwise an unread value would be a map.
      if case .map? = read["n", "e"] { Issue.record("\(name) is a map") }
    }
    let document = schema["$defs"]?["document"]
    #expect(document?["required"] == ["doc_type", "namespaces"] && document?["additionalProperties"] == false)
    let names = Set((document?["properties"]?.object ?? []).map(\.name))
    for printed in try await Run("mock", "person").json().array ?? [] {
      #expect(Set((printed.object ?? []).map(\.name)).isSubset(of: names))
    }
  }

  @Test func `what no verifier accepts is said when it is made, with the code`() async throws {
    let person: JSON = [
      "doc_type": "org.iso.18013.5.1.mDL",
      "namespaces": ["org.iso.18013.5.1": ["family_name": "Moser", "issuing_country": "DE"]],
    ]
    _ = try scratch.write("person.json", person.serialized())
    let run = await answer()
    let refused = await Run(
      ["verify", "response", "--response", scratch("r"), "--transcript", scratch("t"), "--trust", scratch("anchors")]
        + ["--json"] + time)
    let code = try #require(try refused.json()["last_error"]?["code"]?.string)
    #expect(code == "mdoc.issuer.jurisdiction_mismatch")
    #expect(run.status == 0 && run.output.contains("is refused with \(code)"), "\(run.output)")
    #expect(try await answer("--json").json()["codes"] == [.string(code)])
  }

  @Test func `a text that is a date is a full-date where the standard has dates, and a text elsewhere`() async throws {
    let person: JSON = [
      "doc_type": "eu.europa.ec.eudi.pid.1",
      "namespaces": [
        "eu.europa.ec.eudi.pid.1": ["birth_date": "2001-02-03", "family_name": "1999-01-01", "issuing_country": "US"]
      ],
    ]
    _ = try scratch.write("person.json", person.serialized())
    #expect(await answer().status == 0)
    let shown = await Run("inspect", scratch("r"), "--show-values")
    #expect(shown.output.contains("1004(\"2001-02-03\")") && shown.output.contains("\"1999-01-01\""))
    #expect(!shown.output.contains("1004(\"1999-01-01\")"))
  }

  @Test func `a type that the wallet has not is refused, and the nearest named`() async {
    let run = await Run("mock", "person", "--doc-type", "eu.europa.ec.av.2")
    #expect(run.status == 64 && run.error.contains("did you mean eu.europa.ec.av.1?"), "\(run.error)")
  }
}
