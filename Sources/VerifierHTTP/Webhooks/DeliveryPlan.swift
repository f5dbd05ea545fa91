import Primitives
import VerificationService

/// What is under way, and with that what may be claimed next.
struct DeliveryPlan {
  enum Change: Sendable { case fails, recovered }

  /// What is to be done for one wake-up.
  struct Turn: Sendable {
    /// Whether it is time to look at everything, and not at backlogs alone.
    let isTick: Bool
    /// Whether it is also time to count what waits, which takes longer the more there is.
    let measures: Bool
  }

  private static let ticksBetweenMeasures = 10

  var isTickDue = false
  private var ticks = 0
  private var isStoreFailing = false
  private var underWay: [WebhookAddress: Int] = [:]
  /// Endpoints whose last attempt came to nothing: they get one at a time.
  private var failing: Set<WebhookAddress> = []
  /// Endpoints that had as much as they could be given: there may be more.
  private var backlogged: Set<WebhookAddress> = []
  private var turn = 0

  mutating func takeTurn() -> Turn {
    guard isTickDue else { return Turn(isTick: false, measures: false) }
    isTickDue = false
    defer { ticks += 1 }
    return Turn(isTick: true, measures: ticks % Self.ticksBetweenMeasures == 0)
  }

  /// Whether the store thereby began to fail.
  mutating func noteStore(fails: Bool) -> Bool {
    defer { isStoreFailing = fails }
    return fails && !isStoreFailing
  }

  /// How many of each endpoint's deliveries may be claimed now, and of all of them. Whose turn is first changes, so
  /// that of many endpoints none is always the last.
  /// - Parameter all: false for those with a backlog alone, between ticks.
  mutating func quotas(for addresses: [WebhookAddress], all: Bool) -> (quotas: [DeliveryQuota], limit: Int) {
    let asked = addresses.filter { all || backlogged.contains($0) }
      .sorted { ($0.relyingParty, $0.endpoint) < ($1.relyingParty, $1.endpoint) }
    let limit = Limits.deliveries - underWay.values.reduce(0, +)
    guard !asked.isEmpty else { return ([], limit) }
    turn = (turn + 1) % asked.count
    let quotas = (asked[turn...] + asked[..<turn]).compactMap { address -> DeliveryQuota? in
      let most = failing.contains(address) ? 1 : Limits.endpointDeliveries
      let room = most - underWay[address, default: 0]
      return room > 0 ? DeliveryQuota(address: address, limit: room) : nil
    }
    return (quotas, limit)
  }

  mutating func began(_ deliveries: [DeliveryRecord], of quotas: [DeliveryQuota]) {
    var counts: [WebhookAddress: Int] = [:]
    for delivery in deliveries {
      counts[
        WebhookAddress(relyingParty: delivery.event.relyingParty, endpoint: delivery.endpoint), default: 0] += 1
    }
    for quota in quotas {
      let count = counts[quota.address] ?? 0
      if count > 0 { underWay[quota.address, default: 0] += count }
      if count == quota.limit { backlogged.insert(quota.address) } else { backlogged.remove(quota.address) }
    }
  }

  /// Whether the endpoint thereby began to fail, or to take messages again.
  mutating func ended(_ address: WebhookAddress, succeeded: Bool) -> Change? {
    let count = underWay[address, default: 1] - 1
    underWay[address] = count > 0 ? count : nil
    if succeeded { return failing.remove(address) == nil ? nil : .recovered }
    return failing.insert(address).inserted ? .fails : nil
  }
}
