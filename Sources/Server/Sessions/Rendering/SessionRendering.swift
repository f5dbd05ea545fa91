import Base

/// Writes sessions as `VerificationSession`, which is one type for every reader.
struct SessionRendering {
  let isLive: Bool
  let now: Timestamp

  /// For an API key. `result` is given by whoever has established that this caller gets it.
  func json(
    _ record: SessionRecord, clientSecret: ClientSecret? = nil, page: PageAddress? = nil, result: JSON? = nil,
    simulatedResult: JSON? = nil
  ) -> JSON {
    var view = view(record, for: .relyingParty)
    view.clientSecret = clientSecret
    view.page = page
    view.result = result
    view.simulatedResult = simulatedResult
    return SessionView.shape.write(view)
  }

  /// For a client secret: nothing personal. `responseCode` is only for the caller that submitted the response.
  func clientView(_ record: SessionRecord, responseCode: ResponseCode? = nil) -> JSON {
    var view = view(record, for: .client)
    view.responseCode = responseCode
    return SessionView.shape.write(view)
  }

  /// As much of the page as `Limits.pageBytes` hold, at least one session.
  func list(_ page: SessionPage, with parts: Set<SessionPart>) -> JSON {
    var data: [JSON] = []
    var bytes = 0
    for record in page.sessions {
      let entry = SessionView.shape.write(view(record, for: .list(parts)))
      bytes += entry.serialized().count
      if bytes > Limits.pageBytes, !data.isEmpty { break }
      data.append(entry)
    }
    return SessionView.list.write(Listed(data: data, hasMore: page.hasMore || data.count < page.sessions.count))
  }

  private func view(_ record: SessionRecord, for reader: SessionView.Reader) -> SessionView {
    SessionView(record: record, state: record.state(at: now), isLive: isLive, now: now, reader: reader)
  }
}

/// A session at one time, for one reader.
struct SessionView: Sendable {
  enum Reader: Sendable {
    /// An API key that reads one session.
    case relyingParty
    /// An API key that reads a list, with these parts of each session.
    case list(Set<SessionPart>)
    /// A client secret: a page or an app.
    case client
  }

  let record: SessionRecord
  let state: SessionState
  let isLive: Bool
  let now: Timestamp
  let reader: Reader
  var clientSecret: ClientSecret?
  var page: PageAddress?
  var result: JSON?
  var simulatedResult: JSON?
  var responseCode: ResponseCode?

  private var isForClient: Bool { if case .client = reader { true } else { false } }
  private var isForAPIKey: Bool { !isForClient }
  private var isWhole: Bool { if case .relyingParty = reader { true } else { false } }
  private func has(_ part: SessionPart) -> Bool {
    if case .list(let parts) = reader { parts.contains(part) } else { true }
  }

  private var lastError: LastErrorView? {
    state.lastError.map { isForClient ? LastErrorView(code: $0.code) : LastErrorView($0) }
  }

  // MARK: The form

  static let shape = Shape<SessionView>.open(
    "VerificationSession",
    "A verification session. A client secret gets fewer members than an API key, and an entry of a list has no `result`.",
    state + exchange + outcome)

  static let list = Listed.shape(of: Shape.any(shape.schema), "VerificationSessionList")

  private static let state: [WrittenMember<SessionView>] = [
    .always("id", \.record.address.id.text, .written(like: SessionID.pattern), "Names the session."),
    .always("object", { _ in "verification_session" }, .kind, "`verification_session`.").when(\.isForAPIKey),
    .always("livemode", \.isLive, .flag, "Whether the server runs in live mode.").when(\.isForAPIKey),
    .always(
      "status", \.state.status.rawValue, .written(SessionStatus.allCases.map(\.rawValue)),
      "The session's state. It ends as verified, failed, canceled or expired, and can then be redacted."),
    .always("created", \.record.created, .seconds, "When the session was created, in Unix seconds.")
      .when(\.isForAPIKey),
    .always(
      "expires_at", \.record.expiresAt, .seconds, "When the session stops to accept a response, in Unix seconds."),
  ]

  private static let exchange: [WrittenMember<SessionView>] = [
    .ifAny(
      "client_secret", \.clientSecret?.text, .written(),
      "The secret for the page or app of this session. Only the reply that creates the session has it."),
    .ifAny(
      "url", { view in view.clientSecret.flatMap { view.page?.unlocked(by: $0) } }, .written(),
      "The hosted page, with the client secret in its fragment. Only the reply that creates the session has it, and only "
        + "if the relying party has a page."),
    .ifAny("origin", \.record.content?.origin, .written(), "The origin of the page that asks, if one was given.")
      .when(\.isForAPIKey),
    .always("requests", \.record.offers, requests, "One request for each protocol, for the wallet.")
      .when { $0.has(.requests) },
    .always(
      "digital_credential_requests", { $0.record.offers.filter(isWeb) }, requests,
      "The requests for `navigator.credentials.get({digital: {requests}})`."
    ).when { $0.isForAPIKey && $0.has(.requests) },
    .orNull(
      "client_reference_id", \.record.content?.clientReferenceID, .written(), "Your own id, as you gave it."
    ).when(\.isForAPIKey),
    .always("metadata", { $0.record.content?.metadata ?? [] }, metadata, "Your own notes, as you gave them.")
      .when(\.isForAPIKey),
  ]

