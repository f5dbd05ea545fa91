import Base
import Mdoc
import Presentation

extension VerificationService {
  /// `GET /v1/verification_sessions/{id}/page`: the content of the hosted page, without any part of a response.
  /// - Parameter isFetched: whether a wallet fetched the request just now.
  /// - Returns: the reply, and true if the session has not ended.
  package func page(
    _ id: String, isFetched: Bool = false, as caller: Caller
  ) async throws(ServiceError) -> (reply: Reply, isWaiting: Bool) {
    let record = try await record(at: try caller.address(of: id))
    if case .redacted = record.state { throw ServiceError(.sessionRedacted) }
    guard let content = record.content, let options = content.page, let page = caller.relyingParty.page else {
      throw ServiceError(.apiNotFound, "This session has no page.")
    }
    let state = record.state(at: clock())
    var view = PageView(
      record: record, content: content, options: options, page: page, state: state, mode: mode,
      isFetched: isFetched)
    // No wallet can respond to a consumed challenge.
    if state.status == .requiresInput {
      // A request of the Digital Credentials API is bound to an origin. The page can use only requests for its own
      // origin.
      if content.origin == publicURL { view.requests = record.webOffers }
      view.walletLink = record.walletLink
    }
    return (Reply(json: PageView.shape.write(view), session: record.address.id), !state.status.isFinal)
  }

  /// The link in the QR code of `GET /v1/verification_sessions/{id}/qr_code`.
  /// - Parameter code: the hash of the page's own response code, if the page has made a code.
  package func walletLink(
    _ id: String, code: ResponseCodeHash? = nil, as caller: Caller
  ) async throws(ServiceError) -> String {
    let record = try await record(at: try caller.address(of: id))
    guard let name = record.offers.first?.protocolName else { throw ServiceError(.sessionRedacted) }
    guard let link = record.walletLink else {
      throw ServiceError(.apiNotFound, "This session has no QR code for a wallet.")
    }
    if let refusal = record.consumeRefusal(protocolName: name, at: clock()) { throw ServiceError(refusal) }
    return WalletPath(record.address.id, code).renaming(link)
  }
}

extension SessionRecord {
  /// The link that opens a wallet; nil if the session has no protocol by redirect or QR code.
  fileprivate var walletLink: String? {
    let offer = offers.first { ProtocolFamily(ofProtocol: $0.protocolName) == .redirect }
    return (try? offer?.data.parsed())?["authorization_request"]?.string
  }
}

struct PageView: Sendable {
  let record: SessionRecord
  let content: SessionContent
  let options: HostedPageOptions
  let page: HostedPage
  let state: SessionState
  let mode: ServerMode
  let isFetched: Bool
  var requests: [ProtocolOffer] = []
  var walletLink: String?

  private func path(of logo: HostedPage.Logo?, _ name: String) -> String? {
    logo.map { _ in "/verify/\(record.address.relyingParty)/\(name)" }
  }

  static let shape = Shape<PageView>.open(
    "VerificationPage", "The data that a session's hosted page shows.", status + party + request)

  private static let status: [WrittenMember<PageView>] = [
    .always("object", { _ in "verification_page" }, .kind, "`verification_page`."),
    .always("id", \.record.address.id.text, .written(like: SessionID.pattern), "The session's id."),
    .always("livemode", \.mode.isLive, .flag, "Whether the server runs in live mode."),
    .always(
      "mode", \.mode, .word,
      "The server's mode. `staging` accepts sandbox documents of real wallets; `test` also mock wallets."),
    .always("status", \.state.status, .word, "The session's state."),
    .always(
      "request_fetched", \.isFetched, .flag, "Whether a wallet fetched the request while this call waited (`wait`)."),
    .always(
      "expires_at", \.record.expiresAt, .seconds,
      "The time at which the session stops accepting a response, in Unix seconds."),
  ]

  private static let party: [WrittenMember<PageView>] = [
    .always("relying_party", \.page.name, .written(), "The relying party's display name."),
    .ifAny("color", \.page.color, .written(like: HostedPage.colorPattern), "The colour of buttons and links."),
    .ifAny("logo_url", { $0.path(of: $0.page.logo, "logo") }, .written(), "The path of the relying party's logo."),
    .ifAny(
      "logo_dark_url", { $0.path(of: $0.page.darkLogo, "logo_dark") }, .written(),
      "The path of the logo for dark backgrounds."),
    .always(
      "shows_reason", \.page.showsReason, .flag, "Whether the page shows the reason for a rejection (`last_error`)."),
    .ifAny("purpose", \.options.purpose, .written(), "The purpose of the request, in the relying party's words."),
    .ifAny(
      "purpose_translations", { $0.options.translations.isEmpty ? nil : $0.options.translations }, .translations,
      "The purpose in further languages."),
    .ifAny("privacy_url", \.page.privacyURL, .written(), "The relying party's privacy notice."),
    .ifAny(
      "return_url", { $0.options.returnAddress(for: $0.record.address.id) }, .written(),
      "The address to which the page sends the person, with the session's id in the query; the page appends its "
        + "`response_code`."),
    .ifAny(
      "redirect_uri", \.content.redirectURI, .written(),
      "The address to which the wallet sends the person, with the response code."),
  ]

  private static let request: [WrittenMember<PageView>] = [
    .always("all_documents", \.content.request.requiresAllDocuments, .flag, "Whether every document is required."),
    .always(
      "documents", { $0.content.request.documents.map(AskedDocument.init) }, AskedDocument.shape.list,
      "The requested documents."),
    .always(
      "digital_credential_requests", \.requests, SessionView.request.list,
      "The requests for `navigator.credentials.get({digital: {requests}})`; none if the page cannot make them."),
    .ifAny("wallet_link", \.walletLink, .written(), "The address that opens a wallet on the same device."),
    .ifAny(
      "last_error", \.state.lastError?.codeOnly, LastError.shape,
      "The code of the failure or cancellation."),
  ]
}

private struct AskedDocument: Sendable {
  let request: DocumentRequest

  private var definition: DocTypeDefinition? { DocTypeCatalogue.definition(of: request.docType) }

  private var elements: [Element] {
    let definition = definition
    func named(_ element: ElementReference) -> NamedElement {
      NamedElement(element, label: definition?.element(element)?.label ?? element.identifier)
    }
    return request.elements.map {
      Element(name: named($0.element), request: $0, alternatives: $0.alternatives.map(named))
    }
  }

  static let shape = Shape<AskedDocument>.open(
    "AskedDocument", "A requested document, with display texts.",
    [
      .always("doc_type", \.request.docType, .written(), "The document type."),
      .always("label", { $0.definition?.label ?? $0.request.docType }, .written(), "The type's display name."),
      .always("elements", \.elements, Element.shape.list, "The requested elements."),
      .always("age_over", \.request.ageThresholds, Shape<Int>.count.list, "The requested age thresholds, in years."),
    ])

  struct Element: Sendable {
    let name: NamedElement
    let request: ElementRequest
    let alternatives: [NamedElement]

    static let shape = Shape<Element>.open(
      "AskedElement", "A requested element, with display texts.",
      [
        .always("namespace", \.name.namespace, .written(), "The element's namespace."),
        .always("identifier", \.name.identifier, .written(), "The element's identifier."),
        .always("label", { $0.name.label ?? "" }, .written(), "The element's display name."),
        .always("is_kept", \.request.retention.isIntended, .flag, "Whether the relying party intends to retain it."),
        .always("required", \.request.isRequired, .flag, "Whether a response without it is rejected."),
        .always("alternatives", \.alternatives, NamedElement.shape.list, "Elements that may replace it."),
      ])
  }
}
