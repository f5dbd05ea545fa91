import Base
import CBOR
import COSE
import Cryptography
import Mock
import Presentation
import TestStores
import Testing

@testable import Mdoc
@testable import Sessions

@Suite("Verdicts on responses that the caller received itself")
struct VerificationTests {
  private let fixture: WebFixture
  private let nonce = "n-0S6_WzA2Mj"
  private let thumbprint = [UInt8](repeating: 7, count: 32)

  init() throws { fixture = try WebFixture([ProximityProtocol()]) }

  private var caller: Caller { .apiKey(fixture.shop, scopes: [.verificationsWrite]) }
  private var transcript: SessionTranscript {
    OpenID4VPRecipient.origin(WebFixture.origin).transcript(nonce: nonce, keyThumbprint: thumbprint)
  }

  private static let request: JSON = [
    "documents": [
      [
        "doc_type": "org.iso.18013.5.1.mDL",
        "elements": [["namespace": "org.iso.18013.5.1", "identifier": "given_name"]], "age_over": [21],
      ]
    ]
  ]

  private static func query(_ changes: [(String, JSON)] = []) -> JSON {
    var members: [JSON.Member] = [
      .init("id", "licence"), .init("format", "mso_mdoc"), .init("meta", ["doctype_value": "org.iso.18013.5.1.mDL"]),
      .init("claims", [["path": ["org.iso.18013.5.1", "given_name"]]]),
    ]
    for (name, value) in changes {
      members.removeAll { $0.name == name }
      members.append(.init(name, value))
    }
    return ["credentials": [.object(members)]]
  }

  private func response(
    over transcript: SessionTranscript, _ authentication: MockDeviceAuthentication = .signature, variant: String? = nil
  ) throws -> [UInt8] {
    let variant = try variant.map { try #require(MockVariant.named($0)) } ?? .good
    return try fixture.wallet.answer(
      .standard, transcript: transcript.encoded, authentication: authentication, variant: variant,
      at: fixture.clock.now
    ).deviceResponse
  }

  private func text(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURLSafe(bytes)) }

  /// A body with some members replaced; null leaves one out.
  private func body(_ changes: [(String, JSON)] = []) throws -> JSON {
    var members: [JSON.Member] = [
      .init("response", text(try response(over: transcript))), .init("session_transcript", text(transcript.encoded)),
      .init("request", Self.request),
    ]
    for (name, value) in changes {
      members.removeAll { $0.name == name }
      if !value.isNull { members.append(.init(name, value)) }
    }
    return .object(members)
  }

  private func verify(_ changes: [(String, JSON)] = []) async throws -> JSON {
    try await fixture.service.verify(body(changes), as: caller).body
  }

  private func fault(_ changes: [(String, JSON)]) async throws -> ServiceError? {
    let body = try body(changes)
    return await #expect(throws: ServiceError.self) { try await fixture.service.verify(body, as: caller) }
  }

