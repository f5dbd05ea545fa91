import Base
import Mdoc
import Testing

@testable import Sessions

/// Bodies as they are written: what their forms allow, the server reads.
@Suite struct RequestBodyTests {
  private static let element: JSON = ["namespace": "n", "identifier": "i"]
  private static let document: JSON = ["doc_type": "d", "elements": [element]]
  private static let creation: JSON = ["protocols": ["openid4vp"], "documents": [document]]

  private static func with(_ name: String, _ value: JSON, in body: JSON) -> JSON {
    .object((body.object ?? []).filter { $0.name != name } + [.init(name, value)])
  }

  /// Whether null is read in place of each member, beside whether its schema allows it.
  private func nulls<Value: Equatable>(_ shape: Shape<Value>, _ body: JSON) throws -> [String] {
    let plain = try shape.value(of: body)
    return shape.schema.members.compactMap { member in
      let schema = member.schema["$ref"].map { Schema($0) } ?? member.schema
      let isAllowed = schema.violations(of: .null).isEmpty
      let read = try? shape.value(of: Self.with(member.name, .null, in: body))
      if body[member.name] != nil, isAllowed { return nil }
      return (read == plain) == isAllowed ? nil : member.name
    }
  }

  @Test func `null stands for an absent member where the schema allows it, and nowhere else`() throws {
    #expect(try nulls(CreateSessionBody.shape, Self.creation) == [])
    #expect(try nulls(DocumentInput.shape, Self.document) == [])
    #expect(try nulls(ElementInput.shape, Self.element) == [])
    #expect(try nulls(CancelBody.shape, [:]) == [])
    #expect(try nulls(ProximityInput.shape, [:]) == [])
  }

  @Test(
    arguments: [
      (["protocls": []], "/protocls", "did you mean `protocols`?"),
      (["protocols": ["openid4v"]], "/protocols/0", "did you mean `openid4vp`?"),
      (["documents": [["doc_type": "d", "elemnts": []]]], "/documents/0/elemnts", "did you mean `elements`?"),
      (["documents": [["doc_type": "d", "zk": "require"]]], "/documents/0/zk", "did you mean `required`?"),
      (["purpose_hint": "drive"], "/purpose_hint", "must be `identity`, `driving` or `age`"),
    ] as [(JSON, String, String)])
  func `a name that is nearly known is suggested`(change: JSON, pointer: String, detail: String) throws {
    let member = try #require(change.object?.first)
    let error = #expect(throws: ServiceError.self) {
      try CreateSessionInput(
        parsing: Self.with(member.name, member.value, in: Self.creation), for: RelyingParty(id: "shop"),
        offered: ["openid4vp", "apple-in-app"])
    }
    let found = error?.pointers.first { $0.pointer == pointer }
    #expect(found?.detail.contains(detail) == true, "\(error?.pointers ?? [])")
  }

  @Test func `Apple's names are checked by the document type, and are for in-app alone`() throws {
    func detail(_ name: String, _ docType: String, _ family: ProtocolFamily, _ more: [JSON.Member] = []) -> String? {
      let element = JSON.object([.init("apple_element", .string(name))] + more)
      let documents: JSON = ["documents": [["doc_type": .string(docType), "elements": [element]]]]
      do throws(ServiceError) {
        _ = try PresentationRequestDecoder(for: family).decode(documents)
        return nil
      } catch {
        #expect(error.code == .apiInvalidRequest)
        return error.pointers.map { "\($0.pointer) \($0.detail)" }.joined(separator: "; ")
      }
    }
    #expect(detail("givenName", DocType.mDL, .inApp) == nil)
    let place = "/documents/0/elements/0/apple_element"
    let near = detail("givenname", DocType.mDL, .inApp) ?? ""
    #expect(near.hasPrefix(place + " is none of this document type's: givenName, familyName, portrait"))
    #expect(near.hasSuffix("; did you mean `givenName`?"))
    #expect(detail("height", DocType.photoID, .inApp)?.hasPrefix(place) == true)
    #expect(detail("givenName", "d", .inApp) == place + " is none of this document type's: none")
    #expect(detail("givenName", DocType.mDL, .web) == place + " goes with `apple-in-app` only")
    #expect(
      detail("givenName", DocType.mDL, .inApp, [.init("namespace", "n")])
        == "/documents/0/elements/0/namespace does not go together with `apple_element`")
  }

  @Test func `each kind of response has a schema, and every protocol leads to one`() throws {
    let schema = SubmitBody.shape.schema
    let choices = (schema["oneOf"]?.array ?? []).compactMap { $0["title"]?.string }
    let mapping = try #require(schema["discriminator"]?["mapping"]?.object)
    #expect(Set(mapping.map(\.name)) == Set(ProtocolFamily.allCases.flatMap(\.protocolNames)))
    #expect(Set(mapping.compactMap { $0.value.string }) == Set(choices.map { "#/components/schemas/\($0)" }))
    // Exactly one fits, with the protocol's own data.
    let data: [String: JSON] = ["apple-in-app": ["encrypted_data": "AA"], "iso-18013-5-proximity": ["handover": "qr"]]
    for member in mapping {
      let body: JSON = ["protocol": .string(member.name), "data": data[member.name] ?? ["response": "AA"]]
      #expect(schema.violations(of: body) == [], "\(member.name)")
    }
    #expect(schema.violations(of: ["protocol": "other", "data": ["response": "AA"]]) != [])
  }
}
