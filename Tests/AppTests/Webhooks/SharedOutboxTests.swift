import Base
import HTTP
import Sessions
import Stores
import TestSupport
import Testing

@testable import App

/// Several processes that share an outbox, and processes that crash.
@Suite(.onOwnThreads, .timeLimit(.minutes(4))) struct SharedOutboxTests {
  @Test func `two dispatchers on one file deliver each event once`() async throws {
    let receiver = Receiver.always(200)
    try await withReceivers(receiver) { urls in
      try await withFolder { folder in
        let stores = try (0..<2).map { _ in try SQLiteStore(path: folder + "/s.sqlite", mode: .test) }
        let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])], store: stores[0])
        let dispatchers = try stores.map { try bed.dispatcher(store: $0) }
        var ids: Set<String> = []
        for _ in 0..<100 { ids.insert(try await bed.cancelSession().text) }
        try await eventually("all delivered") { try await bed.deliveries(.delivered).count == 100 }
        for dispatcher in dispatchers { await dispatcher.stop() }
        #expect(Set(receiver.ids) == ids && receiver.seen.count == 100)
        for store in stores { await store.close() }
      }
    }
  }

  @Test func `what a process had claimed when it died is delivered after its lease`() async throws {
    let receiver = Receiver.always(200)
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
      let id = try await bed.cancelSession()
      let subscription = bed.party.subscription(of: bed.party.webhooks[0])
      _ = try await bed.store.distributeEvents(to: [subscription], at: bed.clock.now, limit: 10)
      let lost = try await bed.store.claimDeliveries(
        [DeliveryQuota(address: subscription.address, limit: 1)], limit: 1, at: bed.clock.now)
      #expect(lost.count == 1)
      try await bed.dispatching {
        bed.clock.advance(Limits.deliveryLease - 1)
        try await Task.sleep(for: .milliseconds(200))
        #expect(receiver.seen.isEmpty)
        bed.clock.advance(1)
        try await eventually("delivered") { receiver.ids == [id.text] }
        try await eventually("recorded") { try await bed.deliveries(.delivered).map(\.attempts) == [2] }
      }
    }
  }

  @Test func `a stop leaves what was under way to be tried again`() async throws {
    let receiver = Receiver { number in
      if number == 1 { try? await Task.sleep(for: .seconds(600)) }
      return HTTPResponse(status: 200)
    }
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
      let first = try bed.dispatcher()
      let id = try await bed.cancelSession()
      try await eventually("under way") { receiver.seen.count == 1 }
      await first.stop()
      await first.stop()
      #expect(try await bed.deliveries(.pending).map(\.fault) == [DeliveryFault(.unavailable)])
      bed.clock.advance(6)
      try await bed.dispatching {
        try await eventually("delivered") { try await bed.deliveries(.delivered).map(\.event.id) == [id] }
      }
      #expect(receiver.ids == [id.text, id.text])
    }
  }

  @Test func `what could not be recorded is delivered again, and a store that fails is tried again`() async throws {
    let receiver = Receiver.always(200)
    try await withReceivers(receiver) { urls in
      let bed = WebhookBed([try WebhookBed.endpoint(at: urls[0])])
      let flaky = FlakyOutbox(inner: bed.store)
      let dispatcher = try bed.dispatcher(store: flaky)
      flaky.fails { $0 == "recordDelivery" }
      let id = try await bed.cancelSession()
      try await eventually("received") { receiver.seen.count == 1 }
      try await eventually("logged") { bed.log.text.contains("webhooks.store_failed") }
      #expect(try await bed.deliveries(.pending).map(\.attempts) == [1])
      // From now on, everything fails for a while.
      flaky.fails { _ in true }
      bed.clock.advance(Limits.deliveryLease)
      try await Task.sleep(for: .milliseconds(200))
      #expect(receiver.seen.count == 1)
      #expect(bed.log.all.count { $0.contains("webhooks.store_failed") } <= 2)
      flaky.fails { _ in false }
      try await eventually("delivered") { try await bed.deliveries(.delivered).map(\.event.id) == [id] }
      #expect(receiver.ids == [id.text, id.text])
      await dispatcher.stop()
    }
  }

  @Test func `what was committed before a restart is delivered after it`() async throws {
    let receiver = Receiver.always(200)
    try await withReceivers(receiver) { urls in
      try await withFolder { folder in
        let before = try SQLiteStore(path: folder + "/s.sqlite", mode: .test)
        let endpoint = try WebhookBed.endpoint(at: urls[0])
        let id = try await WebhookBed([endpoint], store: before).cancelSession()
        await before.close()
        let after = try SQLiteStore(path: folder + "/s.sqlite", mode: .test)
        let bed = WebhookBed([endpoint], store: after)
        try await bed.dispatching { try await eventually("delivered") { receiver.ids == [id.text] } }
        await after.close()
      }
    }
  }
}

/// An outbox that fails where the test demands it.
final class FlakyOutbox: EventStore {
  private let inner: any EventStore
  private let isFailing = Locked<@Sendable (String) -> Bool>({ _ in false })

  init(inner: any EventStore) { self.inner = inner }

  /// - Parameter fails: by the function's name.
  func fails(_ fails: @escaping @Sendable (String) -> Bool) { isFailing.withLock { $0 = fails } }

  private func check(_ name: String) throws(StoreError) {
    let fails = isFailing.withLock { $0 }
    if fails(name) { throw .unavailable("by a test") }
  }

  func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    try await inner.event(id, of: relyingParty)
  }

  func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    try await inner.events(of: relyingParty, query)
  }

  func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    try check("distributeEvents")
    return try await inner.distributeEvents(to: subscriptions, at: now, limit: limit)
  }

  func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    try check("claimDeliveries")
    return try await inner.claimDeliveries(quotas, limit: limit, at: now)
  }

  func recordDelivery(_ claimed: DeliveryRecord, _ result: AttemptResult) async throws(StoreError) -> Bool {
    try check("recordDelivery")
    return try await inner.recordDelivery(claimed, result)
  }

  func deliveries(of relyingParty: String, _ query: DeliveryQuery) async throws(StoreError) -> DeliveryPage? {
    try await inner.deliveries(of: relyingParty, query)
  }

  func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry {
    try await inner.retryDelivery(id, of: relyingParty, at: now)
  }

  func outboxState() async throws(StoreError) -> OutboxState { try await inner.outboxState() }
}
