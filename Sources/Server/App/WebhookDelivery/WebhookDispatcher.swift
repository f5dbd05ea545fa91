import Base
import Network
import Sessions
import Trust

/// Delivers events from the store's outbox to the relying parties' endpoints, each at least once.
///
/// Any number of processes may do so on one store: a delivery that a process has claimed is its own until the lease
/// ends. If a process dies between a claim and its record, the delivery is made again. A failing endpoint gets one
/// attempt at a time until one succeeds, so that it holds up no other endpoint.
final class WebhookDispatcher: Sendable {
  /// The parts that it works with.
  struct Parts: Sendable {
    let store: any EventStore
    /// The relying parties in force now.
    let relyingParties: @Sendable () -> RelyingParties
    let mode: ServerMode
    let poster: WebPoster
    let log: Log
    let clock: @Sendable () -> Timestamp
    var metrics = WebhookMetrics()
    /// How often the outbox is looked at when nothing else happens.
    var interval = Duration.seconds(1)
    /// How long a stop waits for attempts under way.
    var grace = Duration.seconds(2)
  }

  /// Events that are distributed in one transaction. They are few, since the sessions' writes wait for it.
  private static let portion = 200

  let parts: Parts
  private let plan = Locked(DeliveryPlan())
  private let wake: AsyncStream<Void>.Continuation
  private let tasks: Locked<[Task<Void, Never>]>

  /// Runs until it is stopped.
  init(_ parts: Parts) {
    self.parts = parts
    let (signals, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.wake = wake
    tasks = Locked([])
    let running = Task { await run(signals) }
    let ticking = Task { await tick() }
    tasks.withLock { $0 = [running, ticking] }
  }

  /// Claims nothing more, gives attempts under way a moment (`grace`), and returns when all of them are recorded.
  func stop() async {
    let tasks = tasks.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
    guard tasks.count == 2 else { return }
    tasks[1].cancel()
    wake.finish()
    let grace = Task {
      try? await Task.sleep(for: parts.grace)
      if !Task.isCancelled { tasks[0].cancel() }
    }
    await tasks[0].value
    grace.cancel()
  }

  private func tick() async {
    while !Task.isCancelled {
      plan.withLock { $0.isTickDue = true }
      wake.yield()
      try? await Task.sleep(for: parts.interval)
    }
  }

  private func run(_ signals: AsyncStream<Void>) async {
    await withDiscardingTaskGroup { group in
      for await _ in signals {
        let turn = plan.withLock { $0.takeTurn() }
        let endpoints = endpoints()
        if turn.isTick {
          await distribute(to: endpoints.values.map { $0.party.subscription(of: $0.endpoint) })
        }
        let addresses = Array(endpoints.keys)
        let first = await claim { $0.firsts(for: addresses, all: turn.isTick) }
        for delivery in first + (await claim { $0.quotas(for: addresses, all: turn.isTick) }) {
          let address = WebhookAddress(relyingParty: delivery.event.relyingParty, endpoint: delivery.endpoint)
          guard let endpoint = endpoints[address]?.endpoint else { continue }
          group.addTask { await self.attempt(delivery, at: endpoint, address) }
        }
        if turn.measures { await measure() }
      }
    }
  }

  private func endpoints() -> [WebhookAddress: (party: RelyingParty, endpoint: WebhookEndpoint)] {
    var endpoints: [WebhookAddress: (party: RelyingParty, endpoint: WebhookEndpoint)] = [:]
    for party in parts.relyingParties().all {
      for endpoint in party.webhooks { endpoints[party.subscription(of: endpoint).address] = (party, endpoint) }
    }
    return endpoints
  }

  // MARK: Outbox

  private func distribute(to subscriptions: [WebhookSubscription]) async {
    do throws(StoreError) {
      // One portion at a time, so that a backlog of events holds up no delivery that is due.
      if try await parts.store.distributeEvents(to: subscriptions, at: parts.clock(), limit: Self.portion)
        == Self.portion
      {
        plan.withLock { $0.isTickDue = true }
        wake.yield()
      }
      _ = plan.withLock { $0.noteStore(fails: false) }
    } catch {
      failed()
    }
  }

  private func claim(
    _ quotas: @Sendable (inout DeliveryPlan) -> (quotas: [DeliveryQuota], limit: Int)
  ) async -> [DeliveryRecord] {
    let (quotas, limit) = plan.withLock { quotas(&$0) }
    guard !quotas.isEmpty, limit > 0 else { return [] }
    do throws(StoreError) {
      let claimed = try await parts.store.claimDeliveries(quotas, limit: limit, at: parts.clock())
      plan.withLock { $0.began(claimed, of: quotas) }
      return claimed
    } catch {
      failed()
      return []
    }
  }

  private func measure() async {
    guard let state = try? await parts.store.outboxState() else { return }
    parts.metrics.note(state, at: parts.clock())
  }

  /// Logs once that the store fails. The outbox has not changed, and is looked at again at the next tick.
  private func failed() {
    guard plan.withLock({ $0.noteStore(fails: true) }) else { return }
    parts.log.write(
      .warning, "webhooks.store_failed", at: parts.clock(), ["code": .string(Code.apiStoreUnavailable.rawValue)])
  }

  // MARK: Attempts

  private func attempt(_ delivery: DeliveryRecord, at endpoint: WebhookEndpoint, _ address: WebhookAddress) async {
    let (result, fault) = await DeliveryAttempt(parts: parts).run(delivery, at: endpoint)
    do throws(StoreError) {
      if try await parts.store.recordDelivery(delivery, result) { note(result, of: delivery) }
    } catch {
      // Without a record the delivery is made again when its lease ends.
      failed()
    }
    let change = plan.withLock { $0.ended(address, succeeded: fault == nil) }
    if let change { note(change, of: address, fault) }
    wake.yield()
  }

  private func note(_ result: AttemptResult, of delivery: DeliveryRecord) {
    parts.metrics.note(result)
    guard case .dead(let fault) = result else { return }
    parts.log.write(
      .warning, "webhook.dead_letter", at: parts.clock(),
      [
        "relying_party": .string(delivery.event.relyingParty), "endpoint": .string(delivery.endpoint),
        "event_id": .string(delivery.event.id.text), "reason": .string(fault.reason.rawValue),
        "http_status": fault.httpStatus.map { .integer(Int64($0)) },
      ])
  }

  /// Logs once when an endpoint begins to fail, and once when it takes messages again.
  private func note(_ change: DeliveryPlan.Change, of address: WebhookAddress, _ fault: DeliveryFault?) {
    parts.log.write(
      change == .fails ? .warning : .info, change == .fails ? "webhook.failing" : "webhook.recovered",
      at: parts.clock(),
      [
        "relying_party": .string(address.relyingParty), "endpoint": .string(address.endpoint),
        "reason": fault.map { .string($0.reason.rawValue) },
        "http_status": fault?.httpStatus.map { .integer(Int64($0)) },
      ])
  }
}

/// The counts of deliveries behind `/metrics`.
final class WebhookMetrics: Sendable {
  struct Snapshot: Sendable, Hashable {
    /// The number of attempts by result.
    var delivered = 0
    var retried = 0
    var dead = 0
    /// What waits in the store, for all processes; nil before it was counted.
    var outbox: OutboxState?
    var oldestPendingSeconds: Int64 = 0
  }

