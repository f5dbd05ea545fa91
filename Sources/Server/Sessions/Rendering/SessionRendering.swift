import Base

/// The session object, as it is at one time and for one reader.
struct SessionRendering {
  let isLive: Bool
  let now: Timestamp

  /// For an API key. `result` is given by whoever has established that this caller gets it.
  func json(
    _ record: SessionRecord, clientSecret: ClientSecret? = nil, page: PageAddress? = nil, result: JSON? = nil,
    simulatedResult: JSON? = nil
  ) -> JSON {
    json(
      record, clientSecret: clientSecret, page: page, parts: Set(SessionPart.allCases), result: result ?? .null,
      simulatedResult: simulatedResult)
  }

  /// As an entry of a list: without a result, and of the parts those that were asked for. What is left out is no member,
  /// since null would say that there is none.
  private func summary(_ record: SessionRecord, with parts: Set<SessionPart>) -> JSON { json(record, parts: parts) }

  private func json(
    _ record: SessionRecord, clientSecret: ClientSecret? = nil, page: PageAddress? = nil, parts: Set<SessionPart>,
    result: JSON? = nil, simulatedResult: JSON? = nil
  ) -> JSON {
    let state = record.state(at: now)
    // Said as options: a bare nil would be JSON's null.
    let offers: [ProtocolOffer]? = parts.contains(.requests) ? record.offers : .none
    let report: JSON? = parts.contains(.report) ? .some(record.report.map(ReportRendering.written) ?? .null) : .none
    return .members([
      "id": .string(record.address.id.text),
      "object": "verification_session",
      "livemode": .bool(isLive),
      "status": .string(state.status.rawValue),
      "created": .seconds(record.created),
      "expires_at": .seconds(record.expiresAt),
      "client_secret": clientSecret.map { .string($0.text) },
      "url": clientSecret.flatMap { secret in page.map { .string($0.unlocked(by: secret)) } },
      "origin": record.content?.origin.map { .string($0) },
      "requests": offers.map(requests),
      "digital_credential_requests": offers.map { requests($0.filter(isWeb)) },
      "client_reference_id": .optional(record.content?.clientReferenceID),
      "metadata": .object(
        (record.content?.metadata ?? []).map { JSON.Member($0.name, .string($0.value)) }),
      "result": result,
      "simulated_result": simulatedResult,
      "result_expires_at": record.results.expiresAt.map { .seconds($0) } ?? .null,
      "evidence": record.results.seen(at: now).evidence.map { .string($0.rawValue) },
      "report": report,
      "last_error": VerdictRendering.lastError(state.lastError),
    ])
  }

  /// For a client secret: exactly what the contract lists, nothing personal. `responseCode` is for who answered alone.
  func clientView(_ record: SessionRecord, responseCode: ResponseCode? = nil) -> JSON {
    let state = record.state(at: now)
    return .members([
      "id": .string(record.address.id.text),
      "status": .string(state.status.rawValue),
      "expires_at": .seconds(record.expiresAt),
      "requests": requests(record.offers),
      "last_error": state.lastError.map { ["code": .string($0.code)] } ?? .null,
      "response_code": responseCode.map { .string($0.text) },
    ])
  }

  /// As much of the page as `Limits.pageBytes` hold, at least one session.
  func list(_ page: SessionPage, with parts: Set<SessionPart>) -> JSON {
    var data: [JSON] = []
    var bytes = 0
    for record in page.sessions {
      let entry = summary(record, with: parts)
      bytes += entry.serialized().count
      if bytes > Limits.pageBytes, !data.isEmpty { break }
      data.append(entry)
    }
    return [
      "object": "list", "data": .array(data),
      "has_more": .bool(page.hasMore || data.count < page.sessions.count),
    ]
  }

  /// Also the shape that `navigator.credentials.get({digital: {requests}})` takes.
  private func requests(_ offers: [ProtocolOffer]) -> JSON {
    .array(offers.map(Self.request))
  }

  static func request(_ offer: ProtocolOffer) -> JSON {
    ["protocol": .string(offer.protocolName), "data": .written(offer.data)]
  }

  private func isWeb(_ offer: ProtocolOffer) -> Bool { ProtocolFamily(ofProtocol: offer.protocolName) == .web }
}
