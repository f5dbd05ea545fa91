import Primitives

/// What came of a load.
struct LoadFigures: Sendable {
  let rate: Double
  let seconds: Double
  /// Seconds from sending to the reply, of requests that were accepted.
  var created: [Double] = []
  var submitted: [Double] = []
  /// Seconds from when a flow was due to its verified session.
  private(set) var flows: [Double] = []
  /// Flows that ended in each second.
  private(set) var perSecond: [Int] = []
  var shedCreations = 0
  var shedSubmits = 0
  /// Flows for which no connection was free: the generator's limit, not the server's.
  var unsent = 0
  var unanswered = 0
  var broken = 0
  /// Flows after all prepared answers were used.
  var withoutAnswer = 0
  /// Replies of any other status.
  var wrong: [Int: Int] = [:]
  /// Of the server's process, where it is ours: KiB, and processor seconds over the run.
  var memory: Int?
  var processorSeconds: Double?

  init(rate: Double, seconds: Double) {
    self.rate = rate
    self.seconds = seconds
  }

  mutating func noteFlow(_ duration: Double, endedAt now: Double) {
    flows.append(duration)
    let second = Int(now)
    while perSecond.count <= second { perSecond.append(0) }
    perSecond[second] += 1
  }

  /// Whole flows a second, of those that ended while the load lasted.
  var goodput: Double { Double(perSecond.prefix(Int(seconds)).reduce(0, +)) / seconds }

  static func percentile(_ values: [Double], _ percent: Int) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
  }

  private static func milliseconds(_ values: [Double]) -> String {
    "\(decimal(percentile(values, 50) * 1_000, 2)) / \(decimal(percentile(values, 99) * 1_000, 2)) ms"
  }

  var text: String {
    var facts = [
      ("flows a second, offered", decimal(rate, 0)), ("flows a second, verified", decimal(goodput, 0)),
      ("created, p50 / p99", Self.milliseconds(created)), ("submitted, p50 / p99", Self.milliseconds(submitted)),
      ("whole flow, p50 / p99", Self.milliseconds(flows)), ("creations shed", "\(shedCreations)"),
      ("submits shed", "\(shedSubmits)"), ("flows in each second", perSecond.map(String.init).joined(separator: " ")),
    ]
    for (name, count) in [
      ("not sent: no connection was free", unsent), ("unanswered", unanswered), ("broken connections", broken),
      ("no answer was left", withoutAnswer),
    ] where count > 0 { facts.append((name, "\(count)")) }
    for (status, count) in wrong.sorted(by: { $0.key < $1.key }) { facts.append(("HTTP \(status)", "\(count)")) }
    if let memory { facts.append(("server's memory", "\(memory) KiB")) }
    if let processorSeconds { facts.append(("server's processors", decimal(processorSeconds / seconds, 2))) }
    return Wrapping.columns(facts, indent: 0, width: 100)
  }

  var json: JSON {
    func micros(_ values: [Double], _ percent: Int) -> JSON {
      .integer(Int64(Self.percentile(values, percent) * 1e6))
    }
    return .members([
      "offered_per_second": .double(rate), "verified_per_second": .double(goodput),
      "create_p50_microseconds": micros(created, 50), "create_p99_microseconds": micros(created, 99),
      "submit_p50_microseconds": micros(submitted, 50), "submit_p99_microseconds": micros(submitted, 99),
      "flow_p50_microseconds": micros(flows, 50), "flow_p99_microseconds": micros(flows, 99),
      "creations_shed": .integer(Int64(shedCreations)), "submits_shed": .integer(Int64(shedSubmits)),
      "verified_in_each_second": .array(perSecond.map { .integer(Int64($0)) }),
      "unsent": .integer(Int64(unsent)), "unanswered": .integer(Int64(unanswered)),
      "broken": .integer(Int64(broken)), "without_answer": .integer(Int64(withoutAnswer)),
      "other_replies": .integer(Int64(wrong.values.reduce(0, +))),
      "resident_kib": memory.map { .integer(Int64($0)) },
      "processors": processorSeconds.map { .double($0 / seconds) },
    ])
  }
}
