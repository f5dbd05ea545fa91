import Base
import Network
import Sessions
import Trust

/// Delivers each event from the store's outbox at least once. Processes may share a store. A claimed delivery becomes
/// due again when its lease ends. A failing endpoint gets one attempt at a time until one succeeds.
final class WebhookDispatcher: Sendable {
  struct Parts: Sendable {
    let store: any EventStore
    let relyingParties: @Sendable () -> RelyingParties
    let mode: ServerMode
    let poster: WebPoster
    let log: Log
    let clock: @Sendable () -> Timestamp
    var metrics = WebhookMetrics()
    /// The time between checks of the outbox.
    var interval = Duration.seconds(1)
    /// The time that a stop waits for attempts in progress.
    var grace = Duration.seconds(2)
  }

  /// The number of events distributed in one transaction. It is small, since session writes wait for the transaction.
  private static let portion = 200

  let parts: Parts
  private let plan = Locked(DeliveryPlan())
  private let wake: AsyncStream<Void>.Continuation
  private let tasks: Locked<[Task<Void, Never>]>

  init(_ parts: Parts) {
    self.parts = parts
    let (signals, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.wake = wake
    tasks = Locked([])
    let running = Task { await run(signals) }
    let ticking = Task { await tick() }
    tasks.withLock { $0 = [running, ticking] }
  }

  /// Stops claiming deliveries, waits up to `grace` for attempts in progress, and returns once all are recorded.
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
          let address = WebhookAddress(delivery)
          guard let (party, endpoint) = endpoints[address] else { continue }
          group.addTask { await self.attempt(delivery, at: endpoint, of: party, address) }
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
      // Distribute one batch at a time, so that a backlog of events does not delay due deliveries.
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

  /// Logs once that the store fails. The outbox is unchanged. It is checked again at the next tick.
  private func failed() {
    guard plan.withLock({ $0.noteStore(fails: true) }) else { return }
    parts.log.write(
      .warning, "webhooks.store_failed", at: parts.clock(), ["code": .string(Code.apiStoreUnavailable.rawValue)])
  }

  // MARK: Attempts

  private func attempt(
    _ delivery: DeliveryRecord, at endpoint: WebhookEndpoint, of party: RelyingParty, _ address: WebhookAddress
  ) async {
    let (result, fault) = await DeliveryAttempt(parts: parts).run(
      delivery, at: endpoint, showsMetadata: party.policies.eventsHaveMetadata)
    do throws(StoreError) {
      if try await parts.store.recordDelivery(delivery, result) { note(result, of: delivery) }
    } catch {
      // If the result is not recorded, the delivery is retried when its lease ends.
      failed()
    }
    if let change = plan.withLock({ $0.ended(address, succeeded: fault == nil) }) { note(change, of: address, fault) }
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

  /// Logs once when an endpoint begins to fail, and once when it accepts messages again.
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

final class WebhookMetrics: Sendable {
  struct Snapshot: Sendable, Hashable {
    var delivered = 0
    var retried = 0
    var dead = 0
    /// The number of waiting deliveries in the store, across all processes; nil before the first count.
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
    let age = now.secondsSince1970 - (outbox.oldestPending ?? now).secondsSince1970
    state.withLock { ($0.outbox, $0.oldestPendingSeconds) = (outbox, max(0, age)) }
  }
}
