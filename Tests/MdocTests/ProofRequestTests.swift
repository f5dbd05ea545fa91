import Base
import Longfellow
import TestSupport
import Testing

@testable import Mdoc
@testable import Mock

/// Z62, Z63: plain documents in response to a request for proofs.
@Suite struct PlainAnswerTests {
  private let attack: Attack

  init() throws { attack = try Attack() }

  private func reasons(isRequired: Bool, change: @escaping MockChange<ResponseDraft> = { _ in }) throws -> [Code] {
    var request = Attack.request
    request.documents[0].proofs = try ProofRequest(
      of: request.documents[0], isRequired: isRequired, circuits: KnownCircuit.all)
    return try attack.verify(attack.response(.init(Stages.response, change)), request: request).report.reasons.map(
      \.code)
  }

  @Test func `a plain document where proofs are allowed`() throws {
    #expect(try reasons(isRequired: false) == [])
  }

  @Test func `a plain document where a proof is required`() throws {
    #expect(try reasons(isRequired: true) == [.zkPlainNotAccepted])
  }

  @Test func `a plain document beside a proof`() throws {
    let reasons = try reasons(isRequired: false) { $0.fields["zkDocuments"] = [["documentData": 0, "proof": 0]] }
    #expect(reasons == [.documentUnexpected, .zkDocumentMalformed])
  }
}

/// Z66, Z69: unprovable elements are not requested.
@Suite struct ProofRequestTests {
  private func fault(_ identifiers: [String], namespace: String = Namespace.mDL) -> ProofRequestError? {
    fault(identifiers.map { ElementRequest(ElementReference(namespace, $0)) })
  }

  private func fault(
    _ elements: [ElementRequest], docType: String = DocType.mDL, circuits: [KnownCircuit] = KnownCircuit.all
  ) -> ProofRequestError? {
    do throws(ProofRequestError) {
      _ = try ProofRequest(
        of: DocumentRequest(docType: docType, elements: elements), isRequired: true, circuits: circuits)
      return nil
    } catch {
      return error
    }
  }

  @Test func `one to four elements without parts can be proven`() {
    #expect(fault(["family_name"]) == nil)
    #expect(fault(["family_name", "given_name", "age_over_18", "birth_date"]) == nil)
    #expect(fault([]) == .elementCount(0))
    #expect(fault(["a", "b", "c", "d", "e"]) == .elementCount(5))
    for name in ["driving_privileges", "portrait"] {
      #expect(fault([name]) == .notProvable(ElementReference(Namespace.mDL, name)))
    }
    let long = String(repeating: "x", count: 33)
    #expect(fault([long]) == .notProvable(ElementReference(Namespace.mDL, long)))
  }

  @Test func `elements of one namespace, without alternatives`() {
    let one = ElementReference(Namespace.mDL, "family_name")
    let other = ElementReference("org.iso.18013.5.1.aamva", "DHS_compliance")
    #expect(fault([ElementRequest(one), ElementRequest(other)]) == .severalNamespaces)
    #expect(fault([ElementRequest(one, alternatives: [other])]) == .alternatives(one))
    #expect(fault([ElementRequest(one)], docType: String(repeating: "x", count: 256)) == .documentTypeTooLong)
  }

  @Test func `the circuits at hand for so many elements are offered, the newest first`() throws {
    let document = DocumentRequest(docType: DocType.mDL, elements: [], minimumAge: 18)
    let offered = try ProofRequest(of: document, isRequired: false, circuits: KnownCircuit.all).circuits
    #expect(offered.map(\.version) == [7, 6] && offered.allSatisfy { $0.elements == 1 })
    let two = KnownCircuit.all.filter { $0.elements == 2 }
    #expect(fault([ElementRequest(ElementReference(Namespace.mDL, "sex"))], circuits: two) == .noCircuit(elements: 1))
    // Version 7 has no room for identifiers of 24 bytes.
    let long = ElementRequest(ElementReference(Namespace.mDL, String(repeating: "x", count: 24)))
    let circuits = try ProofRequest(
      of: DocumentRequest(docType: DocType.mDL, elements: [long]), isRequired: false, circuits: KnownCircuit.all
    ).circuits
    #expect(circuits.map(\.version) == [6])
  }
}
