import Base
import Cryptography
import Longfellow
import Mdoc
import Mock
import TestSupport
import Testing

@testable import Sessions

/// Two documents of one type in one session, and alternatives of elements.
@Suite struct RepeatedTypeTests {
  private static let names = OpenID4VPWebProtocol.Signing.allCases.map { OpenID4VPWebProtocol($0).name }
  private static let number = "document_number"

  /// A licence of another person.
  private static let second: MockDocumentData = {
    var document = MockPerson.mDL
    document[Namespace.mDL, number] = "N0002"
    document[Namespace.mDL, "given_name"] = "Grace"
    return document
  }()

  private static func document(_ identifiers: [String], _ more: KeyValuePairs<String, JSON?> = [:]) -> JSON {
    let elements = identifiers.map { name -> JSON in
      ["namespace": .string(Namespace.mDL), "identifier": .string(name), "intent_to_retain": true]
    }
    return .object(
      [.init("doc_type", .string(DocType.mDL)), .init("elements", .array(elements))]
        + (JSON.members(more).object ?? []))
  }

  private static let both = [document(["given_name", number]), document(["family_name", number])]

  /// The session after the response of a wallet that has these documents.
  private func session(
    _ documents: [JSON], held: [MockDocumentData], by name: String = "openid4vp-v1-unsigned", all: Bool = true,
    _ fixture: WebFixture? = nil, changing change: (JSON) -> JSON = { $0 }
  ) async throws -> JSON {
    let fixture = try fixture ?? self.fixture()
    let body: JSON = [
      "protocols": [.string(name)], "origin": .string(WebFixture.origin), "documents": .array(documents),
      "all_documents": .bool(all),
    ]
    let created = try await fixture.service.createSession(body, as: fixture.full).body
    let id = try #require(created["id"]?.string)
    let wallet = MockWallet(authority: fixture.wallet.authority, documents: held)
    let data: JSON
    if name == "openid4vp" {
      let object = try await fixture.service.walletRequest(id, of: "shop")
      data = try wallet.answer(requestObject: object, at: fixture.clock.now).data
    } else {
      let request = try #require(created["requests"]?.array?.first?["data"])
      data = try wallet.answer(
        digitalCredential: name, data: request, origin: WebFixture.origin, at: fixture.clock.now
      ).data
    }
    return try await fixture.service.submit(
      ["protocol": .string(name), "data": change(data)], to: id, as: fixture.full
    ).body
  }

  private func fixture(evidenceKey: EvidenceKey? = nil, isEncrypted: Bool = true) throws -> WebFixture {
    let protocols: [any WalletProtocol] = [OpenID4VPRedirectProtocol(), AnnexCProtocol()]
    return try WebFixture(
      OpenID4VPWebProtocol.Signing.allCases.map(OpenID4VPWebProtocol.init) + protocols,
      readers: [try OpenID4VPServiceFixture().shop.readers[0]], evidenceKey: evidenceKey, isEncrypted: isEncrypted)
  }

  // MARK: Two of one type

  @Test(arguments: names + ["openid4vp"])
  func `two licences match two queries, each by its id`(name: String) async throws {
    let reply = try await session(Self.both, held: [MockPerson.mDL, Self.second], by: name)
    #expect(reply.status == "verified", "\(reply)")
    let documents = try #require(reply["result"]?["documents"]?.array)
    #expect(documents.map { $0["document_request_index"] } == [0, 1])
    #expect(documents[0]["elements"]?[Namespace.mDL] == ["given_name": "Ada", "document_number": "M18013505"])
    #expect(documents[1]["elements"]?[Namespace.mDL] == ["family_name": "Morgan", "document_number": "N0002"])
  }

  /// The ids decide, and neither the order of the members nor the type.
  @Test func `what a wallet returns under the other's id is checked by the other's query`() async throws {
    let plain = try fixture(isEncrypted: false)
    func exchange(_ data: JSON) -> JSON {
      let token = data["vp_token"]
      return ["vp_token": ["document_0": token?["document_1"] ?? .null, "document_1": token?["document_0"] ?? .null]]
    }
    let same = [Self.document([Self.number]), Self.document([Self.number])]
    let held = [MockPerson.mDL, Self.second]
    let reply = try await session(same, held: held, plain, changing: exchange)
    let documents = try #require(reply["result"]?["documents"]?.array)
    #expect(documents.map { $0["document_request_index"] } == [0, 1])
    #expect(documents[0]["elements"]?[Namespace.mDL]?[Self.number] == "N0002")
    let other = try await session(Self.both, held: held, plain, changing: exchange)
    #expect(other["last_error"]?["code"] == "policy.element_missing", "\(other)")
  }

