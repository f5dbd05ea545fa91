import Base
import Cryptography
import Mdoc
import Mock
import Presentation
import Testing

@testable import Sessions

/// The European age verification profile's link, which holds the request.
@Suite struct AgeVerificationProtocolTests {
  private static let wallet = AgeVerificationProtocol()
  private static let optedIn = OpenID4VPConfiguration(ageVerificationDocTypes: [DocType.europeanAgeVerification])
  private static let request = PresentationRequest(documents: [
    DocumentRequest(docType: DocType.europeanAgeVerification, elements: [], minimumAge: 18)
  ])

  /// A relying party without readers: nobody signs such a request.
  private func fixture(_ configuration: OpenID4VPConfiguration = Self.optedIn) throws -> OpenID4VPServiceFixture {
    try OpenID4VPServiceFixture(readers: [], openID4VP: configuration)
  }

  private func link(_ request: PresentationRequest = Self.request) throws -> (text: String, context: RequestContext) {
    let context = try fixture().context(publicURL: "https://verifier.example")
    let data = try Self.wallet.makeRequest(request, in: context).data
    #expect(data.object?.map(\.name) == ["client_id", "authorization_request"])
    return (try #require(data["authorization_request"]?.string), context)
  }

  private func refusal(
    _ request: PresentationRequest = Self.request, _ configuration: OpenID4VPConfiguration = Self.optedIn,
    publicURL: String? = "https://verifier.example"
  ) throws -> ServiceError? {
    let context = try fixture(configuration).context(publicURL: publicURL)
    do throws(ServiceError) {
      _ = try Self.wallet.makeRequest(request, in: context)
      return nil
    } catch {
      return error
    }
  }

  /// The rows of the OpenID Foundation's verifier plans for `redirect_uri`, `url_query` and `direct_post`.
  @Test func `the link holds every parameter, and no other`() throws {
    let (link, context) = try link()
    #expect(link.hasPrefix("av://?client_id=redirect_uri%3Ahttps%3A%2F%2Fverifier.example%2Fv1%2Fwallet%2Fshop%2F"))
    let pairs = link.dropFirst("av://?".count).split(separator: "&").map { pair in
      let parts = pair.split(separator: "=")
      return (name: String(parts[0]), value: decoded(String(parts[1])))
    }
    #expect(
      pairs.map(\.name) == [
        "client_id", "response_type", "response_mode", "response_uri", "nonce", "state", "dcql_query",
        "client_metadata",
      ])
    let values = Dictionary(pairs.map { ($0.name, $0.value) }) { first, _ in first }
    let uri = "https://verifier.example/v1/wallet/shop/\(context.session.id.text)/response"
    #expect(values["response_uri"] == uri && values["client_id"] == "redirect_uri:" + uri)
    #expect(values["response_type"] == "vp_token" && values["response_mode"] == "direct_post")
    #expect(values["nonce"]?.wholeMatch(of: /[A-Za-z0-9._~-]{16,43}/) != nil)
    let metadata = try JSON(parsing: Array((values["client_metadata"] ?? "").utf8))
    #expect(metadata.object?.map(\.name) == ["vp_formats_supported"])
    let algorithms = metadata["vp_formats_supported"]?["mso_mdoc"]?["deviceauth_alg_values"]?.array ?? []
    #expect(algorithms.contains(-7) && !algorithms.contains(-65537))
    let query = try JSON(parsing: Array((values["dcql_query"] ?? "").utf8))
    let credential = try #require(query["credentials"]?.array?.first)
    #expect(credential["meta"] == ["doctype_value": "eu.europa.ec.av.1"] && credential["format"] == "mso_mdoc")
    let claim = try #require(credential["claims"]?.array?.first)
    #expect(claim["path"] == ["eu.europa.ec.av.1", "age_over_18"] && claim["intent_to_retain"] != true)
  }

  @Test func `each link has a nonce and a state of its own`() throws {
    let links = try (0..<2).map { _ in try link().text.split(separator: "&").map(String.init) }
    for name in ["nonce=", "state="] {
      let values = links.map { $0.first { $0.hasPrefix(name) } }
      #expect(values[0] != nil && values[0] != values[1])
    }
  }

