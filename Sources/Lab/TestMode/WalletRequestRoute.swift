import App
import Base
import Mdoc
import Presentation
import Sessions

/// `POST /v1/test/wallet_requests`, behind the page `/wallet`: reads a link as a wallet does before asking its holder.
/// The session keeps waiting for a response.
struct WalletRequestRoute {
  private struct Body: Equatable {
    let link: String

    static let shape = Shape.object(
      "CreateMockWalletRequest", "A link of one of this server's sessions.", Body.init,
      Field(
        "link", \.link, .text(1...4096),
        "The link of a page or QR code: `authorization_request` of a session, or `wallet_link` of its page."))
  }

  let wallet: MockWalletEndpoint

  var route: Route {
    Route(
      .post, "/v1/test/wallet_requests", "createMockWalletRequest", "Read a link as a wallet does",
      "Returns the client, the requested elements and every check of the request. Respond with a mock wallet's response.",
      access: .apiKey([.sessionsWrite]), body: .reading(Body.shape, [Self.example]),
      success: .json("MockWalletRequest"), problems: MockWalletEndpoint.problems
    ) { call throws(ServiceError) in
      let text = try Body.shape.value(of: call.body).link
      guard let link = AuthorizationLink(text) else {
        throw .invalidMember("/link", "must be a link with a request, such as `openid4vp://?client_id=…`")
      }
      let pending = try await pending(link, call)
      let address = link.requestURI
      let object = try await wallet.requestObject(pending, at: address ?? text, nil, call)
      let content =
        address == nil ? .parameters(.object(link.parameters)) : RequestJudgement.Content.object(object ?? [])
      let judgement = RequestJudgement(of: content, arrived: .init(link: link), at: call.application.clock())
      let shown = MockWalletRequest(pending: pending, requestURI: address ?? text, judgement: judgement)
      return Reply(json: MockWalletRequest.shape.write(shown), session: pending.session)
    }
  }

  private static let example = RequestExample(
    "link", "The link of a session by `openid4vp`.",
    [
      "link":
        "openid4vp://?client_id=x509_hash%3AAA&request_uri=http%3A%2F%2F127.0.0.1%3A8080%2Fv1%2Fwallet%2Ftest%2Fvs_AAAAAAAAAAAAAAAAAAAAAA%2Frequest"
    ])

  /// The request of the link's session.
  private func pending(_ link: AuthorizationLink, _ call: RouteCall) async throws(ServiceError) -> PendingRequest {
    let address = Self.address(in: link)
    let name = address?.split(separator: "/").dropLast().last
    guard let path = name.flatMap({ WalletPath(String($0)) }) else { throw Self.foreign }
    // A session offers at most one protocol with a link.
    for protocolName in ProtocolFamily.redirect.protocolNames {
      do throws(ServiceError) {
        let pending = try await call.service.pendingRequest(
          path.session.text, by: protocolName, as: call.authenticated())
        let own = pending.data["authorization_request"]?.string.flatMap(AuthorizationLink.init).flatMap(Self.address)
        guard own.map(path.renaming) == address else { throw Self.foreign }
        return pending
      } catch  where error.code == .sessionProtocolMismatch {
        continue
      }
    }
    throw Self.foreign
  }

  /// The address that contains the session's name.
  private static func address(in link: AuthorizationLink) -> String? {
    link.requestURI ?? link["response_uri"]?.string
  }

  private static let foreign = ServiceError.invalidMember("/link", "must be the link of a session of this server")
}

/// A request as the mock wallet shows it to its holder.
struct MockWalletRequest {
  let pending: PendingRequest
  /// `request_uri` of `POST /v1/test/mock_responses`.
  let requestURI: String
  let judgement: RequestJudgement

  static let shape = Shape<MockWalletRequest>.open(
    "MockWalletRequest", "A request, as a wallet reads it.",
    [
      .always("session", \.pending.session.text, .written(like: SessionID.pattern), "The session."),
      .always("protocol", \.pending.protocolName, .written(), "The protocol of the response."),
      .always("request_uri", \.requestURI, .written(), "`request_uri` for the mock wallet's response."),
      .ifAny("response_uri", { $0.claims("response_uri") }, .written(), "The address for the wallet's response."),
      .ifAny("state", { $0.claims("state") }, .written(), "The value to send with an error, such as `access_denied`."),
      .always("client", \.judgement.client, client, "The relying party."),
      .always("documents", \.documents, document.list, "The requested documents, in the request's order."),
      .always(
        "checks", { $0.judgement.checks.map { .known($0) } }, ReportRendering.check.list,
        "The checks that a wallet makes of the request."),
    ])

  private static let client = Shape<RequestJudgement.Client>.open(
    "MockWalletClient", "The relying party, as the request identifies it.",
    [
      .ifAny("id", \.id, .written(), "The client identifier."),
      .ifAny(
        "name", { $0.certificates.first.flatMap { $0.subject.organization ?? $0.subject.commonName } }, .written(),
        "The organization or name in the signer's certificate."),
    ])

  private struct Document {
    let docType: String
    let elements: [Element]

    var definition: DocTypeDefinition? { DocTypeCatalogue.definition(of: docType) }
  }

  private struct Element {
    let reference: ElementReference
    let label: String
    let isKept: Bool
  }

  private static let document = Shape<Document>.open(
    "MockWalletDocument", "A requested document.",
    [
      .always("doc_type", \.docType, .written(), "The document type."),
      .always("label", { $0.definition?.label ?? $0.docType }, .written(), "The type's display name."),
      .always("elements", \.elements, element.list, "The requested elements."),
    ])

  private static let element = Shape<Element>.open(
    "MockWalletElement", "A requested element.",
    [
      .always("namespace", \.reference.namespace, .written(), "The element's namespace."),
      .always("identifier", \.reference.identifier, .written(), "The element's identifier."),
      .always("label", \.label, .written(), "The element's display name."),
      .always("intent_to_retain", \.isKept, .flag, "Whether the relying party intends to retain it."),
    ])

  private func claims(_ name: String) -> String? { judgement.claims?[name]?.string }

  /// The documents in the request's DCQL query. In ISO/IEC TS 18013-7, Annex B, they are in the presentation
  /// definition.
  private var documents: [Document] {
    let claims = judgement.claims
    let queries = claims?["dcql_query"]?["credentials"] ?? claims?["presentation_definition"]?["input_descriptors"]
    return (queries?.array ?? []).map { query in
      let docType = (query["meta"]?["doctype_value"] ?? query["id"])?.string ?? ""
      let definition = DocTypeCatalogue.definition(of: docType)
      let wanted = (query["claims"] ?? query["constraints"]?["fields"])?.array ?? []
      return Document(
        docType: docType,
        elements: wanted.compactMap { wanted in
          var path = wanted["path"]?.array?.compactMap(\.string) ?? []
          // $['namespace']['element']
          if path.count == 1 { path = path[0].split(separator: "'").map(String.init).filter { !"$[]][".contains($0) } }
          guard path.count == 2 else { return nil }
          let reference = ElementReference(path[0], path[1])
          return Element(
            reference: reference, label: definition?.element(reference)?.label ?? reference.identifier,
            isKept: wanted["intent_to_retain"] == true)
        })
    }
  }
}
