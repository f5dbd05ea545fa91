import Base
import Network
import Sessions
import Trust

/// Decides which deliveries may be claimed next. An endpoint's first concurrent delivery takes no shared slot. Relying
/// parties divide the shared slots evenly.
struct DeliveryPlan {
  enum Change: Sendable { case fails, recovered }

  struct Turn: Sendable {
    /// True to serve all endpoints; false to serve only endpoints with a backlog.
    let isTick: Bool
    /// True to also count the waiting deliveries. The cost grows with their number.
    let measures: Bool
  }

  private static let ticksBetweenMeasures = 10

  var isTickDue = false
  private var ticks = 0
  private var isStoreFailing = false
  private var underWay: [WebhookAddress: Int] = [:]
  /// Endpoints whose last attempt failed. Each gets one attempt at a time.
  private var failing: Set<WebhookAddress> = []
  /// Endpoints whose last claim reached its limit. More of their deliveries may be waiting.
  private var backlogged: Set<WebhookAddress> = []
  private var turn = 0

  mutating func takeTurn() -> Turn {
    guard isTickDue else { return Turn(isTick: false, measures: false) }
    isTickDue = false
    defer { ticks += 1 }
    return Turn(isTick: true, measures: ticks % Self.ticksBetweenMeasures == 0)
  }

  /// Records whether the store fails. Returns true if the store has just begun to fail.
  mutating func noteStore(fails: Bool) -> Bool {
    defer { isStoreFailing = fails }
    return fails && !isStoreFailing
  }

  /// One claim for each endpoint that has no delivery in progress. If `all` is false, includes only endpoints with a
  /// backlog.
  mutating func firsts(for addresses: [WebhookAddress], all: Bool) -> (quotas: [DeliveryQuota], limit: Int) {
    let idle = asked(addresses, all: all).filter { underWay[$0] == nil }
    return (idle.map { DeliveryQuota(address: $0, limit: 1) }, Limits.firstDeliveries - underWay.count)
  }

  /// The number of additional claims, for each endpoint and in total. A failing endpoint gets none.
  mutating func quotas(for addresses: [WebhookAddress], all: Bool) -> (quotas: [DeliveryQuota], limit: Int) {
    var left: [String: Int] = [:]
    let more = asked(addresses, all: all).filter { underWay[$0] != nil && !failing.contains($0) }
    let quotas = more.compactMap { address -> DeliveryQuota? in
      let share = left[address.relyingParty] ?? share(of: address.relyingParty)
      let room = min(Limits.endpointDeliveries - underWay[address, default: 0], share)
      left[address.relyingParty] = share - max(0, room)
      return room > 0 ? DeliveryQuota(address: address, limit: room) : nil
    }
    return (quotas, Limits.deliveries - shared(underWay))
  }

  /// The endpoints to serve. Each call begins with a different endpoint, so that no endpoint is always the last.
  private mutating func asked(_ addresses: [WebhookAddress], all: Bool) -> [WebhookAddress] {
    let asked = addresses.filter { all || backlogged.contains($0) }
      .sorted { ($0.relyingParty, $0.endpoint) < ($1.relyingParty, $1.endpoint) }
    guard !asked.isEmpty else { return [] }
    turn = (turn + 1) % asked.count
    return Array(asked[turn...] + asked[..<turn])
  }

  private func shared(_ underWay: [WebhookAddress: Int]) -> Int { underWay.values.reduce(0) { $0 + $1 - 1 } }

  /// The number of shared slots that a relying party may still take.
  private func share(of relyingParty: String) -> Int {
    let busy = Set((backlogged.map(\.relyingParty) + underWay.filter { $0.value > 1 }.map(\.key.relyingParty)))
    return Limits.deliveries / busy.union([relyingParty]).count
      - shared(underWay.filter { $0.key.relyingParty == relyingParty })
  }

  mutating func began(_ deliveries: [DeliveryRecord], of quotas: [DeliveryQuota]) {
    var counts: [WebhookAddress: Int] = [:]
    for delivery in deliveries {
      counts[WebhookAddress(delivery), default: 0] += 1
    }
    for quota in quotas {
      let count = counts[quota.address] ?? 0
      if count > 0 { underWay[quota.address, default: 0] += count }
      if count == quota.limit { backlogged.insert(quota.address) } else { backlogged.remove(quota.address) }
    }
  }

