import Base
import Mdoc
import Testing

@testable import Sessions

/// The written bodies: the server reads everything that their forms allow.
@Suite struct RequestBodyTests {
  private static let element: JSON = ["namespace": "n", "identifier": "i"]
  private static let document: JSON = ["doc_type": "d", "elements": [element]]
  private static let creation: JSON = ["protocols": ["openid4vp"], "documents": [document]]

  private static func with(_ name: String, _ value: JSON, in body: JSON) -> JSON {
    .object((body.object ?? []).filter { $0.name != name } + [.init(name, value)])
  }

  /// True if null is read for each member, and true if its schema allows it.
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

  @Test func `null is an absent member if the schema allows it, and nowhere else`() throws {
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
      try NewSession(
        parsing: Self.with(member.name, member.value, in: Self.creation), for: RelyingParty(id: "shop"),
        offered: ["openid4vp", "apple-in-app"])
    }
    let found = error?.pointers.first { $0.pointer == pointer }
    #expect(found?.detail.contains(detail) == true, "\(error?.pointers ?? [])")
  }

  @Test func `a template stands for what is asked, and for nothing else`() throws {
    let party = RelyingParty(id: "shop", templates: ["over-18": .age(18)])
    func session(_ members: [JSON.Member]) throws -> NewSession {
      try NewSession(
        parsing: .object([.init("protocols", ["apple-in-app"])] + members), for: party, offered: ["apple-in-app"])
    }
    func pointers(_ members: [JSON.Member]) -> [String]? {
      #expect(throws: ServiceError.self) { try session(members) }?.pointers.map(\.pointer)
    }
    let apple = RelyingParty(
      id: "shop", apple: [AppleConfiguration(merchantID: "m", teamID: "TEAMTEAM01", encryptionKeys: [])],
      templates: party.templates)
    let made = try NewSession(
      parsing: ["protocols": ["apple-in-app"], "template": "over-18"], for: apple, offered: ["apple-in-app"])
    #expect(made.content.request.documents.map(\.ageThresholds) == [[18]])
    #expect(pointers([.init("template", "over-21")])?.contains("/template") == true)
    #expect(pointers([])?.contains("/documents") == true)
    let documents = JSON.Member("documents", [["doc_type": "d", "age_over": [18]]])
    for more in [documents, .init("all_documents", true), .init("purpose_hint", "age")] {
      #expect(pointers([.init("template", "over-18"), more])?.contains("/template") == true, "\(more.name)")
    }
  }

  @Test(
    arguments: [
      (["de": "Altersprüfung", "pt-BR": "x"], nil), ([:], nil), (["d": "x"], "/purpose_translations/d"),
      (["de_AT": "x"], "/purpose_translations/de_AT"), (["de": ""], "/purpose_translations/de"),
      (["de": 1], "/purpose_translations/de"), ("de", "/purpose_translations"),
    ] as [(JSON, String?)])
  func `a purpose has translations by language`(_ translations: JSON, _ pointer: String?) throws {
    let body: JSON = [
      "protocols": ["openid4vp"], "documents": [["doc_type": "d", "age_over": [18]]], "purpose": "Age check",
      "purpose_translations": translations,
    ]
    let party = RelyingParty(id: "shop", page: HostedPage(name: "Shop"))
    func made(_ json: JSON) throws(ServiceError) -> NewSession {
      try NewSession(parsing: json, for: party, offered: ["openid4vp"], publicURL: "https://id.example")
    }
    guard let pointer else {
      let names = try made(body).content.page?.translations.map(\.name)
      #expect(names == translations.object?.map(\.name))
      return
    }
    let error = #expect(throws: ServiceError.self) { try made(body) }
    #expect(error?.pointers.map(\.pointer) == [pointer])
  }

  @Test func `translations need a purpose, and a page to show them`() throws {
    let body: JSON = [
      "protocols": ["openid4vp"], "documents": [["doc_type": "d", "age_over": [18]]],
      "purpose_translations": ["de": "x"],
    ]
    for party in [RelyingParty(id: "shop"), RelyingParty(id: "shop", page: HostedPage(name: "Shop"))] {
      let error = #expect(throws: ServiceError.self) {
        try NewSession(parsing: body, for: party, offered: ["openid4vp"], publicURL: "https://id.example")
      }
      #expect(error?.pointers.map(\.pointer) == ["/purpose_translations"])
    }
  }

  @Test func `Apple's names are checked by the document type, and allowed only in-app`() throws {
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
    #expect(
      near.hasPrefix(place + " must be one of this document type's Apple elements: givenName, familyName, portrait"))
    #expect(near.hasSuffix("; did you mean `givenName`?"))
    #expect(detail("height", DocType.photoID, .inApp)?.hasPrefix(place) == true)
    #expect(detail("givenName", "d", .inApp) == place + " must be one of this document type's Apple elements: none")
    #expect(detail("givenName", DocType.mDL, .web) == place + " is allowed only with `apple-in-app`")
    #expect(
      detail("givenName", DocType.mDL, .inApp, [.init("namespace", "n")])
        == "/documents/0/elements/0/namespace excludes `apple_element`: send one of the two")
  }

  @Test func `each kind of response has a schema, and every protocol leads to one`() throws {
    let schema = SubmitBody.shape.schema
    let choices = (schema["oneOf"]?.array ?? []).compactMap { $0["title"]?.string }
    let mapping = try #require(schema["discriminator"]?["mapping"]?.object)
    #expect(Set(mapping.map(\.name)) == Set(ProtocolFamily.allCases.flatMap(\.protocolNames)))
    #expect(Set(mapping.compactMap { $0.value.string }) == Set(choices.map { "#/components/schemas/\($0)" }))
    // Exactly one matches, with the protocol's own data.
    let data: [String: JSON] = ["apple-in-app": ["encrypted_data": "AA"], "iso-18013-5-proximity": ["handover": "qr"]]
    for member in mapping {
      let body: JSON = ["protocol": .string(member.name), "data": data[member.name] ?? ["response": "AA"]]
      #expect(schema.violations(of: body) == [], "\(member.name)")
    }
    #expect(schema.violations(of: ["protocol": "other", "data": ["response": "AA"]]) != [])
  }
}
