import Base
import TestMode
import Vectors

/// The results of a load.
struct LoadFigures: Sendable {
  let rate: Double
  let seconds: Double
  /// Seconds from sending a request to its reply, for accepted requests.
  var created: [Double] = []
  var submitted: [Double] = []
  /// Seconds from the time when a flow was due to its verified session.
  private(set) var flows: [Double] = []
  /// Flows that ended in each second.
  private(set) var perSecond: [Int] = []
  var shedCreations = 0
  var shedSubmits = 0
  /// Flows that could not start because no connection was free. This is the generator's limit, not the server's.
  var unsent = 0
  var unanswered = 0
  var broken = 0
  /// Flows that ended after their creation because no prepared response was left.
  var withoutAnswer = 0
  /// Other replies, counted by HTTP status.
  var wrong: [Int: Int] = [:]
  /// How long the server took to recover: seconds from the load's end until the last flow was due that was refused or
  /// could not start; nil if there was none.
  private(set) var lastRefused: Double?
  /// The most memory of the server's process in KiB, and its processor seconds over the run by thread names. Nil and
  /// empty if the server is not ours.
  var memory: Int?
  var processors: [String: Double] = [:]
  var counts: ProcessCounts?
  var stages: StageTimes?
  /// Processor seconds of this program and of all PostgreSQL processes on this machine over the run, and of one
  /// verification's primitives.
  var generator = 0.0
  var database = 0.0
  var floor: Double?

  init(rate: Double, seconds: Double) {
    self.rate = rate
    self.seconds = seconds
  }

  mutating func noteFlow(due: Double, endedAt now: Double) {
    if due < seconds { flows.append(now - due) }
    let second = Int(now)
    while perSecond.count <= second { perSecond.append(0) }
    perSecond[second] += 1
  }

  mutating func noteRefused(due: Double) {
    if due >= seconds { lastRefused = max(lastRefused ?? 0, due - seconds) }
  }

  /// The floor's share of the server's processor time.
  var floorShare: Double? {
    let used = processors.values.reduce(0, +)
    return floor.flatMap { used > 0 ? $0 * Double(perSecond.reduce(0, +)) / used : nil }
  }

  /// Verified flows per second, for flows that ended during the load.
  var goodput: Double { Double(perSecond.prefix(Int(seconds)).reduce(0, +)) / seconds }

  static func percentile(_ values: [Double], _ percent: Int) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
  }

  private static func milliseconds(_ values: [Double]) -> String {
    "\(decimal(percentile(values, 50) * 1_000, 2)) / \(decimal(percentile(values, 99) * 1_000, 2)) ms"
  }

  var facts: [(name: String, value: String)] {
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
    if let lastRefused { facts.append(("last refusal after the load", "\(decimal(lastRefused, 2)) s")) }
    if let memory { facts.append(("server's memory, at most", "\(memory) KiB")) }
    let count = Double(max(1, perSecond.reduce(0, +)))
    func cost(_ seconds: Double) -> String { "\(decimal(max(0, seconds) / count * 1e6, 0)) µs" }
    if !processors.isEmpty {
      facts.append(("server's processor time a flow", cost(processors.values.reduce(0, +))))
      for (thread, seconds) in processors.sorted(by: { $0.value > $1.value }) where seconds > 0 {
        facts.append(("  \(thread)", cost(seconds)))
      }
    }
    if let counts {
      let perFlow = [
        ("writing calls", counts.writes), ("bytes written", counts.bytesWritten), ("bytes to disk", counts.bytesToDisk),
        ("waits", counts.switches),
      ]
      for (name, number) in perFlow { facts.append(("  \(name)", decimal(Double(max(0, number)) / count, 1))) }
    }
    if let floor, let floorShare {
      facts.append(("  floor, and its share", "\(cost(floor * count)), \(decimal(floorShare, 2))"))
    }
    if let parts = stages?.parts, !parts.isEmpty {
      facts.append(("a flow's time, with what it waits", ""))
      for part in parts { facts.append(("  \(part.name)", cost(part.seconds))) }
    }
    facts.append(("generator's, a flow", cost(generator)))
    if database > 0 { facts.append(("PostgreSQL's, a flow", cost(database))) }
    return facts
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
      "last_refusal_after_seconds": lastRefused.map { .double($0) },
      "peak_resident_kib": memory.map { .integer(Int64($0)) },
      "server_processor_seconds": .object(
        processors.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .double($0.value)) }),
      "server_counts": counts.map { counts in
        [
          "writes": .integer(Int64(counts.writes)), "bytes_written": .integer(Int64(counts.bytesWritten)),
          "bytes_to_disk": .integer(Int64(counts.bytesToDisk)), "voluntary_switches": .integer(Int64(counts.switches)),
        ]
      },
      "stage_seconds": stages.map { stages in
        .object(
          stages.parts.map {
            JSON.Member($0.name.filter { $0 != "," }.split(separator: " ").joined(separator: "_"), .double($0.seconds))
          })
      },
      "floor_share": floorShare.map { .double($0) },
      "generator_processor_seconds": .double(generator), "postgresql_processor_seconds": .double(database),
    ])
  }
}

/// Seconds that the parts of flows took in a server, waiting included, summed over all flows. They come from the
/// histograms of its metrics.
struct StageTimes: Sendable {
  /// The sums by the sample's name and label.
  private var sums: [String: Double] = [:]

  /// The parts of a flow's two requests, with their samples: waiting for a turn, each request as a whole, and its
  /// stages.
  private static let parts = [
    ("waiting for a turn", "mdoc_http_queue_wait_seconds"),
    ("creation", "mdoc_http_request_duration_seconds{route=\"/v1/verification_sessions\"}"),
    ("  stored", "mdoc_store_operation_duration_seconds{operation=\"create\"}"),
    ("submit", "mdoc_http_request_duration_seconds{route=\"/v1/verification_sessions/{id}/submit\"}"),
    ("  challenge consumed", stage("consume")), ("  opened and parsed", stage("open")),
    ("  authenticated", stage("verify")), ("  judged, sealed, rendered", stage("conclude")),
    ("  outcome stored", stage("outcome")),
  ]

  private static func stage(_ name: String) -> String {
    "mdoc_verification_stage_duration_seconds{stage=\"\(name)\"}"
  }

  /// Reads the server's metrics; empty if it does not give them.
  init(port: UInt16, token: String) {
    guard let connection = try? ClientConnection(port: port, token: token),
      (try? connection.send("GET", "/metrics")) != nil, let reply = try? connection.receive()
    else { return }
    for line in String(decoding: reply.body, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard let name = fields.first, fields.count == 2, let value = Double(fields[1]) else { continue }
      let family = name.prefix { $0 != "{" }
      guard family.hasSuffix("_sum") else { continue }
      sums["\(family.dropLast(4))\(name.dropFirst(family.count))"] = value
    }
  }

  static func - (left: StageTimes, right: StageTimes) -> StageTimes {
    var rest = left
    // A sample that is missing in `right` began at zero.
    for (name, before) in right.sums { rest.sums[name]? -= before }
    return rest
  }

  /// The seconds of each part that the server reported, in the order of a flow.
  var parts: [(name: String, seconds: Double)] {
    Self.parts.compactMap { name, sample in sums[sample].map { (name, $0) } }
  }
}