  @Test("only the requested elements are returned, and only the report and an audit entry are kept")
  func verified() async throws {
    let body = try await verify()
    #expect(body.status == "verified" && body["object"] == "verification" && body["single_use"] == "caller")
    #expect(body["last_error"] == .null && body["livemode"] == false)
    let document = try #require(body["result"]?["documents"]?.array?.first)
    #expect(document["elements"]?["org.iso.18013.5.1"]?.object?.map(\.name) == ["given_name"])
    #expect(document["age_over"]?.array?.count == 1)
    let id = try #require(body["report"]?["id"]?.string)
    let kept = try await fixture.service.report(id, as: fixture.full).body
    #expect(kept == (try JSON(parsing: try #require(body["report"]).serialized())))
    let foreign = Caller.apiKey(RelyingParty(id: "other"), scopes: [.resultsRead])
    #expect(await code { _ = try await fixture.service.report(id, as: foreign) } == .apiNotFound)
    #expect(try await fixture.service.sessions(as: fixture.full).body["data"] == [])
    #expect(try await fixture.service.events(as: fixture.full).body["data"] == [])
    let entries = try await fixture.service.store.auditEntries(of: .standard, after: 0, limit: 10).links
    let entry = try JSON(parsing: try #require(entries.first).entry)
    #expect(entries.count == 1 && entry["report"]?.string == id && entry["protocol"] == "session_transcript")
    #expect(entry["outcome"] == "verified" && entry["session"]?.string == "vs_" + id.dropFirst(3))
  }

  @Test("a rejected response is a 200 without values", arguments: ["device-signature-bit-flipped", "element-changed"])
  func failed(_ variant: String) async throws {
    let known = try #require(MockVariant.named(variant))
    let body = try await verify([("response", text(try response(over: transcript, variant: variant)))])
    #expect(body.status == "failed" && body["result"] == .null)
    #expect(known.codes.map(\.rawValue).contains(body["last_error"]?["code"]?.string ?? ""))
  }

  @Test("the transcript of each protocol is made from its parts, and of other parts is another")
  func handovers() async throws {
    let info = "gmVkY2FwaaA"
    let client = OpenID4VPRecipient.client(id: "x509_san_dns:a.example", responseURI: "https://a.example/r")
    let forms: [(String, JSON, SessionTranscript, String)] = [
      (
        "openid4vp_dc_api",
        ["origin": .string(WebFixture.origin), "nonce": .string(nonce), "jwk_thumbprint": text(thumbprint)], transcript,
        "nonce"
      ),
      (
        "openid4vp",
        ["client_id": "x509_san_dns:a.example", "response_uri": "https://a.example/r", "nonce": .string(nonce)],
        client.transcript(nonce: nonce, keyThumbprint: nil), "response_uri"
      ),
      (
        "org_iso_mdoc", ["origin": .string(WebFixture.origin), "encryption_info": .string(info)],
        AnnexCChallenge.transcript(encryptionInfo: info, origin: WebFixture.origin), "origin"
      ),
    ]
    for (name, parts, transcript, changed) in forms {
      let response = text(try response(over: transcript))
      let body = try await verify([("session_transcript", .null), ("response", response), (name, parts)])
      #expect(body.status == "verified", "\(name): \(body["last_error"] ?? .null)")
      let other = parts.replacing(changed, with: "https://b.example")
      let refused = try await verify([("session_transcript", .null), ("response", response), (name, other)])
      #expect(refused["last_error"]?["code"] == "mdoc.device_auth.signature_invalid")
    }
  }

  @Test("Apple's envelope is opened with the keys of the named merchant alone")
  func apple() async throws {
    let fixture = try AppleServiceFixture()
    let bytes = [UInt8](repeating: 9, count: 32)
    let envelope = try fixture.envelope(nonce: bytes)
    func verify(_ merchant: String, _ nonce: [UInt8]) async throws -> JSON {
      try await fixture.service.verify(
        [
          "response": text(envelope), "apple_in_app": ["nonce": text(nonce), "merchant_identifier": .string(merchant)],
          "request": Self.request,
        ], as: fixture.caller
      ).body
    }
    #expect(try await verify("merchant.one", bytes).status == "verified")
    #expect(try await verify("merchant.one", bytes.reversed() + [1]).status == "failed")
    #expect(await code { _ = try await verify("merchant.two", bytes) } == .apiInvalidRequest)
  }

  @Test("a device MAC needs the reader's key")
  func mac() async throws {
    let reader = try PrivateKey(generatingOn: .p256)
    let engagement = CBORValue.map([
      (key: 0, value: "1.0"), (key: 1, value: [1, .embedded(COSEKey.encode(reader.publicKey))]),
    ]).encoded()
    let inPerson = Proximity.transcript(
      deviceEngagement: engagement, readerKey: COSEKey.encode(reader.publicKey).encoded(), handover: .qr)
    let members: [(String, JSON)] = [
      ("response", text(try response(over: inPerson, .mac(readerKey: reader.publicKey)))),
      ("session_transcript", text(inPerson.taggedBytes)),
    ]
    let pem = JSON.string(String(decoding: try reader.pem(), as: UTF8.self))
    for key in [pem, text(try reader.scalar().exposed())] {
      #expect(try await verify(members + [("reader_key", key)]).status == "verified")
    }
    #expect(try await verify(members)["last_error"]?["code"] == "mdoc.device_auth.mac_not_allowed")
    #expect(try await fault(members + [("reader_key", "AA")])?.pointers.map(\.pointer) == ["/reader_key"])
  }

  @Test("a nonce is used once within a day, by each relying party")
  func nonceID() async throws {
    let named: [(String, JSON)] = [("nonce_id", .string(nonce))]
    #expect(try await verify(named)["single_use"] == "server")
    #expect(await code { _ = try await verify(named) } == .sessionAlreadyUsed)
    fixture.clock.advance(86_399)
    #expect(await code { _ = try await verify(named) } == .sessionAlreadyUsed)
    // A refusal before the response is opened consumes nothing.
    let another: [(String, JSON)] = [("nonce_id", "another")]
    #expect(try await fault(another + [("session_transcript", "AA")]) != nil)
    #expect(try await verify(another)["single_use"] == "server")
  }

  @Test("a response that fails uses its nonce up, too")
  func nonceOfFailure() async throws {
    let named: [(String, JSON)] = [("nonce_id", .string(nonce))]
    #expect(try await verify(named + [("response", "oA")]).status == "failed")
    #expect(await code { _ = try await verify(named) } == .sessionAlreadyUsed)
  }

  @Test("a retry with the same Idempotency-Key gets the same verdict, and its nonce is used once")
  func retry() async throws {
    let body = try body([("nonce_id", .string(nonce))])
    let request = IdempotencyRequest(key: "k", method: "POST", path: VerificationBody.path, body: body.serialized())
    let first = try await fixture.service.verify(body, as: caller, idempotency: request)
    let second = try await fixture.service.verify(body, as: caller, idempotency: request)
    #expect(second.isReplay && second.body["report"]?["id"] == first.body["report"]?["id"])
  }

  @Test("what is asked for may be a DCQL query or a DeviceRequest")
  func otherRequests() async throws {
    let byQuery = try await verify([("request", .null), ("dcql_query", Self.query())])
    #expect(byQuery.status == "verified" && byQuery.givenName != nil)
    let missing = Self.query([("claims", [["path": ["org.iso.18013.5.1", "height"]]])])
    let lacking = try await verify([("request", .null), ("dcql_query", missing)])
    #expect(lacking["last_error"]?["code"] == "policy.element_missing" && lacking["result"] == .null)
    let asked = PresentationRequest(documents: [
      DocumentRequest(
        docType: DocType.mDL,
        elements: [ElementRequest(ElementReference(Namespace.mDL, "given_name"), retention: .none, isRequired: true)],
        ageOver: [], minimumAge: nil)
    ])
    let device = DeviceRequest(asked)
    let byRequest = try await verify([("request", .null), ("device_request", text(device.encoded))])
    #expect(byRequest.status == "verified" && byRequest.givenName != nil)
    #expect(
      try await fault([("request", .null), ("device_request", "oA")])?.pointers.map(\.pointer) == ["/device_request"])
  }

