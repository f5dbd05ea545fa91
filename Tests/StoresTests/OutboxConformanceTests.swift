import Base
import Testing

@testable import Sessions

@Suite("Every store keeps an outbox")
struct OutboxConformanceTests {
  private let everything = [subscription()]
  private let fault = DeliveryFault(.refused, httpStatus: 500)

  private func quota(
    _ limit: Int = 10, of relyingParty: String = "shop", _ endpoint: String = "main"
  ) -> [DeliveryQuota] {
    [DeliveryQuota(address: WebhookAddress(relyingParty: relyingParty, endpoint: endpoint), limit: limit)]
  }

  private func quota(_ endpoint: String) -> [DeliveryQuota] { quota(10, of: "shop", endpoint) }

  /// Sessions that were canceled, with events that were not read yet.
  private func cancel(
    _ count: Int, of relyingParty: String = "shop", in store: any SessionStore
  ) async throws -> [EventID] {
    var ids: [EventID] = []
    for _ in 0..<count {
      let session = try await store.add(makeSession(of: relyingParty))
      _ = try await store.cancel(session.address, at: start)
      ids.append(EventID(session.address.id, .canceled))
    }
    return ids
  }

  private func deliveries(
    _ store: any SessionStore, _ status: DeliveryStatus, of relyingParty: String = "shop"
  ) async throws -> [DeliveryRecord] {
    try #require(try await store.deliveries(of: relyingParty, DeliveryQuery(limit: 100, status: status))).entries
  }

