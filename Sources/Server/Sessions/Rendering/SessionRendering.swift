import Base
import Mdoc

/// Writes sessions as `VerificationSession`, one type for every reader.
struct SessionRendering {
  let isLive: Bool
  let now: Timestamp

  /// The session for an API key. Pass a `result` only to a caller that may read it.
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

  /// The session as the holder of a client secret sees it, without personal data. `responseCode` is only for the
  /// response's submitter.
  func clientView(_ record: SessionRecord, responseCode: ResponseCode? = nil) -> JSON {
    var view = view(record, for: .client)
    view.responseCode = responseCode
    return SessionView.shape.write(view)
  }

  /// Renders as many sessions as fit into `Limits.pageBytes`, at least one.
  func list(_ page: SessionPage, with parts: Set<SessionPart>) -> JSON {
    var data: [JSON] = []
    var bytes = 0
    for record in page.entries {
      let entry = SessionView.shape.write(view(record, for: .list(parts)))
      bytes += entry.serialized().count
      if bytes > Limits.pageBytes, !data.isEmpty { break }
      data.append(entry)
    }
    return SessionView.list.write(Page(entries: data, hasMore: page.hasMore || data.count < page.entries.count))
  }

  private func view(_ record: SessionRecord, for reader: SessionView.Reader) -> SessionView {
    SessionView(record: record, state: record.state(at: now), isLive: isLive, now: now, reader: reader)
  }
}

struct SessionView: Sendable {
  enum Reader: Sendable {
    case relyingParty
    /// The holder of an API key, who reads a list with these parts of each session.
    case list(Set<SessionPart>)
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

  private var lastError: LastError? { isForClient ? state.lastError?.codeOnly : state.lastError }

  static let shape = Shape<SessionView>.open(
    "VerificationSession",
    "A verification session. A client secret gets fewer members than an API key. Entries of a list have no `result`.",
    state + exchange + outcome)

  static let list = Page.shape(of: Shape.any(shape.schema), "VerificationSessionList")

  private static let state: [WrittenMember<SessionView>] = [
    .always("id", \.record.address.id.text, .written(like: SessionID.pattern), "Names the session."),
    .always("object", { _ in "verification_session" }, .kind, "`verification_session`.").when(\.isForAPIKey),
    .always("livemode", \.isLive, .flag, "Whether the server runs in live mode.").when(\.isForAPIKey),
    .always(
      "status", \.state.status, .word,
      "The session's state. A session ends as verified, failed, canceled or expired. It can then be redacted."),
    .always("created", \.record.created, .seconds, "The session's creation time, in Unix seconds.")
      .when(\.isForAPIKey),
    .always(
      "expires_at", \.record.expiresAt, .seconds,
      "The time at which the session stops accepting a response, in Unix seconds."),
  ]

  private static let exchange: [WrittenMember<SessionView>] = [
    .ifAny(
      "client_secret", \.clientSecret?.text, .written(),
      "The secret for this session's page or app. Only the reply that creates the session contains it."),
    .ifAny(
      "url", { view in view.clientSecret.flatMap { view.page?.unlocked(by: $0) } }, .written(),
      "The hosted page, with the client secret in its fragment. Only in the reply that creates the session, and "
        + "only if the relying party has a page."),
    .ifAny("origin", \.record.content?.origin, .written(), "The origin of the requesting page, if one was given.")
      .when(\.isForAPIKey),
    .always("requests", \.record.offers, requests, "One request for each protocol, for the wallet.")
      .when { $0.has(.requests) },
    .always(
      "digital_credential_requests", \.record.webOffers, requests,
      "The requests for `navigator.credentials.get({digital: {requests}})`."
    ).when { $0.isForAPIKey && $0.has(.requests) },
    .orNull("client_reference_id", \.record.content?.clientReferenceID, .written(), "Your own id for the session.")
      .when(\.isForAPIKey),
    .always("metadata", { $0.record.content?.metadata ?? [] }, .metadata, "Your own notes.")
      .when(\.isForAPIKey),
  ]

