import Base
import Sessions
import Testing

@testable import App

/// The endpoints that get attempts while receivers never reply.
@Suite struct DeliveryPlanTests {
  /// An outbox in which each endpoint has this number of due deliveries.
  private struct Outbox {
    var due: [WebhookAddress: Int]
    var plan = DeliveryPlan()
    var underWay: [WebhookAddress: Int] = [:]

    /// One wake-up: claimed deliveries begin, but do not end.
    mutating func turn(isTick: Bool = true) throws {
      let addresses = Array(due.keys)
      try claim(plan.firsts(for: addresses, all: isTick))
      try claim(plan.quotas(for: addresses, all: isTick))
    }

    private mutating func claim(_ asked: (quotas: [DeliveryQuota], limit: Int)) throws {
      var left = asked.limit
      var claimed: [DeliveryRecord] = []
      for quota in asked.quotas {
        let count = min(quota.limit, left, due[quota.address] ?? 0)
        guard count > 0 else { continue }
        left -= count
        due[quota.address]? -= count
        underWay[quota.address, default: 0] += count
        for _ in 0..<count {
          let event = EventRecord(
            id: EventID(try SessionID.random(), .verified), relyingParty: quota.address.relyingParty,
            created: Timestamp(secondsSince1970: 0), errorCode: nil)
          claimed.append(
            DeliveryRecord(
              event: event, endpoint: quota.address.endpoint, begun: event.created, due: event.created))
        }
      }
      plan.began(claimed, of: asked.quotas)
    }

    func count(_ relyingParty: String) -> Int {
      underWay.filter { $0.key.relyingParty == relyingParty }.values.reduce(0, +)
    }
  }

  private func endpoints(_ party: String, _ count: Int, due: Int) -> [WebhookAddress: Int] {
    Dictionary(
      uniqueKeysWithValues: (0..<count).map { (WebhookAddress(relyingParty: party, endpoint: "e\($0)"), due) })
  }

  @Test func `eight slow endpoints leave a place for every other's`() throws {
    var outbox = Outbox(due: endpoints("slow", 8, due: 1_000))
    for _ in 0..<20 { try outbox.turn() }
    #expect(outbox.count("slow") == 8 * Limits.endpointDeliveries)
    for index in 0..<40 { outbox.due.merge(endpoints("party\(index)", 1, due: 3)) { $1 } }
    try outbox.turn()
    for index in 0..<40 { #expect(outbox.count("party\(index)") >= 1) }
  }

  @Test func `what is not the first of its endpoint is shared evenly between relying parties`() throws {
    var outbox = Outbox(due: endpoints("a", 8, due: 1_000).merging(endpoints("b", 8, due: 1_000)) { $1 })
    for _ in 0..<20 { try outbox.turn() }
    #expect(outbox.count("a") == 8 + Limits.deliveries / 2 && outbox.count("b") == 8 + Limits.deliveries / 2)
  }

  @Test func `an endpoint that fails gets one attempt at a time, until it takes one`() throws {
    let address = WebhookAddress(relyingParty: "shop", endpoint: "e0")
    var outbox = Outbox(due: [address: 100])
    try outbox.turn()
    #expect(outbox.underWay[address] == Limits.endpointDeliveries)
    #expect(outbox.plan.ended(address, succeeded: false) == .fails)
    for _ in 1..<Limits.endpointDeliveries { #expect(outbox.plan.ended(address, succeeded: false) == nil) }
    outbox.underWay = [:]
    for _ in 0..<3 { try outbox.turn() }
    #expect(outbox.underWay[address] == 1)
    #expect(outbox.plan.ended(address, succeeded: true) == .recovered)
    outbox.underWay = [:]
    for _ in 0..<3 { try outbox.turn() }
    #expect(outbox.underWay[address] == Limits.endpointDeliveries)
  }

  @Test func `first attempts are bounded as well`() throws {
    var outbox = Outbox(due: [:])
    for index in 0..<200 { outbox.due.merge(endpoints("party\(index)", 8, due: 1)) { $1 } }
    for _ in 0..<3 { try outbox.turn() }
    #expect(outbox.underWay.count == Limits.firstDeliveries)
  }
}