  @Test("an event goes once to each endpoint of its party that wants its type", arguments: StoreFactory.allCases)
  func distributed(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let event = try await cancel(1, in: store)[0]
      let all = [
        subscription(), subscription("second"), subscription("third", types: [.verified]),
        subscription(of: "other"),
      ]
      #expect(try await store.distributeEvents(to: all, at: start + 1, limit: 10) == 1)
      #expect(try await store.distributeEvents(to: all, at: start + 2, limit: 10) == 0)
      let pending = try await deliveries(store, .pending)
      #expect(Set(pending.map(\.id)) == [DeliveryID(event, to: "main"), DeliveryID(event, to: "second")])
      #expect(pending.allSatisfy { $0.begun == start + 1 && $0.due == start + 1 && $0.attempts == 0 })
      #expect(try await deliveries(store, .pending, of: "other") == [])
      // A later endpoint gets no earlier events.
      #expect(try await store.claimDeliveries(quota("third"), limit: 50, at: start + 9) == [])
    }
  }

  @Test("events are distributed oldest first, at most so many at a time", arguments: StoreFactory.allCases)
  func portions(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let events = try await cancel(3, in: store)
      #expect(try await store.distributeEvents(to: everything, at: start, limit: 2) == 2)
      #expect(Set(try await deliveries(store, .pending).map(\.event.id)) == Set(events.prefix(2)))
      #expect(try await store.distributeEvents(to: everything, at: start, limit: 2) == 1)
      #expect(try await store.distributeEvents(to: everything, at: start, limit: 2) == 0)
    }
  }

  @Test("what is claimed is nobody's until its lease ends: kill -9 loses nothing", arguments: StoreFactory.allCases)
  func leased(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      _ = try await cancel(1, in: store)
      _ = try await store.distributeEvents(to: everything, at: start, limit: 10)
      let first = try await store.claimDeliveries(quota(), limit: 50, at: start)
      #expect(first.map(\.attempts) == [1] && first.map(\.due) == [start + Limits.deliveryLease])
      #expect(try await store.claimDeliveries(quota(), limit: 50, at: start + Limits.deliveryLease - 1) == [])
      let second = try await store.claimDeliveries(quota(), limit: 50, at: start + Limits.deliveryLease)
      #expect(second.map(\.attempts) == [2])
      // The first comes back too late.
      #expect(try await store.recordDelivery(first[0], .dead(fault)) == false)
      #expect(try await store.recordDelivery(second[0], .delivered))
      #expect(try await store.recordDelivery(second[0], .delivered) == false)
      #expect(try await deliveries(store, .delivered).map(\.fault) == [nil])
      #expect(try await store.claimDeliveries(quota(), limit: 50, at: start + 1_000_000) == [])
    }
  }

  @Test("of callers that claim at once each delivery goes to one", arguments: StoreFactory.allCases)
  func parallel(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let events = try await cancel(40, in: store)
      _ = try await store.distributeEvents(to: everything, at: start, limit: 100)
      let quota = quota(3)
      let claimed = try await withThrowingTaskGroup(of: [DeliveryRecord].self) { group in
        for _ in 0..<20 { group.addTask { try await store.claimDeliveries(quota, limit: 50, at: start) } }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(claimed.count == 40)
      #expect(Set(claimed.map(\.event.id)) == Set(events))
    }
  }

  @Test("each endpoint's quota is its own", arguments: StoreFactory.allCases)
  func quotas(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      _ = try await cancel(5, in: store)
      _ = try await cancel(2, of: "other", in: store)
      _ = try await store.distributeEvents(
        to: [subscription(), subscription("second"), subscription(of: "other")], at: start, limit: 10)
      let claimed = try await store.claimDeliveries(quota(2) + quota(1, of: "other"), limit: 50, at: start)
      #expect(claimed.map(\.endpoint) == ["main", "main", "main"])
      #expect(claimed.map(\.event.relyingParty).sorted() == ["other", "shop", "shop"])
      #expect(try await store.claimDeliveries(quota("second"), limit: 2, at: start).count == 2)
      let rest = try await store.claimDeliveries(quota("second") + quota(), limit: 4, at: start)
      #expect(rest.map(\.endpoint) == ["second", "second", "second", "main"])
      #expect(try await store.claimDeliveries(quota("none"), limit: 50, at: start) == [])
    }
  }

  @Test("an attempt that failed is due again when it was said to be", arguments: StoreFactory.allCases)
  func retried(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      _ = try await cancel(1, in: store)
      _ = try await store.distributeEvents(to: everything, at: start, limit: 10)
      let claimed = try await store.claimDeliveries(quota(), limit: 50, at: start)[0]
      #expect(try await store.recordDelivery(claimed, .retry(at: start + 7, fault)))
      let pending = try await deliveries(store, .pending)
      #expect(pending.map(\.due) == [start + 7] && pending.map(\.fault) == [fault])
      #expect(try await store.claimDeliveries(quota(), limit: 50, at: start + 6) == [])
      #expect(try await store.claimDeliveries(quota(), limit: 50, at: start + 7).map(\.attempts) == [2])
    }
  }

  @Test("a dead letter stays dead until it is asked for, by whom it belongs to", arguments: StoreFactory.allCases)
  func dead(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let event = try await cancel(1, in: store)[0]
      let id = DeliveryID(event, to: "main")
      _ = try await store.distributeEvents(to: everything, at: start, limit: 10)
      #expect(try await store.retryDelivery(id, of: "shop", at: start) == .refused(deliveries(store, .pending)[0]))
      let claimed = try await store.claimDeliveries(quota(), limit: 50, at: start)[0]
      #expect(try await store.recordDelivery(claimed, .dead(fault)))
      #expect(try await store.claimDeliveries(quota(), limit: 50, at: start + 1_000) == [])
      #expect(try await deliveries(store, .dead).map(\.fault) == [fault])
      #expect(try await deliveries(store, .dead, of: "other") == [])
      #expect(try await store.retryDelivery(id, of: "other", at: start) == .notFound)
      #expect(try await store.retryDelivery(DeliveryID(event, to: "none"), of: "shop", at: start) == .notFound)
      guard case .begun(let begun) = try await store.retryDelivery(id, of: "shop", at: start + 9) else {
        Issue.record("not begun")
        return
      }
      #expect(begun.status == .pending && begun.begun == start + 9 && begun.attempts == 0)
      #expect(try await store.recordDelivery(claimed, .delivered) == false)
      #expect(try await store.claimDeliveries(quota(), limit: 50, at: start + 9).map(\.attempts) == [1])
    }
  }

  @Test("what nobody tries for is a dead letter in the end", arguments: StoreFactory.allCases)
  func abandoned(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      _ = try await cancel(1, in: store)
      _ = try await store.distributeEvents(to: everything, at: start, limit: 10)
      let end = start + Limits.deliveryAbandonment
      #expect(try await store.sweep(at: end - 1, limit: 10).deliveriesAbandoned == 0)
      // A delivery whose attempt is under way is not abandoned.
      _ = try await store.claimDeliveries(quota(), limit: 50, at: end)
      #expect(try await store.sweep(at: end + 1, limit: 10).deliveriesAbandoned == 0)
      #expect(try await store.sweep(at: end + Limits.deliveryLease, limit: 10).deliveriesAbandoned == 1)
      #expect(try await deliveries(store, .dead).map(\.fault) == [DeliveryFault(.abandoned)])
    }
  }

  @Test("deliveries are listed those of the newest events first, in pages", arguments: StoreFactory.allCases)
  func pages(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let events = try await cancel(3, in: store)
      let both = [subscription("a"), subscription("b")]
      _ = try await store.distributeEvents(to: both, at: start, limit: 10)
      let expected = events.reversed().flatMap { [DeliveryID($0, to: "b"), DeliveryID($0, to: "a")] }
      var seen: [DeliveryID] = []
      var query = DeliveryQuery(limit: 4, status: .pending)
      let first = try #require(try await store.deliveries(of: "shop", query))
      #expect(first.hasMore)
      seen += first.entries.map(\.id)
      query.startingAfter = seen.last
      let second = try #require(try await store.deliveries(of: "shop", query))
      #expect(!second.hasMore)
      #expect(seen + second.entries.map(\.id) == expected)
      #expect(try await store.deliveries(of: "other", query) == nil)
    }
  }

  @Test("the deliveries of one event are listed, whatever their status", arguments: StoreFactory.allCases)
  func deliveriesOfEvent(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      let addresses = ["a", "b"].map { WebhookAddress(relyingParty: "shop", endpoint: $0) }
      var events: [EventID] = []
      for _ in 0..<2 {
        let address = try await store.add(makeSession()).address
        _ = try await store.cancel(address, at: start)
        events.append(EventID(address.id, .canceled))
      }
      let subscriptions = addresses.map { WebhookSubscription(address: $0, types: [.canceled]) }
      _ = try await store.distributeEvents(to: subscriptions, at: start, limit: 10)
      let claimed = try await store.claimDeliveries(
        [DeliveryQuota(address: addresses[0], limit: 2)], limit: 2, at: start)
      for delivery in claimed where delivery.event.id == events[0] {
        #expect(try await store.recordDelivery(delivery, .delivered))
      }
      func listed(_ query: DeliveryQuery, of party: String = "shop") async throws -> [String] {
        let page = try #require(try await store.deliveries(of: party, query))
        return page.entries.map { "\($0.endpoint) \($0.status.rawValue)" }
      }
      #expect(try await listed(DeliveryQuery(event: events[0])) == ["b pending", "a delivered"])
      #expect(try await listed(DeliveryQuery(event: events[1])) == ["b pending", "a pending"])
      #expect(try await listed(DeliveryQuery(status: .delivered, event: events[0])) == ["a delivered"])
      #expect(try await listed(DeliveryQuery(event: events[0]), of: "other") == [])
      #expect(try await listed(DeliveryQuery(event: EventID(events[0].session, .failed))) == [])
      #expect(try await listed(DeliveryQuery()) == [])
    }
  }

  @Test("the outbox says how much waits, and since when", arguments: StoreFactory.allCases)
  func state(_ factory: StoreFactory) async throws {
    try await factory.run { store in
      #expect(try await store.outboxState() == OutboxState(pending: 0, dead: 0, oldestPending: nil))
      _ = try await cancel(2, in: store)
      _ = try await store.distributeEvents(to: everything, at: start + 3, limit: 1)
      _ = try await store.distributeEvents(to: everything, at: start + 5, limit: 1)
      #expect(try await store.outboxState() == OutboxState(pending: 2, dead: 0, oldestPending: start + 3))
      let claimed = try await store.claimDeliveries(quota(), limit: 50, at: start + 6)
      #expect(try await store.recordDelivery(claimed[0], .dead(fault)))
      #expect(try await store.recordDelivery(claimed[1], .delivered))
      #expect(try await store.outboxState() == OutboxState(pending: 0, dead: 1, oldestPending: nil))
    }
  }
}