  private static let outcome: [WrittenMember<SessionView>] = [
    .orNull(
      "result", \.result, .any(ResultRendering.shape.schema),
      "The disclosed data: in the reply to a submit with an API key, or later with `expand[]=result`."
    ).when(\.isWhole),
    .ifAny(
      "simulated_result", \.simulatedResult, .any(ResultRendering.simulated.schema),
      "The response of Apple's simulator or test profile, in test mode only. It proves nothing."),
    .orNull(
      "result_expires_at", \.record.results.expiresAt, .seconds,
      "The expiry of a waiting result, in Unix seconds."
    ).when(\.isForAPIKey),
    .ifAny(
      "evidence", { $0.record.results.seen(at: $0.now).evidence }, .word,
      "Whether an evidence bundle is stored, if the relying party's policy requires evidence."
    ).when(\.isForAPIKey),
    .orNull("report", \.record.report, ReportRendering.written, "The checks of the attempt; null before the attempt.")
      .when { $0.isForAPIKey && $0.has(.report) },
    .orNull(
      "last_error", \.lastError, LastError.shape, "The reason for a failure or cancellation; null without one."),
    .ifAny(
      "response_code", \.responseCode?.text, .written(),
      "Only in the reply that ends a session opened by a link. The relying party needs it to read the result."
    ),
  ]

  static let request = Shape<ProtocolOffer>(.reference("WalletRequest")) { _, _, _ in
    nil
  } write: {
    ["protocol": .string($0.protocolName), "data": .written($0.data)]
  }
  private static let requests = request.list
}

extension LastError {
  static let shape = Shape<LastError>.open(
    "LastError", "The reason for a failure or cancellation. A client secret and an event get only the code.",
    [
      .always("code", \.code, .verdictCode, "The first failed check."),
      .ifAny("reasons", { $0.reasons.isEmpty ? nil : $0.reasons }, reason.list, "All failed checks, in order."),
      .ifAny(
        "unverified_wallet_description", \.walletDescription, .written(),
        "`error_description` of the wallet's error response: the wallet's own text, unverified and possibly personal. Cut to "
          + "\(Limits.errorDescriptionBytes) bytes, without control characters; erased by redaction."),
    ])

  private static let reason = Shape<Reason>.open(
    "FailureReason", "One failed check.",
    [
      .always("code", \.code, .verdictCode, "The check."),
      .orNull("document", \.document, .count, "The document's index in the response; null for the whole response."),
      .always("clause", \.clause, .written(), "The clause of the standard that the response violates."),
      .ifAny("detail", \.detail, .written(), Shape<String>.detail),
    ])
}

extension Page {
  static func shape(of entry: Shape<Entry>, _ title: String) -> Shape<Page> {
    .open(
      title, "One page of a list.",
      [
        .always("object", { _ in "list" }, .kind, "`list`."),
        .always("data", \.entries, entry.list, "The entries of this page."),
        .always("has_more", \.hasMore, .flag, "Whether there are more entries: read them with `starting_after`."),
      ])
  }
}

extension Shape where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
  /// One of the enumeration's words. Later versions may add words.
  static var word: Shape {
    let form = Shape<String>.written(Value.allCases.map(\.rawValue))
    return Shape(form.schema, read: { json, _, _ in json.string.flatMap(Value.init) }, write: { .string($0.rawValue) })
  }
}

extension Shape<String> {
  package static var kind: Shape { .written() }

  /// The name of a check or refusal. Not an enumeration, since later versions add codes.
  package static func code(_ title: String, _ codes: [Code], _ text: String) -> Shape {
    Shape.written(like: "^[a-z0-9_.]+$").described(by: [
      "title": .string(title), "type": "string", "pattern": "^[a-z0-9_.]+$",
      "x-extensible-enum": .array(codes.map { .string($0.rawValue) }),
      "description": .string(text + " This version knows these codes; later versions may have more."),
    ])
  }

  /// Every code of reports and failed sessions. Codes of failed requests are excluded.
  static let verdictCode = code(
    "VerdictCode", Code.allCases.filter { $0.httpStatus == 200 || $0 == .trustStoreEmpty }, "The code of a check.")

  static let detail =
    "The found and expected values: names of members, elements, certificates or limits, "
    + "never an element's value."
}

package enum ReplySchemas {
  package static let all: [Schema] = [
    SessionView.shape.schema, SessionView.list.schema, PageView.shape.schema, ReportRendering.shape.schema,
    EventRendering.event.schema, EventRendering.eventList.schema, EventRendering.delivery.schema,
    EventRendering.deliveryList.schema, VerificationView.shape.schema, UsageView.shape.schema,
  ]
}