  /// Records the end of an attempt. Returns a change if the endpoint now begins to fail, or recovers.
  mutating func ended(_ address: WebhookAddress, succeeded: Bool) -> Change? {
    let count = underWay[address, default: 1] - 1
    underWay[address] = count > 0 ? count : nil
    if succeeded { return failing.remove(address) == nil ? nil : .recovered }
    return failing.insert(address).inserted ? .fails : nil
  }
}

extension WebhookAddress {
  init(_ delivery: DeliveryRecord) {
    self.init(relyingParty: delivery.event.relyingParty, endpoint: delivery.endpoint)
  }
}

/// One attempt to deliver an event. It signs the event, posts it under the address guard, and checks the reply's
/// status.
package struct DeliveryAttempt {
  let parts: WebhookDispatcher.Parts

  /// Makes the attempt. Returns the result to record, and the fault if the attempt failed.
  func run(
    _ delivery: DeliveryRecord, at endpoint: WebhookEndpoint, showsMetadata: Bool
  ) async -> (result: AttemptResult, fault: DeliveryFault?) {
    let message = EventMessage(
      delivery.event, isLive: parts.mode.isLive, showsMetadata: showsMetadata, secrets: endpoint.secrets,
      at: parts.clock())
    let post = WebMessage(headers: message.headers.map { "\($0.name): \($0.value)" }, body: message.body)
    do throws(FetchError) {
      let reply = try await parts.poster.post(
        post, to: endpoint.url, allowing: Self.rules(in: parts.mode, endpoint.targets))
      guard let fault = Self.fault(ofStatus: reply.status) else { return (.delivered, nil) }
      return (result(fault, of: delivery, retryAfter: reply.retryAfter), fault)
    } catch {
      let fault: DeliveryFault
      if case .notAllowed = error { fault = DeliveryFault(.notAllowed) } else { fault = DeliveryFault(.unavailable) }
      return (result(fault, of: delivery, retryAfter: nil), fault)
    }
  }

  /// The rules for posting messages. Only test mode may post to this machine or without TLS.
  package static func rules(in mode: ServerMode, _ targets: InternalTargets = .none) -> FetchRules {
    FetchRules(
      allowsPlainHTTP: mode == .test, allowsLoopback: mode == .test, internalTargets: targets,
      maximumBytes: Limits.deliveryReplyBytes,
      maximumRedirects: 0, timeLimit: .seconds(Limits.deliverySeconds))
  }

  static func fault(ofStatus status: Int) -> DeliveryFault? {
    switch status {
    case 200..<300: nil
    case 300..<400: DeliveryFault(.redirected, httpStatus: status)
    case 410: DeliveryFault(.gone, httpStatus: status)
    default: DeliveryFault(.refused, httpStatus: status)
    }
  }

  private func result(
    _ fault: DeliveryFault, of delivery: DeliveryRecord, retryAfter: RetryAfter?
  ) -> AttemptResult {
    if fault.reason == .gone { return .dead(fault) }
    let now = parts.clock()
    var next = now + Self.pause(afterAttempt: delivery.attempts, jitter: .random(in: 0.8...1.2))
    if let asked = retryAfter?.time(from: now) {
      next = max(next, min(asked, now + Limits.longestDeliveryPause))
    }
    return next > delivery.begun + Limits.deliverySpan ? .dead(fault) : .retry(at: next, fault)
  }

  /// Seconds until the next attempt. Each pause is five times the previous pause, up to some hours. The jitter spreads
  /// attempts.
  static func pause(afterAttempt attempt: Int, jitter: Double) -> Int64 {
    var pause = Limits.shortestDeliveryPause
    for _ in 1..<max(1, min(attempt, 16)) { pause = min(pause * 5, Limits.longestDeliveryPause) }
    return max(1, Int64((Double(pause) * jitter).rounded()))
  }
}
