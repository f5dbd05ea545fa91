import Base
import Mdoc
import Testing

@testable import Sessions

@Suite("Creating a session")
struct CreationTests {
  @Test("replies with the session object in the contract's order")
  func shape() async throws {
    let fixture = try Fixture()
    let reply = try await fixture.service.createSession(Fixture.creation, as: fixture.full)
    #expect(reply.status == 201)
    let body = reply.body
    #expect(
      body.object?.map(\.name) == [
        "id", "object", "livemode", "status", "created", "expires_at", "client_secret", "requests",
        "digital_credential_requests", "client_reference_id", "metadata", "result", "result_expires_at", "report",
        "last_error",
      ])
    #expect(body["id"]?.string?.hasPrefix("vs_") == true)
    #expect(body.status == "requires_input" && body["livemode"] == false)
    #expect(body["expires_at"] == 1_795_000_600)
    #expect(body["requests"]?.array?.first?["protocol"] == "apple-in-app")
    #expect(body["digital_credential_requests"] == [])
    #expect(body["metadata"] == ["k": "v"])
    let stored = try await fixture.service.session(try #require(body["id"]?.string), as: fixture.full)
    #expect(stored.body["client_secret"] == nil)
    #expect(stored.body["requests"] == body["requests"])
  }

  @Test(
    "what is wrong is refused by its pointer",
    arguments: [
      ("surprise", 1, "/surprise", Code.apiUnknownMember),
      ("a/b~c", 1, "/a~1b~0c", .apiUnknownMember),
      ("protocols", ["apple-in-app", "org-iso-mdoc"], "/protocols/1", .apiProtocolUnsupported),
      ("protocols", ["carrier-pigeon"], "/protocols/0", .apiProtocolUnsupported),
      ("protocols", [], "/protocols", .apiInvalidRequest),
      ("protocols", ["apple-in-app", "apple-in-app"], "/protocols/1", .apiInvalidRequest),
      ("documents", [], "/documents", .apiInvalidRequest),
      ("documents", "mDL", "/documents", .apiInvalidRequest),
      ("all_documents", 1, "/all_documents", .apiInvalidRequest),
      ("origin", "https://evil.example", "/origin", .apiOriginNotAllowed),
      ("redirect_uri", "https://shop.example/back", "/redirect_uri", .apiInvalidRequest),
      ("expires_in", 29, "/expires_in", .apiInvalidRequest),
      ("expires_in", 3601, "/expires_in", .apiInvalidRequest),
      ("client_reference_id", "", "/client_reference_id", .apiInvalidRequest),
      ("metadata", ["k": 1], "/metadata/k", .apiInvalidRequest),
    ] as [(String, JSON, String, Code)])
  func refused(_ member: String, _ value: JSON, _ pointer: String, _ code: Code) async throws {
    let fixture = try Fixture()
    let others = (Fixture.creation.object ?? []).filter { $0.name != member }
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.service.createSession(.object(others + [.init(member, value)]), as: fixture.full)
    }
    #expect(error?.code == code)
    #expect(error?.pointers.first?.pointer == pointer)
  }

  @Test(
    "characters are Unicode scalars: what looks like one may be of any length",
    arguments: [
      ("client_reference_id", .string(Fixture.oneGrapheme), "/client_reference_id"),
      ("metadata", .object([.init("k", .string(Fixture.oneGrapheme))]), "/metadata/k"),
      (
        "metadata", .object([.init(Fixture.oneGrapheme, "v")]),
        "/metadata/e" + String(repeating: "\u{301}", count: 189) + "…"
      ),
    ] as [(String, JSON, String)])
  func scalars(_ member: String, _ value: JSON, _ pointer: String) async throws {
    let fixture = try Fixture()
    let others = (Fixture.creation.object ?? []).filter { $0.name != member }
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.service.createSession(.object(others + [.init(member, value)]), as: fixture.full)
    }
    #expect(error?.pointers.map(\.pointer) == [pointer])
  }

  @Test("a pointer has as much of the caller's own name as helps to find it")
  func longNames() async throws {
    let fixture = try Fixture()
    for (name, pointer) in [
      (String(repeating: "n", count: 199), "/" + String(repeating: "n", count: 199)),
      (String(repeating: "n", count: 1_000_000), "/" + String(repeating: "n", count: 199) + "…"),
    ] {
      let error = await #expect(throws: ServiceError.self) {
        try await fixture.service.createSession(
          .object((Fixture.creation.object ?? []) + [.init(name, 1)]), as: fixture.full)
      }
      #expect(error?.pointers.map(\.pointer) == [pointer])
    }
  }

  @Test("of a thousand faults the first ones are named")
  func manyFaults() async throws {
    let fixture = try Fixture()
    let unknown = (0..<1000).map { JSON.Member("m\($0)", 1) }
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.service.createSession(
        .object((Fixture.creation.object ?? []) + unknown), as: fixture.full)
    }
    #expect(error?.code == .apiUnknownMember)
    #expect(error?.pointers.count == Limits.reportedFaults)
    #expect(error?.pointers.first?.pointer == "/m0")
  }

  @Test(
    "what is wrong with a document is refused by its pointer",
    arguments: [
      (["doc_type": "d"], "/documents/0", .apiInvalidRequest),
      (["doc_type": "d", "age_over": [1, 2, 3]], "/documents/0/age_over", .apiTooManyAgeRequests),
      (["doc_type": "d", "age_over": [18, 21], "minimum_age": 25], "/documents/0/age_over", .apiTooManyAgeRequests),
      (["doc_type": "d", "age_over": [126]], "/documents/0/age_over/0", .apiInvalidRequest),
      (["doc_type": "d", "minimum_age": 0], "/documents/0/minimum_age", .apiInvalidRequest),
      (["age_over": [18]], "/documents/0/doc_type", .apiInvalidRequest),
      (
        ["doc_type": "d", "elements": [["namespace": "n", "identifier": "age_in_years"]], "age_over": [18]],
        "/documents/0/age_over", .apiInvalidRequest
      ),
      (
        ["doc_type": "d", "elements": [["namespace": "n"]]], "/documents/0/elements/0/identifier",
        .apiInvalidRequest
      ),
      (
        ["doc_type": "d", "elements": [["namespace": "n", "identifier": "i", "retain": true]]],
        "/documents/0/elements/0/retain", .apiUnknownMember
      ),
    ] as [(JSON, String, Code)])
  func refusedDocument(_ document: JSON, _ pointer: String, _ code: Code) throws {
    let error = #expect(throws: ServiceError.self) {
      try PresentationRequestDecoder(for: .inApp).decode(["documents": [document]])
    }
    #expect(error?.code == code)
    #expect(error?.pointers.first?.pointer == pointer)
  }

  @Test("a purpose for wallets is one of three, and is said to none in-app")
  func purposeHint() throws {
    func decode(_ hint: JSON, for family: ProtocolFamily = .web) throws -> PurposeHint? {
      try PresentationRequestDecoder(for: family).decode([
        "documents": [["doc_type": "d", "age_over": [18]]], "purpose_hint": hint,
      ]).purposeHint
    }
    #expect(try decode("age") == .age && decode("driving", for: .proximity) == .driving && decode(.null) == nil)
    for (hint, family) in [("fun", .web), (1, .web), ("age", .inApp)] as [(JSON, ProtocolFamily)] {
      let error = #expect(throws: ServiceError.self) { try decode(hint, for: family) }
      #expect(error?.pointers.map(\.pointer) == ["/purpose_hint"])
    }
  }

  @Test("age thresholds end at 99 for the web, and an age may be requested with one")
  func webAges() throws {
    let decoder = PresentationRequestDecoder(for: .web)
    let element: JSON = ["namespace": "n", "identifier": "age_in_years"]
    #expect(throws: ServiceError.self) {
      try decoder.decode(["documents": [["doc_type": "d", "age_over": [100]]]])
    }
    let request = try decoder.decode([
      "documents": [["doc_type": "d", "elements": [element], "age_over": [21, 18]]], "all_documents": true,
    ])
    #expect(request.requiresAllDocuments)
    #expect(request.documents.first?.ageOver == [18, 21])
    #expect(request.documents.first?.elements.first?.isRequired == true)
    #expect(request.documents.first?.elements.first?.intentToRetain == false)
  }
}

extension Fixture {
  /// 513 scalars that are one character to Swift and to a reader.
  fileprivate static let oneGrapheme = "e" + String(repeating: "\u{301}", count: 512)
}
