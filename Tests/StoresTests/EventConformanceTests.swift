import Base
import Testing

@testable import Sessions

@Suite("Every store tells what happened")
struct EventConformanceTests {
  /// Every event of the relying party, oldest first, as `status code`.
  private func told(_ store: any SessionStore, of relyingParty: String = "shop") async throws -> [String] {
    let page = try #require(try await store.events(of: relyingParty, EventQuery(limit: 100)))
    return page.entries.reversed().map { "\($0.id.type.status.rawValue) \($0.errorCode ?? "-")" }
  }

  private func conclude(
    _ session: SessionRecord, _ conclusion: AttemptOutcome.Conclusion, result: ResultPlace? = nil,
    in store: any SessionStore, at now: Timestamp = start
  ) async throws -> Bool {
    let attempt = try await store.take(session)
    let outcome = AttemptOutcome(
      address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: conclusion, report: nil,
      result: result)
    return try await store.recordOutcome(outcome, at: now, finishing: nil).isRecorded
  }

  @Test("each end of a session is one event, with its time and its code", arguments: StoreFactory.allCases)
  func ends(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let verified = try await store.add(makeSession())
      #expect(try await told(store) == [])
      #expect(try await conclude(verified, .verified(.none), in: store, at: start + 3))
      #expect(try await told(store) == ["verified -"])
      #expect(try await conclude(store.add(makeSession()), failure, in: store))
      #expect(
        try await conclude(
          store.add(makeSession()), .canceled(LastError([Reason(.walletAccessDenied)])), in: store))
      #expect(try await store.cancel(store.add(makeSession()).address, at: start).changed != nil)
      let expected = [
        "verified -", "failed trust.issuer_unknown", "canceled wallet.access_denied", "canceled -",
      ]
      #expect(try await told(store) == expected)
      let id = EventID(verified.address.id, .verified)
      let event = try #require(try await store.event(id, of: "shop"))
      let texts = [NamedText(name: "k", value: "v")]
      #expect(
        event
          == EventRecord(
            id: id, relyingParty: "shop", created: start + 3, errorCode: nil, clientReferenceID: "order-17",
            metadata: texts))
      #expect(try await store.event(EventID(verified.address.id, .failed), of: "shop") == nil)
    }
  }

  @Test("a redaction takes the relying party's texts from the events before it", arguments: StoreFactory.allCases)
  func redactedTexts(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let address = try await store.add(makeSession()).address
      _ = try await store.cancel(address, at: start)
      let subscription = WebhookSubscription(
        address: WebhookAddress(relyingParty: "shop", endpoint: "main"), types: Set(EventType.allCases))
      _ = try await store.distributeEvents(to: [subscription], at: start, limit: 10)
      func references() async throws -> [String?] {
        let listed = try await store.events(of: "shop", EventQuery())?.entries ?? []
        let one = try await store.event(EventID(address.id, .canceled), of: "shop")
        let quotas = [DeliveryQuota(address: subscription.address, limit: 1)]
        let sent = try await store.claimDeliveries(quotas, limit: 1, at: start + 1).map(\.event)
        #expect(!listed.isEmpty && one != nil && (listed + sent).allSatisfy { $0.metadata == listed[0].metadata })
        return (listed + [one].compactMap { $0 } + sent).map(\.clientReferenceID)
      }
      #expect(try await references() == ["order-17", "order-17", "order-17"])
      _ = try await store.redact(address, at: start + 2)
      #expect(try await references() == [nil, nil, nil])
    }
  }

  @Test("the event of a verified session says where the result is", arguments: StoreFactory.allCases)
  func results(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      for place in ResultPlace.allCases {
        let session = try await store.add(makeSession())
        #expect(try await conclude(session, .verified(.none), result: place, in: store))
        #expect(try await store.event(EventID(session.address.id, .verified), of: "shop")?.result == place)
      }
    }
  }

  @Test("what was refused is no event", arguments: StoreFactory.allCases)
  func refused(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      #expect(try await store.refusal(session.address, "another") == .sessionProtocolMismatch)
      let attempt = try await store.take(session)
      // Under way, without an outcome yet.
      #expect(try await store.cancel(session.address, at: start).refused != nil)
      #expect(try await told(store) == [])
      let outcome = AttemptOutcome(
        address: session.address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(.none),
        report: nil)
      #expect(try await store.recordOutcome(outcome, at: start, finishing: nil).isRecorded)
      #expect(try await store.recordOutcome(outcome, at: start, finishing: nil).isRecorded == false)
      #expect(try await store.cancel(session.address, at: start).refused != nil)
      let stranger = AttemptOutcome(
        address: session.address, attempt: try AttemptID.random(), protocolName: "apple-in-app", conclusion: failure,
        report: nil)
      #expect(try await store.recordOutcome(stranger, at: start, finishing: nil).isRecorded == false)
      #expect(try await told(store) == ["verified -"])
    }
  }

  @Test("what time ends is told once, by the sweep", arguments: StoreFactory.allCases)
  func swept(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      _ = try await store.add(makeSession(lifetime: 30))
      let interrupted = try await store.add(makeSession(of: "other"))
      _ = try await store.take(interrupted)
      _ = try await store.sweep(at: start + 29, limit: 10)
      #expect(try await told(store) == [])
      for later: Int64 in [40, 50] { _ = try await store.sweep(at: start + later, limit: 10) }
      #expect(try await told(store) == ["expired -"])
      #expect(try await told(store, of: "other") == ["failed session.interrupted"])
      let event = try await store.event(EventID(interrupted.address.id, .failed), of: "other")
      #expect(event?.created == start + 40)
    }
  }

  @Test("redaction is told once, keeps the code, and leaves the events before it", arguments: StoreFactory.allCases)
  func redacted(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      #expect(try await conclude(session, failure, in: store))
      for _ in 0..<2 { _ = try await store.redact(session.address, at: start + 1) }
      #expect(try await told(store) == ["failed trust.issuer_unknown", "redacted trust.issuer_unknown"])
      // Ended only by time, and not yet swept.
      let expired = try await store.add(makeSession(lifetime: 30))
      _ = try await store.redact(expired.address, at: start + 31)
      _ = try await store.sweep(at: start + 60, limit: 10)
      #expect(try await told(store).dropFirst(2) == ["redacted -"])
    }
  }

  @Test("another's events are not there", arguments: StoreFactory.allCases)
  func foreign(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      #expect(try await store.cancel(session.address, at: start).changed != nil)
      let id = EventID(session.address.id, .canceled)
      #expect(try await store.event(id, of: "other") == nil)
      #expect(try await store.events(of: "other", EventQuery())?.entries == [])
      #expect(try await store.events(of: "other", EventQuery(startingAfter: id)) == nil)
    }
  }

  @Test("events are listed newest first, in pages, also of one type", arguments: StoreFactory.allCases)
  func pages(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      var ids: [EventID] = []
      for index in 0..<5 {
        let session = try await store.add(makeSession())
        if index % 2 == 0 {
          _ = try await store.cancel(session.address, at: start)
        } else {
          _ = try await store.redact(session.address, at: start)
        }
        ids.insert(EventID(session.address.id, index % 2 == 0 ? .canceled : .redacted), at: 0)
      }
      func page(_ query: EventQuery) async throws -> (ids: [EventID], hasMore: Bool)? {
        try await store.events(of: "shop", query).map { ($0.entries.map(\.id), $0.hasMore) }
      }
      let first = try #require(try await page(EventQuery(limit: 3)))
      #expect(first.ids == Array(ids.prefix(3)) && first.hasMore)
      let second = try #require(try await page(EventQuery(limit: 3, startingAfter: ids[2])))
      #expect(second.ids == Array(ids.suffix(2)) && !second.hasMore)
      let canceled = try #require(try await page(EventQuery(limit: 2, type: .canceled)))
      #expect(canceled.ids == [ids[0], ids[2]] && canceled.hasMore)
      let last = try #require(try await page(EventQuery(limit: 2, startingAfter: ids[2], type: .canceled)))
      #expect(last.ids == [ids[4]] && !last.hasMore)
    }
  }

  @Test("events are deleted when they are old, and with them their deliveries", arguments: StoreFactory.allCases)
  func retention(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let session = try await store.add(makeSession())
      _ = try await store.cancel(session.address, at: start)
      _ = try await store.distributeEvents(to: [subscription()], at: start, limit: 10)
      let end = start + Limits.eventRetention
      #expect(try await store.sweep(at: end - 1, limit: 10).eventsDeleted == 0)
      #expect(try await told(store) == ["canceled -"])
      #expect(try await store.sweep(at: end, limit: 10).eventsDeleted == 1)
      #expect(try await told(store) == [])
      let state = try await store.outboxState()
      #expect(state == OutboxState(pending: 0, dead: 0, oldestPending: nil))
    }
  }
}

func subscription(
  of relyingParty: String = "shop", _ endpoint: String = "main", types: Set<EventType> = Set(EventType.allCases)
) -> WebhookSubscription {
  WebhookSubscription(address: WebhookAddress(relyingParty: relyingParty, endpoint: endpoint), types: types)
}