  private let state = Locked(Snapshot())

  var snapshot: Snapshot { state.withLock { $0 } }

  func note(_ result: AttemptResult) {
    state.withLock { state in
      switch result {
      case .delivered: state.delivered += 1
      case .retry: state.retried += 1
      case .dead: state.dead += 1
      }
    }
  }

  func note(_ outbox: OutboxState, at now: Timestamp) {
    state.withLock { state in
      state.outbox = outbox
      state.oldestPendingSeconds = max(
        0, now.secondsSince1970 - (outbox.oldestPending ?? now).secondsSince1970)
    }
  }
}

extension MetricsText {
  static func webhooks(_ snapshot: WebhookMetrics.Snapshot, _ text: inout MetricsWriter) {
    text.family("mdoc_webhook_attempts_total", .counter, "Attempts to deliver an event, by what they came to.")
    for (outcome, count) in [
      ("delivered", snapshot.delivered), ("retry", snapshot.retried), ("dead", snapshot.dead),
    ] {
      text.sample("mdoc_webhook_attempts_total", [("outcome", outcome)], Double(count))
    }
    text.family("mdoc_webhook_deliveries", .gauge, "Deliveries in the store that are not made, by status.")
    if let outbox = snapshot.outbox {
      text.sample("mdoc_webhook_deliveries", [("status", "pending")], Double(outbox.pending))
      text.sample("mdoc_webhook_deliveries", [("status", "dead")], Double(outbox.dead))
    }
    text.family(
      "mdoc_webhook_oldest_pending_seconds", .gauge, "Seconds that the oldest pending delivery has waited.")
    if snapshot.outbox != nil {
      text.sample("mdoc_webhook_oldest_pending_seconds", Double(snapshot.oldestPendingSeconds))
    }
  }
}
