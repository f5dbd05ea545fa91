import Base
import Sessions

/// The events and deliveries of a store in memory.
struct InMemoryOutbox {
  private struct Entry {
    var event: EventRecord
    var isDistributed = false
  }

  /// In the order in which they were written.
  private var entries: [Entry] = []
  private var deliveries: [DeliveryID: DeliveryRecord] = [:]

  /// Writes the event of a change, with the change.
  mutating func tell(_ record: SessionRecord, result: ResultPlace? = nil, at now: Timestamp) {
    guard var event = EventRecord(of: record.address, record.state, result: result, at: now) else { return }
    if event.id.type == .redacted { eraseTexts(of: event.id.session) }
    event.clientReferenceID = record.content?.clientReferenceID
    event.metadata = record.content?.metadata ?? []
    entries.append(Entry(event: event))
  }

  private mutating func eraseTexts(of session: SessionID) {
    for index in entries.indices where entries[index].event.id.session == session {
      entries[index].event.clientReferenceID = nil
      entries[index].event.metadata = []
    }
    for id in deliveries.keys where id.event.session == session {
      deliveries[id]?.event.clientReferenceID = nil
      deliveries[id]?.event.metadata = []
    }
  }

  func event(_ id: EventID, of relyingParty: String) -> EventRecord? {
    entries.first { $0.event.id == id && $0.event.relyingParty == relyingParty }?.event
  }

  func events(of relyingParty: String, _ query: EventQuery) -> EventPage? {
    var newestFirst = entries.reversed().map(\.event).filter { $0.relyingParty == relyingParty }
    if let cursor = query.startingAfter {
      guard let index = newestFirst.firstIndex(where: { $0.id == cursor }) else { return nil }
      newestFirst.removeFirst(index + 1)
    }
    if let type = query.type { newestFirst.removeAll { $0.id.type != type } }
    return EventPage(entries: Array(newestFirst.prefix(query.limit)), hasMore: newestFirst.count > query.limit)
  }

  mutating func distribute(to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int) -> Int {
    let new = entries.indices.filter { !entries[$0].isDistributed }.prefix(limit)
    for index in new {
      let event = entries[index].event
      entries[index].isDistributed = true
      for subscription in subscriptions where subscription.includes(event) {
        let delivery = DeliveryRecord(event: event, endpoint: subscription.address.endpoint, begun: now, due: now)
        deliveries[delivery.id] = delivery
      }
    }
    return new.count
  }

  mutating func claim(_ quotas: [DeliveryQuota], limit: Int, at now: Timestamp) -> [DeliveryRecord] {
    var claimed: [DeliveryRecord] = []
    for quota in quotas {
      let due = deliveries.values.filter { delivery in
        delivery.event.relyingParty == quota.address.relyingParty && delivery.endpoint == quota.address.endpoint
          && delivery.status == .pending && delivery.due <= now
      }
      for var delivery in due.sorted(by: { $0.due < $1.due }).prefix(min(quota.limit, limit - claimed.count)) {
        delivery.attempts += 1
        delivery.due = now + Limits.deliveryLease
        deliveries[delivery.id] = delivery
        claimed.append(delivery)
      }
    }
    return claimed
  }

  mutating func record(_ claimed: DeliveryRecord, _ result: AttemptResult) -> Bool {
    guard var delivery = deliveries[claimed.id], delivery.status == .pending, delivery.attempts == claimed.attempts,
      delivery.due == claimed.due
    else { return false }
    switch result {
    case .delivered:
      delivery.status = .delivered
      delivery.fault = nil
    case .retry(let time, let fault):
      delivery.due = time
      delivery.fault = fault
    case .dead(let fault):
      delivery.status = .dead
      delivery.fault = fault
    }
    deliveries[claimed.id] = delivery
    return true
  }

  func deliveries(of relyingParty: String, _ query: DeliveryQuery) -> DeliveryPage? {
    let own = entries.reversed().filter { $0.event.relyingParty == relyingParty }.flatMap { entry in
      deliveries.values.filter { $0.event.id == entry.event.id }.sorted { $0.endpoint > $1.endpoint }
    }
    var newestFirst = own[...]
    if let cursor = query.startingAfter {
      guard let index = newestFirst.firstIndex(where: { $0.id == cursor }) else { return nil }
      newestFirst = newestFirst[(index + 1)...]
    }
    let found = newestFirst.filter { delivery in
      query.statusInForce.map { $0 == delivery.status } ?? true && query.event.map { $0 == delivery.event.id } ?? true
    }
    return DeliveryPage(entries: Array(found.prefix(query.limit)), hasMore: found.count > query.limit)
  }

