import Base
import Sessions

/// The counts of deliveries behind `/metrics`.
final class WebhookMetrics: Sendable {
  struct Snapshot: Sendable, Hashable {
    /// Attempts by what they came to.
    var delivered = 0
    var retried = 0
    var dead = 0
    /// What waits in the store, all processes' alike.
    var outbox: OutboxState?
    var oldestPendingSeconds: Int64 = 0
  }

  private let state = Locked(Snapshot())

  var snapshot: Snapshot { state.withLock { $0 } }

  func note(_ result: DeliveryResult) {
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
