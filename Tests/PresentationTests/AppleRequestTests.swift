import Base
import Mdoc
import Presentation
import Testing

/// What an app is told to pass to `PKIdentityRequest`.
@Suite struct AppleRequestTests {
  private func request(_ elements: [(String, Retention)], ageOver: [Int] = []) -> PresentationRequest {
    PresentationRequest(documents: [
      DocumentRequest(
        docType: DocType.mDL,
        elements: elements.map { ElementRequest(ElementReference(Namespace.mDL, $0.0), retention: $0.1) },
        ageOver: ageOver)
    ])
  }

  @Test func `says of each element whether and for how long it may be stored, beside the names`() throws {
    let asked = request(
      [
        ("given_name", .none), ("portrait", .days(7)), ("document_number", .unspecified), ("age_over_18", .days(30)),
      ], ageOver: [21])
    let document = try AppleRequest(asked).json(nonce: [1], merchantID: "m")["documents"]?.array?.first
    #expect(
      document?["elements"] == ["givenName", "portrait", "documentNumber", "age(atLeast: 18)", "age(atLeast: 21)"])
    #expect(
      document?["element_intents"] == [
        ["element": "givenName", "intent_to_store": "will_not_store"],
        ["element": "portrait", "intent_to_store": "may_store", "days": 7],
        ["element": "documentNumber", "intent_to_store": "may_store"],
        ["element": "age(atLeast: 18)", "intent_to_store": "may_store", "days": 30],
        ["element": "age(atLeast: 21)", "intent_to_store": "will_not_store"],
      ])
  }

  @Test(arguments: [Retention.none, .days(8), .unspecified])
  func `one of Apple's elements has one intent`(other: Retention) {
    // Both are within `address`.
    let mixed = request([("portrait", .none), ("resident_city", .days(7)), ("resident_address", other)])
    #expect(throws: AppleRequest.Problem.mixedIntents(document: 0, element: 2)) { try AppleRequest(mixed) }
  }

  @Test func `one intent for all of them is fine`() throws {
    let same = request([("resident_city", .days(7)), ("resident_address", .days(7))])
    #expect(try AppleRequest(same).documents.first?.elements.map(\.name) == ["address"])
  }
}