  @Test func `it is offered for the chosen types, keeps nothing, and fits into a QR code`() throws {
    #expect(try refusal() == nil)
    #expect(try refusal(Self.request, OpenID4VPConfiguration())?.code == .apiProtocolUnsupported)
    #expect(try refusal(publicURL: nil)?.code == .apiProtocolUnsupported)
    func pointers(_ document: DocumentRequest) throws -> [String]? {
      try refusal(PresentationRequest(documents: [Self.request.documents[0], document]))?.pointers.map(\.pointer)
    }
    func age(_ elements: [ElementRequest]) -> DocumentRequest {
      DocumentRequest(docType: DocType.europeanAgeVerification, elements: elements)
    }
    let namespace = DocType.europeanAgeVerification
    func element(_ name: String, isKept: Bool = false) -> ElementRequest {
      ElementRequest(ElementReference(namespace, name), intentToRetain: isKept)
    }
    #expect(try pointers(OpenID4VPServiceFixture.request.documents[0]) == ["/documents/1/doc_type"])
    #expect(
      try pointers(age([element("age_over_18"), element("age_over_21", isKept: true)]))
        == ["/documents/1/elements/1/intent_to_retain"])
    // With the hash of a page's response code, at most 2,000 characters.
    var longest = 0
    for count in 1...40 {
      let names = (0..<count).map { element("element_\($0)") }
      let request = PresentationRequest(documents: [age(names)])
      guard let error = try refusal(request) else {
        longest = try max(longest, link(request).text.utf8.count)
        continue
      }
      #expect(error.code == .apiInvalidRequest && error.pointers.map(\.pointer) == ["/documents"])
    }
    #expect((1_700...1_912).contains(longest))
  }

  @Test func `a wallet responds to the link, over the transcript of its client's name`() async throws {
    for (variant, status) in [
      ("good", "verified"), ("openid4vp-client-id-without-prefix", "failed"), ("digest-wrong", "failed"),
    ] {
      guard let variant = variant == "digest-wrong" ? Self.wrongDigest : MockVariant.named(variant) else {
        Issue.record("no variant \(variant)")
        continue
      }
      let fixture = try fixture()
      let session = try await create(fixture, "openid4vp-eu-age-verification")
      let name = "openid4vp-eu-age-verification"
      let link = try #require(session.requestData(name)?["authorization_request"]?.string)
      let wallet = MockWallet(authority: fixture.authority, documents: MockPerson.allDocuments)
      let parameters = try #require(AuthorizationLink(link)).parameters
      let answer = try wallet.answer(parameters: .object(parameters), variant: variant, at: fixture.clock.now)
      #expect(answer.data["response"] == nil && answer.data["vp_token"]?.string != nil)
      let after = try await fixture.submit(answer.data, by: name, to: session)
      #expect(after.status == status, "\(variant.name)")
      if status == "failed" {
        #expect(after["last_error"]?["code"]?.string == variant.codes.first?.rawValue)
        continue
      }
      #expect(after["result"]?["documents"]?.array?.first?["age_over"]?.array?.first?["answer"] == true)
      let error = await #expect(throws: ServiceError.self) {
        try await fixture.submit(answer.data, by: name, to: session)
      }
      #expect(error?.code == .sessionAlreadyUsed)
    }
  }

  private static let wrongDigest = MockVariant.all.first { $0.codes == [.digestMismatch] }

  @Test func `one link is offered beside the browser's API`() async throws {
    let fixture = try fixture()
    let session = try await create(fixture, "openid4vp-v1-unsigned", "openid4vp-eu-age-verification")
    #expect(session["digital_credential_requests"]?.array?.count == 1 && session["requests"]?.array?.count == 2)
    let error = await #expect(throws: ServiceError.self) {
      try await create(fixture, "openid4vp", "openid4vp-eu-age-verification")
    }
    #expect(error?.pointers.map(\.pointer) == ["/protocols"])
  }

  private func create(_ fixture: OpenID4VPServiceFixture, _ protocols: String...) async throws -> JSON {
    let body: JSON = .members([
      "protocols": .array(protocols.map(JSON.string)),
      "documents": [["doc_type": "eu.europa.ec.av.1", "minimum_age": 18]],
      "origin": protocols[0] == "openid4vp" ? nil : "https://shop.example",
    ])
    return try await fixture.service.createSession(body, as: fixture.caller).body
  }

  private func decoded(_ text: String) -> String {
    let parts = text.split(separator: "%", omittingEmptySubsequences: false)
    let bytes = parts.dropFirst().flatMap { (Hex.decode(String($0.prefix(2))) ?? []) + Array($0.dropFirst(2).utf8) }
    return String(decoding: Array((parts.first ?? "").utf8) + bytes, as: UTF8.self)
  }
}
