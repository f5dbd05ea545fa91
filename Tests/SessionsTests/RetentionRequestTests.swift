import Base
import Mdoc
import Testing

@testable import Sessions

/// The retention periods that a creation sets.
@Suite struct RetentionRequestTests {
  private func element(_ name: String, _ members: JSON = [:]) -> JSON {
    .object(
      [.init("namespace", .string(Namespace.mDL)), .init("identifier", .string(name))] + (members.object ?? []))
  }

  private func decode(
    _ elements: [JSON], documentDays: JSON? = nil, policy: RetentionPolicy = RetentionPolicy(),
    for family: ProtocolFamily = .web
  ) throws -> [Retention] {
    let document = JSON.members([
      "doc_type": .string(DocType.mDL), "elements": .array(elements), "retain_days": documentDays,
    ])
    let request = try PresentationRequestDecoder(for: family, retention: policy).decode(["documents": [document]])
    return request.documents.flatMap(\.elements).map(\.retention)
  }

  @Test func `an element's own days come before its document's, and those before the policy's`() throws {
    let elements = [
      element("given_name"), element("portrait", ["intent_to_retain": true]),
      element("document_number", ["intent_to_retain": true, "retain_days": 3]),
    ]
    #expect(try decode(elements) == [.none, .unspecified, .days(3)])
    #expect(try decode(elements, policy: .init(days: 14)) == [.none, .days(14), .days(3)])
    #expect(try decode(elements, documentDays: 7, policy: .init(days: 14)) == [.none, .days(7), .days(3)])
  }

  @Test(
    arguments: [
      (["retain_days": 3], nil, "/documents/0/elements/0/retain_days"),
      (["intent_to_retain": false, "retain_days": 3], nil, "/documents/0/elements/0/retain_days"),
      (["intent_to_retain": true, "retain_days": 0], nil, "/documents/0/elements/0/retain_days"),
      (["intent_to_retain": true, "retain_days": 91], nil, "/documents/0/elements/0/retain_days"),
      ([:], 3, "/documents/0/retain_days"), (["intent_to_retain": true], 91, "/documents/0/retain_days"),
    ] as [(JSON, JSON?, String)])
  func `days go with an intent to retain, up to the bound`(_ members: JSON, _ days: JSON?, _ pointer: String) {
    let error = #expect(throws: ServiceError.self) {
      try decode([element("portrait", members)], documentDays: days, policy: .init(longest: 90))
    }
    #expect(error?.code == .apiInvalidRequest && error?.pointers.first?.pointer == pointer)
  }

  @Test(
    arguments: [
      [["apple_element": "address", "intent_to_retain": true], ["i": "resident_city"]],
      [
        ["i": "resident_city", "intent_to_retain": true, "retain_days": 3],
        ["i": "resident_country", "intent_to_retain": true],
      ],
      [["i": "resident_city"], ["apple_element": "address", "intent_to_retain": true]],
    ] as [[JSON]])
  func `in-app, one of Apple's elements has one intent`(_ elements: [JSON]) throws {
    let elements = elements.map { json in
      guard let name = json["i"]?.string else { return json }
      return element(name, .object((json.object ?? []).filter { $0.name != "i" }))
    }
    let error = #expect(throws: ServiceError.self) { try decode(elements, for: .inApp) }
    #expect(error?.code == .apiInvalidRequest && error?.pointers.first?.pointer == "/documents/0/elements/1")
  }

  @Test func `the request comes back from the store as it was`() throws {
    let elements = [Retention.none, .days(3), .unspecified].map {
      ElementRequest(ElementReference("n", "\($0)"), retention: $0)
    }
    for element in elements { #expect(ElementRequest(storedJSON: element.storedJSON) == element) }
  }
}