  @Test func `one licence presented twice is not two`() async throws {
    let once = try await session(Self.both, held: [MockPerson.mDL])
    #expect(once["last_error"]?["code"] == "policy.document_missing" && once["result"] == .null)
    // Issued twice, so each copy has its own device key: the number shows that it is one document.
    let copies = try await session(Self.both, held: [MockPerson.mDL, MockPerson.mDL])
    #expect(copies["last_error"]?["code"] == "policy.document_missing")
    let check = copies["report"]?["checks"]?.array?.first { $0["code"] == "policy.document_missing" }
    #expect(check?["detail"] == "documents[1] may be the same document as documents[0]")
  }

  @Test func `a response to any of two queries of one type has its index`() async throws {
    let reply = try await session(Self.both, held: [MockPerson.mDL], all: false)
    #expect(reply["result"]?["documents"]?.array?.map { $0["document_request_index"] } == [0])
  }

  @Test func `an age is a condition of its own query only`() async throws {
    var child = Self.second
    child[Namespace.mDL, "birth_date"] = .fullDate(try #require(FullDate(year: 2020, month: 1, day: 1)))
    let adult = Self.document([Self.number], ["minimum_age": 18])
    let anybody = Self.document([Self.number])
    #expect(try await session([adult, anybody], held: [MockPerson.mDL, child]).status == "verified")
    let refused = try await session([anybody, adult], held: [MockPerson.mDL, child])
    let reason = refused["last_error"]?["reasons"]?.array?.first
    #expect(reason?["code"] == "policy.age_below_minimum" && reason?["document"] == 1)
  }

  @Test func `evidence of both comes to the same report`() async throws {
    let key = try EvidenceKey(SecretBytes(copying: [UInt8](repeating: 1, count: EvidenceKey.length)))
    let fixture = try fixture(evidenceKey: key)
    let reply = try await session(Self.both, held: [MockPerson.mDL, Self.second], fixture)
    #expect(reply["evidence"] == "kept")
    let sealed = try await fixture.service.evidence(of: try #require(reply["id"]?.string), as: fixture.full).bytes
    #expect(await (try EvidenceBundle(opening: sealed, with: [key])).verify().fault == nil)
  }

  private func faults(
    _ documents: [JSON], _ family: ProtocolFamily, _ protocols: [String], all: Bool = false
  ) -> ServiceError? {
    let decoder = PresentationRequestDecoder(
      for: family, protocols: protocols, circuits: KnownCircuit.all)
    do throws(ServiceError) {
      _ = try decoder.decode(["documents": .array(documents), "all_documents": .bool(all)])
      return nil
    } catch {
      return error
    }
  }

  @Test(
    arguments: [
      (.web, ["openid4vp-v1-signed", "org-iso-mdoc"], "by `org-iso-mdoc`"),
      (.inApp, ["apple-in-app"], "`apple-in-app`"),
      (.redirect, ["openid4vp-iso-18013-7-annex-b"], "`openid4vp-iso-18013-7-annex-b`"),
      (.proximity, ["iso-18013-5-proximity"], "`iso-18013-5-proximity`"), (.web, [], "without OpenID4VP"),
    ] as [(ProtocolFamily, [String], String)])
  func `a protocol that names documents by their types asks for each once`(
    family: ProtocolFamily, protocols: [String], name: String
  ) {
    let error = faults([Self.document(["given_name"]), Self.document(["portrait"])], family, protocols)
    #expect(error?.code == .apiInvalidRequest && error?.pointers.map(\.pointer) == ["/documents/1/doc_type"])
    #expect(error?.pointers.first?.detail.hasSuffix(name) == true)
  }

  @Test func `proofs do not show that two documents are different`() {
    let proven = [
      Self.document(["age_over_21", Self.number], ["zk": "allowed"]), Self.document(["given_name", Self.number]),
    ]
    let error = faults(proven, .web, ["openid4vp-v1-signed"], all: true)
    #expect(error?.code == .zkNotProvable && error?.pointers.map(\.pointer) == ["/documents/0/zk"])
    #expect(faults(proven, .web, ["openid4vp-v1-signed"]) == nil)
  }

  /// A copy has its own device key, but the same number.
  @Test func `two documents of one type are asked for with their numbers`() {
    let unnumbered = [Self.document([Self.number]), Self.document(["given_name"])]
    let error = faults(unnumbered, .web, ["openid4vp-v1-signed"], all: true)
    #expect(error?.code == .apiInvalidRequest && error?.pointers.map(\.pointer) == ["/documents/1/elements"])
    let both = [Self.document([Self.number]), Self.document(["given_name", Self.number])]
    #expect(faults(both, .web, ["openid4vp-v1-signed"], all: true) == nil)
    #expect(faults([Self.document(["sex"]), Self.document(["given_name"])], .web, ["openid4vp-v1-signed"]) == nil)
  }

  // MARK: Alternatives

  private static func element(_ alternatives: [JSON]) -> JSON {
    [
      "doc_type": "d",
      "elements": [["namespace": "n", "identifier": "i", "alternatives": .array(alternatives)]],
    ]
  }

  private static func other(_ name: String) -> JSON { ["namespace": "n", "identifier": .string(name)] }

  @Test func `alternatives are read in their order, and kept in the store`() throws {
    let request = try PresentationRequestDecoder(for: .web).decode([
      "documents": [Self.element([Self.other("j"), Self.other("k")])]
    ])
    let expected = ["j", "k"].map { ElementReference("n", $0) }
    #expect(request.documents[0].elements[0].alternatives == expected)
    #expect(try StoredForm.decode(PresentationRequest.self, from: StoredForm.encode(request)) == request)
  }

  @Test(
    arguments: [
      ([], .web, [], ""), ([other("i")], .web, [], "/0"), ([other("j"), other("j")], .web, [], "/1"),
      ((0...4).map { other("\($0)") }, .web, [], ""), ([["namespace": "n"]], .web, [], "/0/identifier"),
      ([other("j")], .inApp, ["apple-in-app"], ""),
      ([other("j")], .redirect, ["openid4vp-iso-18013-7-annex-b"], ""),
    ] as [([JSON], ProtocolFamily, [String], String)])
  func `alternatives are few, different, and what the protocol can say`(
    alternatives: [JSON], family: ProtocolFamily, protocols: [String], place: String
  ) {
    let error = faults([Self.element(alternatives)], family, protocols)
    #expect(error?.code == .apiInvalidRequest)
    #expect(error?.pointers.map(\.pointer) == ["/documents/0/elements/0/alternatives\(place)"])
    if let name = protocols.first { #expect(error?.pointers.first?.detail.contains("`\(name)`") == true) }
  }

  @Test func `alternatives count among the elements, and among the ages`() {
    let many = Self.element((0..<4).map { Self.other("\($0)") })["elements"]?.array?.first
    let elements = (0..<26).map { index in
      JSON.object((many?.object ?? []).map { $0.name == "identifier" ? .init($0.name, .string("e\(index)")) : $0 })
    }
    let error = faults([["doc_type": "d", "elements": .array(elements)]], .web, [])
    #expect(error?.pointers.map(\.pointer) == ["/documents"])
    #expect(faults([["doc_type": "d", "elements": .array(elements.dropLast())]], .web, []) == nil)
    let ages = ["age_over_18", "age_over_21", "age_over_25"].map(Self.other)
    #expect(faults([Self.element(ages)], .web, [])?.code == .apiTooManyAgeRequests)
  }

  @Test func `proofs have no alternatives`() {
    var document = Self.element([Self.other("j")]).object ?? []
    document.append(.init("zk", "allowed"))
    let error = faults([.object(document)], .web, ["org-iso-mdoc"])
    #expect(error?.code == .zkNotProvable && error?.pointers.map(\.pointer) == ["/documents/0/zk"])
  }
}