  mutating func retry(_ id: DeliveryID, of relyingParty: String, at now: Timestamp) -> DeliveryRetry {
    guard var delivery = deliveries[id], delivery.event.relyingParty == relyingParty else { return .notFound }
    guard delivery.status == .dead else { return .refused(delivery) }
    delivery.status = .pending
    delivery.attempts = 0
    delivery.begun = now
    delivery.due = now
    deliveries[id] = delivery
    return .begun(delivery)
  }

  var state: OutboxState {
    let pending = deliveries.values.filter { $0.status == .pending }
    return OutboxState(
      pending: pending.count, dead: deliveries.values.count { $0.status == .dead },
      oldestPending: pending.map(\.begun).min())
  }

  mutating func sweep(at now: Timestamp, limit: Int, _ count: inout SweepCount) {
    for (id, delivery) in deliveries
    where delivery.status == .pending && delivery.begun <= now - Limits.deliveryAbandonment && delivery.due <= now
      && count.deliveriesAbandoned < limit
    {
      deliveries[id]?.status = .dead
      deliveries[id]?.fault = DeliveryFault(.abandoned)
      count.deliveriesAbandoned += 1
    }
    let old = Set(
      entries.map(\.event).filter { $0.created <= now - Limits.eventRetention }.prefix(limit).map(\.id))
    entries.removeAll { old.contains($0.event.id) }
    deliveries = deliveries.filter { !old.contains($0.key.event) }
    count.eventsDeleted = old.count
  }
}

extension InMemoryStore {
  package func event(_ id: EventID, of relyingParty: String) async throws(StoreError) -> EventRecord? {
    try locked { contents throws(StoreError) in contents.outbox.event(id, of: relyingParty) }
  }

  package func events(of relyingParty: String, _ query: EventQuery) async throws(StoreError) -> EventPage? {
    try locked { contents throws(StoreError) in contents.outbox.events(of: relyingParty, query) }
  }

  package func distributeEvents(
    to subscriptions: [WebhookSubscription], at now: Timestamp, limit: Int
  ) async throws(StoreError) -> Int {
    try locked { contents throws(StoreError) in contents.outbox.distribute(to: subscriptions, at: now, limit: limit) }
  }

  package func claimDeliveries(
    _ quotas: [DeliveryQuota], limit: Int, at now: Timestamp
  ) async throws(StoreError) -> [DeliveryRecord] {
    try locked { contents throws(StoreError) in contents.outbox.claim(quotas, limit: limit, at: now) }
  }

  package func recordDelivery(
    _ claimed: DeliveryRecord, _ result: AttemptResult
  ) async throws(StoreError) -> Bool {
    try locked { contents throws(StoreError) in contents.outbox.record(claimed, result) }
  }

  package func deliveries(
    of relyingParty: String, _ query: DeliveryQuery
  ) async throws(StoreError) -> DeliveryPage? {
    try locked { contents throws(StoreError) in contents.outbox.deliveries(of: relyingParty, query) }
  }

  package func retryDelivery(
    _ id: DeliveryID, of relyingParty: String, at now: Timestamp
  ) async throws(StoreError) -> DeliveryRetry {
    try locked { contents throws(StoreError) in contents.outbox.retry(id, of: relyingParty, at: now) }
  }

  package func outboxState() async throws(StoreError) -> OutboxState {
    try locked { contents throws(StoreError) in contents.outbox.state }
  }
}

extension EventRecord {
  /// The event of a change at `now`; nil if the state is not final.
  fileprivate init?(
    of address: SessionAddress, _ state: SessionState, result: ResultPlace? = nil, at now: Timestamp
  ) {
    guard let type = EventType(state.status) else { return nil }
    self.init(
      id: EventID(address.id, type), relyingParty: address.relyingParty, created: now,
      errorCode: state.lastError?.code, result: result)
  }
}

extension WebhookSubscription {
  fileprivate func includes(_ event: EventRecord) -> Bool {
    address.relyingParty == event.relyingParty && types.contains(event.id.type)
  }
}