  @Test(
    "a query that the request cannot say is refused",
    arguments: [
      ([("format", "dc+sd-jwt")], "/dcql_query/credentials/0/format"),
      ([("multiple", true)], "/dcql_query/credentials/0/multiple"),
      (
        [("require_cryptographic_holder_binding", false)],
        "/dcql_query/credentials/0/require_cryptographic_holder_binding"
      ),
      ([("trusted_authorities", [])], "/dcql_query/credentials/0/trusted_authorities"),
      (
        [("claims", [["path": ["n", "a"], "values": ["x"]]])], "/dcql_query/credentials/0/claims/0/values"
      ),
      ([("claims", [["path": ["n", "a", "b"]]])], "/dcql_query/credentials/0/claims/0/path"),
      (
        [("claims", [["id": "a", "path": ["n", "a"]]]), ("claim_sets", [["b"]])],
        "/dcql_query/credentials/0/claim_sets/0"
      ),
      (
        [
          (
            "claims",
            [["id": "a", "path": ["n", "a"]], ["id": "b", "path": ["n", "b"]], ["id": "c", "path": ["n", "c"]]]
          ), ("claim_sets", [["a", "b"], ["c"]]),
        ], "/dcql_query/credentials/0/claim_sets"
      ),
    ] as [([(String, JSON)], String)])
  func unsayable(_ changes: [(String, JSON)], _ pointer: String) async throws {
    let error = try await fault([("request", .null), ("dcql_query", Self.query(changes))])
    #expect(error?.pointers.map(\.pointer) == [pointer], "\(error.map { "\($0.pointers)" } ?? "")")
  }

  private static let claims: JSON = [
    ["id": "a", "path": ["n", "a"]], ["id": "b", "path": ["n", "b"]], ["id": "c", "path": ["n", "c"]],
  ]

