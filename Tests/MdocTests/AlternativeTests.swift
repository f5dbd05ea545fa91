import Base
import Mdoc
import Testing

@testable import Mock

/// Elements that satisfy a request in place of others.
@Suite struct AlternativeTests {
  private let attack: Attack

  init() throws { attack = try Attack(docTypes: [DocType.mDL]) }

  private static func element(_ name: String) -> ElementReference { ElementReference(Namespace.mDL, name) }

  private func verify(_ elements: [ElementRequest], returned: [String], minimumAge: Int? = nil) throws -> Verdict {
    var attack = attack
    attack.mock = MockRequest(documents: [
      .init(docType: DocType.mDL, elements: returned.map { (Namespace.mDL, $0) })
    ])
    let document = DocumentRequest(docType: DocType.mDL, elements: elements, minimumAge: minimumAge)
    return try attack.verify(attack.response(.none), request: PresentationRequest(documents: [document]))
  }

  @Test func `an alternative is in the result, and what it stands for is not missing`() throws {
    let request = ElementRequest(
      Self.element("name_of_another_draft"), retention: .days(3),
      alternatives: [Self.element("given_name"), Self.element("family_name")])
    let document = try #require(try verify([request], returned: ["given_name"]).accepted?.documents.first)
    #expect(document.elements.map(\.reference) == [Self.element("given_name")])
    #expect(document.elements.map(\.retention) == [.days(3)] && document.missingElements.isEmpty)
    let none = try verify([request], returned: ["portrait"])
    #expect(none.report.reasons.map(\.code) == [.elementMissing])
    let detail = none.report.documents[0].checks.first { $0.outcome == .failed }?.detail
    let place = "\(Namespace.mDL) given_name, \(Namespace.mDL) family_name"
    #expect(detail == "\(Namespace.mDL) name_of_another_draft (nor its alternatives \(place))")
  }

  /// Whichever of the two comes first in the request.
  @Test(arguments: [false, true])
  func `an element that serves twice is kept for the shorter time, and is missing from neither`(isLast: Bool) throws {
    let represented = ElementRequest(
      Self.element("not_there"), intentToRetain: true, alternatives: [Self.element("given_name")])
    let named = ElementRequest(Self.element("given_name"))
    let verdict = try verify(isLast ? [represented, named] : [named, represented], returned: ["given_name"])
    let document = try #require(verdict.accepted?.documents.first)
    #expect(document.elements.map(\.retention) == [.none] && document.missingElements.isEmpty)
  }

  @Test func `a birth date that came as an alternative proves an age`() throws {
    let request = ElementRequest(Self.element("age_in_years"), alternatives: [Self.element("birth_date")])
    let verdict = try verify([request], returned: ["birth_date"], minimumAge: 18)
    #expect(verdict.accepted?.documents.first?.ageAnswers.map(\.provedBy) == [Self.element("birth_date")])
  }
}