/// The `report` of an attempt. The top-level `checks` concern the envelope and the response as a whole.
package enum ReportRendering {
  package static func json(_ report: ReportRecord) -> JSON { shape.write(report) }

  static let shape = shape { .array($0.map(check.write)) }

  /// The report as a part of a reply. This form is faster to write, but cannot be parsed.
  static let written = shape(writeChecks)

  private static func shape(_ write: @escaping @Sendable ([ReportRecord.CheckRecord]) -> JSON) -> Shape<ReportRecord> {
    let checks = Shape<[ReportRecord.CheckRecord]>(check.list.schema, read: { _, _, _ in nil }, write: write)
    let document = Shape<ReportRecord.DocumentRecord>.open(
      "DocumentReport", "The checks of one document of the response.",
      [.always("checks", \.checks, checks, "The checks, in their order.")])
    return .open(
      "VerificationReport", "The report of one attempt. It is immutable and contains no personal data.",
      [
        .ifAny("id", \.id, .written(like: ReportID.pattern), "Names the report."),
        .always(
          "verified_at", \.verifiedAt, .integer(0...Int64.max), "The time of the verification, in Unix seconds."),
        .always("trust_snapshot", \.trustSnapshot, .sha256, "SHA-256 of the trust anchors that were in force."),
        .ifAny(
          "revocation_policy", \.revocationPolicy, .written(RevocationPolicy.allCases.map(\.rawValue)),
          "The relying party's requirement on the revocation status."),
        .always("checks", \.checks, checks, "The checks of the response as a whole."),
        .always("documents", \.documents, document.list, "The checks of each document, in the response's order."),
      ])
  }

  /// One check of a report, or one finding about a trust source.
  package static let check = Shape<ReportRecord.CheckRecord>.open(
    "Check", "One check with its outcome.",
    [
      .always("code", \.code, .verdictCode, "The check."),
      .always(
        "outcome", \.outcome, .written(Check.Outcome.allCases.map(\.rawValue)),
        "The outcome. `not_run` does not mean `passed`; a `warning` does not reject."),
      .always("clause", \.clause, .written(), "The clause of the standard that requires the check."),
      .ifAny("detail", \.detail, .written(), Shape<String>.detail),
    ])

  private static func writeChecks(_ checks: [ReportRecord.CheckRecord]) -> JSON {
    var text: [UInt8] = []
    text.reserveCapacity(2 + checks.count * 112)
    text.append(UInt8(ascii: "["))
    for (index, record) in checks.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      if case .known(let known) = record, known.detail == nil, known.ownClause == nil, let words = words[known.code] {
        text.append(contentsOf: words[known.outcome.index])
      } else {
        text += check.write(record).serialized()
      }
    }
    text.append(UInt8(ascii: "]"))
    return .written(JSONText(written: text))
  }

  /// The JSON of each check without details, indexed by code and outcome. Cached, since checks make up most of a reply.
  private static let words = CodeTable { code in
    Check.Outcome.allCases.map { check.write(.known(Check(code, $0))).serialized() }
  }
}

extension Check.Outcome {
  var index: Int {
    switch self {
    case .passed: 0
    case .failed: 1
    case .notRun: 2
    case .warning: 3
    }
  }
}

extension Shape where Value == [NamedText] {
  static var metadata: Shape {
    let most = Limits.metadataValueCharacters
    return texts(
      "Metadata", "Your own texts, by your own keys.", most: Limits.metadataMembers, names: .text(1...most), 0...most,
      "must be a string of at most \(most) characters")
  }

  /// Texts by their languages.
  static var translations: Shape {
    let most = Limits.purposeCharacters
    return texts(
      "Translations", "Texts by language tags (BCP 47), such as `de` or `pt-BR`.", most: Limits.translations,
      names: .text(like: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$"), 1...most,
      "must be a language tag with a string of 1 to \(most) characters")
  }

  private static func texts(
    _ title: String, _ summary: String, most: Int, names: Schema, _ characters: ClosedRange<Int>, _ rule: String
  ) -> Shape {
    let schema: Schema = [
      "title": .string(title), "type": "object", "description": .string(summary),
      "maxProperties": .integer(Int64(most)),
      "propertyNames": names.json, "additionalProperties": Schema.text(characters).json,
    ]
    return Shape(schema) { json, pointer, faults in
      guard let members = json.object, members.count <= most else {
        faults.add(pointer, "must be an object of at most \(most) strings")
        return nil
      }
      return members.compactMap { member in
        guard names.violations(of: .string(member.name)).isEmpty, let text = member.value.string,
          characters.contains(text.unicodeScalars.count)
        else {
          faults.add("\(pointer)/\(JSONPointer.escape(member.name))", rule)
          return nil
        }
        return NamedText(name: member.name, value: text)
      }
    } write: { entries in
      .object(entries.map { JSON.Member($0.name, .string($0.value)) })
    }
  }
}