  /// - Returns: each element with its alternatives; an optional one in parentheses.
  private func elements(_ sets: JSON) throws -> [String] {
    var faults = Faults()
    let query = Self.query([("claims", Self.claims), ("claim_sets", sets)])
    let input = DCQLQuery.shape.read(query, "", &faults)?.input(at: "", &faults)
    return try #require(input).documents[0].elements.map { element in
      let names = ([element.identifier ?? ""] + element.alternatives.map(\.identifier)).joined(separator: "|")
      return element.isRequired ? names : "(\(names))"
    }
  }

  @Test("claim sets become alternatives, or optional elements where they contain each other")
  func claimSets() throws {
    #expect(try elements([["a", "b"], ["a", "c"]]) == ["a", "b|c"])
    #expect(try elements([["a", "b", "c"], ["a", "b"]]) == ["a", "b", "(c)"])
    #expect(try elements([["a"], ["b"], ["c"]]) == ["a|b|c"])
    #expect(try elements([["b"]]) == ["b"])
  }

  @Test(
    "of several credentials all must come, or any one, as the sets say",
    arguments: [
      (nil, true), ([["options": [["x", "y"]]]], true), ([["options": [["x"], ["y"]]]], false),
      ([["options": [["x"]]]], nil), ([["options": [["x", "y"], ["y"]]]], nil),
      ([["options": [["x"], ["y"]], "required": false]], nil),
    ] as [(JSON?, Bool?)])
  func credentialSets(_ sets: JSON?, _ isAll: Bool?) throws {
    func credential(_ id: JSON) -> JSON {
      [
        "id": id, "format": "mso_mdoc", "meta": ["doctype_value": id],
        "claims": [["path": ["org.iso.18013.5.1", "given_name"]]],
      ]
    }
    let query = JSON.members(["credentials": [credential("x"), credential("y")], "credential_sets": sets])
    var faults = Faults()
    let input = DCQLQuery.shape.read(query, "", &faults)?.input(at: "", &faults)
    #expect(faults.isEmpty == (isAll != nil))
    if let isAll { #expect(input?.requiresAllDocuments == isAll) }
  }

  @Test(
    "what is wrong is refused by its pointer",
    arguments: [
      ([("response", .null)], "/response"), ([("response", "=")], "/response"),
      ([("session_transcript", .null)], "/session_transcript"), ([("session_transcript", "oA")], "/session_transcript"),
      ([("org_iso_mdoc", ["origin": "o", "encryption_info": "e"])], "/org_iso_mdoc"),
      ([("request", .null)], "/request"), ([("dcql_query", query())], "/dcql_query"),
      ([("request", ["documents": []])], "/request/documents"),
      ([("request", ["documents": [["doc_type": "d"]]])], "/request/documents/0"),
      ([("nonce_id", "")], "/nonce_id"), ([("at", -1)], "/at"), ([("transcript", "AA")], "/transcript"),
      (
        [("session_transcript", .null), ("openid4vp_dc_api", ["origin": "o", "nonce": "n", "jwk_thumbprint": "AA"])],
        "/openid4vp_dc_api/jwk_thumbprint"
      ),
      (
        [("session_transcript", .null), ("apple_in_app", ["nonce": "AA", "merchant_identifier": "m"])],
        "/apple_in_app/nonce"
      ),
    ] as [([(String, JSON)], String)])
  func refused(_ changes: [(String, JSON)], _ pointer: String) async throws {
    let error = try await fault(changes)
    #expect(error?.pointers.map(\.pointer) == [pointer], "\(error.map { "\($0.pointers)" } ?? "")")
    #expect(error?.httpStatus == 400)
  }

  @Test("a time is pinned in test mode, and refused elsewhere")
  func pinnedTime() async throws {
    let later = JSON.integer((fixture.clock.now + 40 * 365 * 86_400).secondsSince1970)
    #expect(try await verify([("at", later)]).status == "failed")
    let live = try Fixture(store: InMemoryStore(mode: .staging), mode: .staging)
    let caller = Caller.apiKey(live.shop, scopes: [.verificationsWrite])
    let body = try body([("at", later)])
    let error = await #expect(throws: ServiceError.self) { try await live.service.verify(body, as: caller) }
    #expect(error?.pointers.map(\.pointer) == ["/at"])
  }

  @Test("without a record of the outcome there is no verdict")
  func brokenStore() async throws {
    let broken = try Fixture(store: RecordingStore(failsOutcomes: true))
    let caller = Caller.apiKey(broken.shop, scopes: [.verificationsWrite])
    let body = try body()
    #expect(await code { _ = try await broken.service.verify(body, as: caller) } == .apiStoreUnavailable)
  }
}
