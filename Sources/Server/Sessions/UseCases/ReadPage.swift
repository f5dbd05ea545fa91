import Base
import Mdoc
import Presentation

/// What the hosted page of a session needs: who asks, for what and why, how a wallet is reached, and what came of it.
/// Nothing of an answer is in it.
struct ReadPage {
  let context: ServiceContext

  /// - Throws: `api.not_found` where the session has no page.
  func run(_ id: String, as caller: Caller) async throws(ServiceError) -> PageReply {
    let record = try await context.record(at: try caller.address(of: id))
    if case .redacted = record.state { throw ServiceError(.sessionRedacted) }
    guard let content = record.content, let wishes = content.page, let page = caller.relyingParty.page else {
      throw ServiceError(.apiNotFound, "This session has no page.")
    }
    let state = record.state(at: context.clock())
    var view = PageView(
      record: record, content: content, wishes: wishes, page: page, state: state, isLive: context.isLive)
    // A used challenge is no wallet's any more.
    if state.status == .requiresInput {
      view.requests = webRequests(record, content)
      view.walletLink = Self.walletLink(record)
    }
    return PageReply(
      json: PageView.shape.write(view), session: record.address.id, isWaiting: !state.status.isFinal)
  }

  /// Requests of the Digital Credentials API are bound to an origin: the page can make those that are bound to its own.
  private func webRequests(_ record: SessionRecord, _ content: SessionContent) -> [ProtocolOffer] {
    guard content.origin == context.publicURL else { return [] }
    return record.offers.filter { ProtocolFamily(ofProtocol: $0.protocolName) == .web }
  }

  /// The address that opens a wallet; nil if the session has no protocol by redirect or QR code.
  static func walletLink(_ record: SessionRecord) -> String? {
    let offer = record.offers.first { ProtocolFamily(ofProtocol: $0.protocolName) == .redirect }
    return (try? offer?.data.parsed())?["authorization_request"]?.string
  }
}

/// The content of a hosted page (`VerificationPage`).
struct PageView: Sendable {
  let record: SessionRecord
  let content: SessionContent
  let wishes: PageWishes
  let page: HostedPage
  let state: SessionState
  let isLive: Bool
  var requests: [ProtocolOffer] = []
  var walletLink: String?

  static let shape = Shape<PageView>.open(
    "VerificationPage", "What the hosted page of a session shows.", status + party + request)

  private static let status: [WrittenMember<PageView>] = [
    .always("object", { _ in "verification_page" }, .kind, "`verification_page`."),
    .always("id", \.record.address.id.text, .written(like: SessionID.pattern), "The session's id."),
    .always("livemode", \.isLive, .flag, "Whether the server runs in live mode."),
    .always(
      "status", \.state.status.rawValue, .written(SessionStatus.allCases.map(\.rawValue)), "The session's state."),
    .always(
      "expires_at", \.record.expiresAt, .seconds, "When the session stops to accept a response, in Unix seconds."),
  ]

  private static let party: [WrittenMember<PageView>] = [
    .always("relying_party", \.page.name, .written(), "The relying party's name for people."),
    .ifAny("color", \.page.color, .written(like: HostedPage.colorPattern), "The colour of buttons and links."),
    .ifAny(
      "logo_url", { view in view.page.logo.map { _ in "/verify/\(view.record.address.relyingParty)/logo" } },
      .written(), "The path of the relying party's logo."),
    .ifAny("purpose", \.wishes.purpose, .written(), "Why the relying party asks, in its own words."),
    .ifAny("privacy_url", \.page.privacyURL, .written(), "The relying party's privacy notice."),
    .ifAny(
      "return_url", { $0.wishes.returnAddress(for: $0.record.address.id) }, .written(),
      "Where the page sends the person at the end, with the session's id in the query; the page appends its "
        + "`response_code`."),
    .ifAny(
      "redirect_uri", \.content.redirectURI, .written(),
      "Where the wallet sends the person at the end, with the response code."),
  ]

  private static let request: [WrittenMember<PageView>] = [
    .always("all_documents", \.content.request.requiresAllDocuments, .flag, "Whether every document is needed."),
    .always(
      "documents", { $0.content.request.documents.map(AskedDocument.init) }, AskedDocument.shape.list,
      "The requested documents."),
    .always(
      "digital_credential_requests", \.requests, SessionView.request.list,
      "The requests for `navigator.credentials.get({digital: {requests}})`; none if the page cannot make them."),
    .ifAny("wallet_link", \.walletLink, .written(), "The address that opens a wallet on the same device."),
    .ifAny(
      "last_error", { $0.state.lastError.map { LastErrorView(code: $0.code) } }, LastErrorView.shape,
      "Why the session failed or was canceled, by code only."),
  ]
}

/// A requested document with its labels.
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
    "AskedDocument", "A requested document, as a person reads it.",
    [
      .always("doc_type", \.request.docType, .written(), "The document type."),
      .always("label", { $0.definition?.label ?? $0.request.docType }, .written(), "The type's name for people."),
      .always("elements", \.elements, Element.shape.list, "The requested elements."),
      .always("age_over", \.request.ageThresholds, Shape<Int>.count.list, "The requested age thresholds, in years."),
    ])

  struct Element: Sendable {
    let name: NamedElement
    let request: ElementRequest
    let alternatives: [NamedElement]

    static let shape = Shape<Element>.open(
      "AskedElement", "A requested element, as a person reads it.",
      [
        .always("namespace", \.name.namespace, .written(), "The element's namespace."),
        .always("identifier", \.name.identifier, .written(), "The element's identifier."),
        .always("label", { $0.name.label ?? "" }, .written(), "The element's name for people."),
        .always("is_kept", \.request.retention.isIntended, .flag, "Whether the relying party intends to keep it."),
        .always("required", \.request.isRequired, .flag, "Whether the response is refused without it."),
        .always("alternatives", \.alternatives, NamedElement.shape.list, "Elements that may come in its place."),
      ])
  }
}

/// Gives the address that opens a wallet, for a QR code.
struct ReadWalletLink {
  let context: ServiceContext

  /// - Parameter code: the hash of the response code of the page that shows it, if that has made one.
  /// - Throws: `api.not_found` where the session has none, and why no wallet may answer any more.
  func run(_ id: String, code: ResponseCodeHash?, as caller: Caller) async throws(ServiceError) -> String {
    let record = try await context.record(at: try caller.address(of: id))
    guard let name = record.offers.first?.protocolName else { throw ServiceError(.sessionRedacted) }
    guard let link = ReadPage.walletLink(record) else {
      throw ServiceError(.apiNotFound, "No wallet is reached by a QR code in this session.")
    }
    if let refusal = record.consumeRefusal(protocolName: name, at: context.clock()) { throw ServiceError(refusal.code) }
    return WalletPath(record.address.id, code).renaming(link)
  }
}

/// A session for its page.
package struct PageReply: Sendable {
  package let json: JSON
  package let session: SessionID
  /// Whether the session has not come to its end.
  package let isWaiting: Bool
}
