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
    let isOpen = state.status == .requiresInput
    let json: JSON = .members([
      "object": "verification_page",
      "id": .string(record.address.id.text),
      "livemode": .bool(context.isLive),
      "status": .string(state.status.rawValue),
      "expires_at": .seconds(record.expiresAt),
      "relying_party": .string(page.name),
      "color": page.color.map { .string($0) },
      "logo_url": page.logo.map { _ in .string("/verify/\(caller.relyingParty.id)/logo") },
      "purpose": wishes.purpose.map { .string($0) },
      "privacy_url": page.privacyURL.map { .string($0) },
      "return_url": wishes.returnAddress(for: record.address.id).map { .string($0) },
      "redirect_uri": content.redirectURI.map { .string($0) },
      "all_documents": .bool(content.request.requiresAllDocuments),
      "documents": .array(content.request.documents.map(Self.document)),
      // A used challenge is no wallet's any more.
      "digital_credential_requests": .array(isOpen ? webRequests(record, content) : []),
      "wallet_link": isOpen ? Self.walletLink(record).map { .string($0) } : .none,
      "last_error": state.lastError.map { ["code": .string($0.code)] },
    ])
    return PageReply(json: json, session: record.address.id, isWaiting: !state.status.isFinal)
  }

  /// Requests of the Digital Credentials API are bound to an origin: the page can make those that are bound to its own.
  private func webRequests(_ record: SessionRecord, _ content: SessionContent) -> [JSON] {
    guard content.origin == context.publicURL else { return [] }
    return record.offers.filter { ProtocolFamily(ofProtocol: $0.protocolName) == .web }.map(SessionRendering.request)
  }

  /// The address that opens a wallet; nil if the session has no protocol by redirect or QR code.
  static func walletLink(_ record: SessionRecord) -> String? {
    let offer = record.offers.first { ProtocolFamily(ofProtocol: $0.protocolName) == .redirect }
    return (try? offer?.data.parsed())?["authorization_request"]?.string
  }

  private static func document(_ request: DocumentRequest) -> JSON {
    let definition = DocTypeCatalogue.definition(of: request.docType)
    return [
      "doc_type": .string(request.docType),
      "label": .string(definition?.label ?? request.docType),
      "elements": .array(
        request.elements.map { wish in
          .object(
            named(wish.element, definition) + [
              .init("is_kept", .bool(wish.retention.isIntended)), .init("required", .bool(wish.isRequired)),
              .init("alternatives", .array(wish.alternatives.map { .object(named($0, definition)) })),
            ])
        }),
      "age_over": .array(request.ageThresholds.map { .integer(Int64($0)) }),
    ]
  }

  private static func named(_ element: ElementReference, _ definition: DocTypeDefinition?) -> [JSON.Member] {
    let label = definition?.element(element)?.label ?? element.identifier
    return [
      .init("namespace", .string(element.namespace)), .init("identifier", .string(element.identifier)),
      .init("label", .string(label)),
    ]
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
