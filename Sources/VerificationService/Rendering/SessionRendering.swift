import Primitives

/// The session object, as it is at one time and for one reader.
struct SessionRendering {
  let isLive: Bool
  let now: Timestamp

  /// For an API key. `result` is given by whoever has established that this caller gets it.
  func json(
    _ record: SessionRecord, clientSecret: ClientSecret? = nil, result: JSON? = nil, simulatedResult: JSON? = nil
  ) -> JSON {
    let state = record.state(at: now)
    return .members([
      "id": .string(record.address.id.text),
      "object": "verification_session",
      "livemode": .bool(isLive),
      "status": .string(state.status.rawValue),
      "created": .seconds(record.created),
      "expires_at": .seconds(record.expiresAt),
      "client_secret": clientSecret.map { .string($0.text) },
      "requests": requests(record.offers),
      "digital_credential_requests": requests(record.offers.filter(isWeb)),
      "client_reference_id": .optional(record.content?.clientReferenceID),
      "metadata": .object(
        (record.content?.metadata ?? []).map { JSON.Member($0.name, .string($0.value)) }),
      "result": result ?? .null,
      "simulated_result": simulatedResult,
      "result_expires_at": record.results.expiresAt.map { .seconds($0) } ?? .null,
      "evidence": record.results.evidence.map { .string($0.rawValue) },
      "report": record.report.map(ReportRendering.json) ?? .null,
      "last_error": VerdictRendering.lastError(state.lastError),
    ])
  }

  /// For a client secret: exactly what the contract lists, nothing personal.
  func clientView(_ record: SessionRecord) -> JSON {
    let state = record.state(at: now)
    return [
      "id": .string(record.address.id.text),
      "status": .string(state.status.rawValue),
      "expires_at": .seconds(record.expiresAt),
      "requests": requests(record.offers),
      "last_error": state.lastError.map { ["code": .string($0.code)] } ?? .null,
    ]
  }

  func list(_ page: SessionPage) -> JSON {
    [
      "object": "list", "data": .array(page.sessions.map { json($0) }), "has_more": .bool(page.hasMore),
    ]
  }

  /// Also the shape that `navigator.credentials.get({digital: {requests}})` takes.
  private func requests(_ offers: [ProtocolOffer]) -> JSON {
    .array(offers.map { ["protocol": .string($0.protocolName), "data": $0.data] })
  }

  private func isWeb(_ offer: ProtocolOffer) -> Bool { ProtocolFamily(ofProtocol: offer.protocolName) == .web }
}
