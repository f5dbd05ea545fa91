import Base
import Mdoc
import Testing

@testable import Presentation

@Suite struct DCQLTests {
  private func element(_ name: String, retain: Bool = false, isRequired: Bool = true) -> ElementRequest {
    ElementRequest(ElementReference(Namespace.mDL, name), intentToRetain: retain, isRequired: isRequired)
  }

  private func query(_ documents: DocumentRequest..., requiresAll: Bool = false) -> JSON {
    DCQLQuery(PresentationRequest(documents: documents, requiresAllDocuments: requiresAll)).json
  }

  @Test func asksForEachElementByItsPath() {
    let json = query(
      DocumentRequest(
        docType: DocType.mDL, elements: [element("given_name"), element("portrait", retain: true)], ageOver: [21],
        minimumAge: 18))
    #expect(
      json == [
        "credentials": [
          [
            "id": "document_0", "format": "mso_mdoc", "meta": ["doctype_value": "org.iso.18013.5.1.mDL"],
            "claims": [
              ["path": ["org.iso.18013.5.1", "given_name"], "intent_to_retain": false],
              ["path": ["org.iso.18013.5.1", "portrait"], "intent_to_retain": true],
              ["path": ["org.iso.18013.5.1", "age_over_18"], "intent_to_retain": false],
              ["path": ["org.iso.18013.5.1", "age_over_21"], "intent_to_retain": false],
            ],
          ]
        ]
      ])
  }

  @Test func asksForOptionalElementsFirstAndThenWithoutThem() {
    let json = query(
      DocumentRequest(
        docType: DocType.mDL,
        elements: [element("given_name"), element("organ_donor", isRequired: false), element("sex")]))
    let credential = json["credentials"]?.array?.first
    #expect(credential?["claims"]?.array?.compactMap { $0["id"]?.string } == ["element_0", "element_1", "element_2"])
    #expect(
      credential?["claim_sets"] == [["element_0", "element_1", "element_2"], ["element_0", "element_2"]])
  }

  @Test func whereNothingIsRequiredAnyOneElementWillDo() {
    let optional = [element("sex", isRequired: false), element("height", isRequired: false)]
    let two = query(DocumentRequest(docType: DocType.mDL, elements: optional))
    #expect(
      two["credentials"]?.array?.first?["claim_sets"]
        == [["element_0", "element_1"], ["element_0"], ["element_1"]])
    // No set twice.
    let one = query(DocumentRequest(docType: DocType.mDL, elements: [optional[0]]))
    #expect(one["credentials"]?.array?.first?["claim_sets"] == [["element_0"]])
  }

  @Test func asksForAnyOfSeveralDocumentsByOneSet() {
    let documents = [OpenID4VPFixture.mDL, OpenID4VPFixture.photoID]
    let any = DCQLQuery(PresentationRequest(documents: documents)).json
    #expect(any["credentials"]?.array?.compactMap { $0["id"]?.string } == ["document_0", "document_1"])
    #expect(any["credential_sets"] == [["options": [["document_0"], ["document_1"]]]])
    let all = DCQLQuery(PresentationRequest(documents: documents, requiresAllDocuments: true)).json
    #expect(all["credentials"]?.array?.count == 2)
    #expect(all["credential_sets"] == nil)
    #expect(DCQLQuery(PresentationRequest(documents: [documents[0]])).json["credential_sets"] == nil)
  }

  @Test func namesAuthoritiesOnlyWhereThereAreAny() {
    let request = OpenID4VPFixture.anyDocument
    let none = DCQLQuery(request).json["credentials"]?.array ?? []
    #expect(none.allSatisfy { $0["trusted_authorities"] == nil })
    let some = DCQLQuery(request, trustedAuthorities: [[1, 2, 3], [0xff, 0xfe]]).json["credentials"]?.array ?? []
    #expect(some.count == 2)
    #expect(some.allSatisfy { $0["trusted_authorities"] == [["type": "aki", "values": ["AQID", "__4"]]] })
  }

  /// OpenID4VP 1.0, 6.1: letters, digits, underscores and hyphens, each id once.
  @Test func idsAreThoseThatTheAnswerIsReadBy() {
    let ids = (0..<16).map(DCQLQuery.credentialID)
    #expect(Set(ids).count == 16)
    #expect(
      ids.allSatisfy { $0.utf8.allSatisfy { $0 == 0x5f || (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) } })
  }
}
