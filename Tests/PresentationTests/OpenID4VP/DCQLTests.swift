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
              ["path": ["org.iso.18013.5.1", "given_name"]],
              ["path": ["org.iso.18013.5.1", "portrait"], "intent_to_retain": true],
              ["path": ["org.iso.18013.5.1", "age_over_18"]],
              ["path": ["org.iso.18013.5.1", "age_over_21"]],
            ],
          ]
        ]
      ])
  }

  private func sets(_ credential: JSON?) -> [String] {
    (credential?["claim_sets"]?.array ?? []).map { set in
      (set.array ?? []).compactMap { $0.string?.replacing("element_", with: "") }.joined()
    }
  }

  @Test func asksForEveryChoiceOfOptionalElementsMostFirst() {
    let optional = [element("organ_donor", isRequired: false), element("sex", isRequired: false)]
    let some = query(DocumentRequest(docType: DocType.mDL, elements: [element("given_name")] + optional))
    let credential = some["credentials"]?.array?.first
    #expect(credential?["claims"]?.array?.compactMap { $0["id"]?.string } == ["element_0", "element_1", "element_2"])
    #expect(sets(credential) == ["012", "01", "02", "0"])
    let nothingRequired = query(DocumentRequest(docType: DocType.mDL, elements: optional))
    #expect(sets(nothingRequired["credentials"]?.array?.first) == ["01", "0", "1"])
    // A single element needs no set.
    let one = query(DocumentRequest(docType: DocType.mDL, elements: [optional[0]]))
    #expect(one["credentials"]?.array?.first?["claims"] == [["path": ["org.iso.18013.5.1", "organ_donor"]]])
    #expect(one["credentials"]?.array?.first?["claim_sets"] == nil)
  }

  @Test func asksForAlternativesAfterTheElementItself() {
    var name = element("family_name", retain: true)
    name.alternatives = [ElementReference(Namespace.mDL, "family_name_latin1"), ElementReference("n", "b")]
    let json = query(DocumentRequest(docType: DocType.mDL, elements: [name, element("sex", isRequired: false)]))
    let credential = json["credentials"]?.array?.first
    #expect(
      credential?["claims"] == [
        ["id": "element_0", "path": ["org.iso.18013.5.1", "family_name"], "intent_to_retain": true],
        ["id": "element_1", "path": ["org.iso.18013.5.1", "sex"]],
        ["id": "element_2", "path": ["org.iso.18013.5.1", "family_name_latin1"], "intent_to_retain": true],
        ["id": "element_3", "path": ["n", "b"], "intent_to_retain": true],
      ])
    #expect(sets(credential) == ["01", "21", "31", "0", "2", "3"])
  }

  /// OpenID4VP 1.0, 6.4.1, and what the conformance suite warns of: no path twice, and each claim in a set.
  @Test(arguments: [(1, 0), (3, 0), (40, 0), (0, 1), (1, 1), (6, 1), (7, 1), (127, 1)], [0, 2])
  func everyClaimIsInASetAndNoPathIsThereTwice(count: (optional: Int, required: Int), alternatives: Int) {
    let (optional, required) = count
    let elements = (0..<optional + required).map { index in
      var wanted = element("e\(index)", isRequired: index >= optional)
      wanted.alternatives = (0..<alternatives).map { ElementReference("n\($0)", "e\(index)") } + [wanted.element]
      return wanted
    }
    let credential = query(DocumentRequest(docType: "d", elements: elements))["credentials"]?.array?.first
    let claims = credential?["claims"]?.array ?? []
    #expect(claims.count == (optional + required) * (1 + alternatives))
    #expect(Set(claims.compactMap { $0["path"]?.text() }).count == claims.count)
    guard let sets = credential?["claim_sets"]?.array else {
      #expect(claims.count == 1)
      return
    }
    #expect(sets.count <= AcceptableElements.mostSets)
    #expect(Set(sets.map { $0.text() }).count == sets.count)
    let named = Set(sets.flatMap { $0.array ?? [] }.compactMap(\.string))
    #expect(named == Set(claims.compactMap { $0["id"]?.string }))
  }

  @Test func ofMoreThanSixtyFourChoicesTheLikeliestAreListed() throws {
    func sets(_ elements: [ElementRequest]) -> [[ElementReference]] {
      AcceptableElements(DocumentRequest(docType: "d", elements: elements)).sets
    }
    // All, all but one, each by itself, none.
    let optional = (1...7).map { element("o\($0)", isRequired: false) }
    #expect(
      sets([element("r")] + optional).map(\.count) == [8] + Array(repeating: 7, count: 7)
        + Array(repeating: 2, count: 7) + [1])
    #expect(sets(optional).map(\.count) == [7] + Array(repeating: 6, count: 7) + Array(repeating: 1, count: 7))
    // Documents of another draft have all elements by their other names.
    let drafts = (1...7).map { index in
      var wanted = element("new\(index)")
      wanted.alternatives = [ElementReference(Namespace.mDL, "old\(index)")]
      return wanted
    }
    let names = sets(drafts).map { $0.map { String($0.identifier.prefix(3)) } }
    #expect(names.first == Array(repeating: "new", count: 7))
    #expect(names.last == Array(repeating: "old", count: 7))
    #expect(names.dropFirst().dropLast().allSatisfy { $0.count { $0 == "old" } == 1 } && names.count == 9)
  }

  @Test func aProofHasEveryElementAndNoSet() throws {
    var document = DocumentRequest(docType: DocType.mDL, elements: [element("sex", isRequired: false)], ageOver: [18])
    document.proofs = ProofRequest(isRequired: false, offering: [])
    let credentials = query(document)["credentials"]?.array
    #expect(credentials?.map { $0["format"]?.string } == ["mso_mdoc_zk", "mso_mdoc"])
    #expect(
      credentials?.first?["claims"]
        == [["path": ["org.iso.18013.5.1", "sex"]], ["path": ["org.iso.18013.5.1", "age_over_18"]]])
    #expect(credentials?.first?["claim_sets"] == nil)
    #expect(sets(credentials?.last) == ["01", "1"])
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
    let some =
      DCQLQuery(request, additions: RequestAdditions(acceptedIssuers: [DocType.mDL: [[1, 2, 3], [0xff, 0xfe]]])).json[
        "credentials"]?.array ?? []
    #expect(some.count == 2)
    #expect(
      some.map { $0["trusted_authorities"] } == [[["type": "aki", "values": ["AQID", "__4"]]], nil])
  }

  /// OpenID4VP 1.0, 6.1: letters, digits, underscores and hyphens, each id once.
  @Test func idsAreThoseThatTheAnswerIsReadBy() {
    let ids = (0..<16).map(DCQLQuery.credentialID)
    #expect(Set(ids).count == 16)
    #expect(
      ids.allSatisfy { $0.utf8.allSatisfy { $0 == 0x5f || (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) } })
  }
}