  private static let outcome: [WrittenMember<SessionView>] = [
    .orNull(
      "result", \.result, .any(ResultRendering.shape.schema),
      "What the wallet disclosed. It is in the reply to a submit with an API key, or waits to be read with "
        + "`expand[]=result`."
    ).when(\.isWhole),
    .ifAny(
      "simulated_result", \.simulatedResult, .any(ResultRendering.simulated.schema),
      "The response of Apple's simulator or test profile, in test mode only. It proves nothing."),
    .orNull(
      "result_expires_at", \.record.results.expiresAt, .seconds,
      "Until when a waiting result can be read, in Unix seconds."
    ).when(\.isForAPIKey),
    .ifAny(
      "evidence", { $0.record.results.seen(at: $0.now).evidence?.rawValue },
      .written(EvidenceStatus.allCases.map(\.rawValue)),
      "Whether a sealed bundle is kept, if the relying party's policy asks for evidence."
    ).when(\.isForAPIKey),
    .orNull("report", \.record.report, ReportRendering.written, "The checks of the attempt; null before one.")
      .when { $0.isForAPIKey && $0.has(.report) },
    .orNull(
      "last_error", \.lastError, LastErrorView.shape, "Why the session failed or was canceled; null if it was not."),
    .ifAny(
      "response_code", \.responseCode?.text, .written(),
      "Only in the reply that ends a session that was reached by a link: the relying party needs it to read the result."
    ),
  ]

  // MARK: Parts

  static let request = Shape<ProtocolOffer>(.reference("WalletRequest")) { _, _, _ in
    nil
  } write: {
    ["protocol": .string($0.protocolName), "data": .written($0.data)]
  }
  private static let requests = request.list

  private static func isWeb(_ offer: ProtocolOffer) -> Bool {
    ProtocolFamily(ofProtocol: offer.protocolName) == .web
  }

  private static let metadata = Shape<[SessionContent.MetadataEntry]>(.reference("Metadata")) { _, _, _ in
    nil
  } write: {
    .object($0.map { JSON.Member($0.name, .string($0.value)) })
  }
}

/// Why a session failed or was canceled, as much of it as a reader gets.
struct LastErrorView: Sendable {
  let code: String
  private var reasons: [LastError.Reason]?
  private var walletDescription: String?

  init(_ error: LastError) {
    code = error.code
    reasons = error.reasons
    walletDescription = error.walletDescription
  }

  /// For a reader that gets the code only: a client secret, an event.
  init(code: String) { self.code = code }

  static let shape = Shape<LastErrorView>.open(
    "LastError", "Why a session failed or was canceled. A client secret and an event get the code only.",
    [
      .always("code", \.code, .verdictCode, "The first failed check."),
      .ifAny("reasons", \.reasons, reason.list, "All failed checks, in order."),
      .ifAny(
        "unverified_wallet_description", \.walletDescription, .written(),
        "`error_description` of the wallet's error response: its own words, unverified and possibly personal. Cut to "
          + "\(Limits.errorDescriptionBytes) bytes, without control characters; erased by redaction."),
    ])

  private static let reason = Shape<LastError.Reason>.open(
    "FailureReason", "One failed check.",
    [
      .always("code", \.code, .verdictCode, "The check."),
      .orNull("document", \.document, .count, "The document's index in the response; null if it is about the whole."),
      .always("clause", \.clause, .written(), "The clause of the standard that the response violates."),
      .ifAny("detail", \.detail, .written(), Shape<String>.detail),
    ])
}

/// A page of a list.
struct Listed<Element: Sendable>: Sendable {
  let data: [Element]
  let hasMore: Bool

  static func shape(of element: Shape<Element>, _ title: String) -> Shape<Listed> {
    .open(
      title, "One page of a list.",
      [
        .always("object", { _ in "list" }, .kind, "`list`."),
        .always("data", \.data, element.list, "The entries of this page."),
        .always("has_more", \.hasMore, .flag, "Whether more follow: ask for them with `starting_after`."),
      ])
  }
}

extension Shape<String> {
  /// The kind of an object.
  package static var kind: Shape { .written() }

  /// The name of a check or refusal, which is no enumeration: versions add codes.
  package static func code(_ title: String, _ codes: [Code], _ text: String) -> Shape {
    Shape.written(like: "^[a-z0-9_.]+$").described(
      by: [
        "title": .string(title), "type": "string", "pattern": "^[a-z0-9_.]+$",
        "x-extensible-enum": .array(codes.map { .string($0.rawValue) }),
        "description": .string(text + " Those known to this version; later versions may have more."),
      ])
  }

  /// Every code except those of failed requests. Reports list these codes, and sessions fail with them.
  static let verdictCode = code(
    "VerdictCode", Code.allCases.filter { $0.httpStatus == 200 || $0 == .trustStoreEmpty }, "The code of a check.")

  /// Describes the detail of a failed check.
  static let detail =
    "What was found and what was expected. It names members, elements, certificates or limits, "
    + "never an element's value."
}

/// The replies that sessions, events and reports are written as.
package enum ReplySchemas {
  package static let all: [Schema] = [
    SessionView.shape.schema, SessionView.list.schema, PageView.shape.schema, ReportRendering.shape.schema,
    EventRendering.event.schema, EventRendering.eventList.schema, EventRendering.delivery.schema,
    EventRendering.deliveryList.schema,
  ]
}
