import Base
import HTTP
import Sessions
import Synchronization
import Trust

/// What `/metrics` says. Nothing of it names a person, a session or a caller: labels are words of the program, and names
/// of trust sources.
enum MetricsText {
  static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  static func render(_ application: Application, audit heads: [AuditHead]) -> [UInt8] {
    let snapshot = application.metrics.snapshot
    var text = MetricsWriter()
    text.family("mdoc_info", .gauge, "What this server is.")
    text.sample("mdoc_info", [("mode", application.service.isLive ? "live" : "test")], 1)
    text.single("mdoc_uptime_seconds", .gauge, "Seconds since the start.", application.metrics.uptimeSeconds)
    requests(snapshot, &text)
    load(snapshot, application, &text)
    verifications(snapshot, &text)
    store(snapshot, &text)
    trust(application, &text)
    certificates(application, &text)
    fetches(application.fetches.counts, &text)
    ConfigurationMetrics.write(application, to: &text)
    webhooks(application.webhooks.snapshot, &text)
    audit(heads, &text)
    return Array(text.lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
  }

  private static func requests(_ snapshot: Metrics.Snapshot, _ text: inout MetricsWriter) {
    text.single(
      "mdoc_http_requests_in_flight", .gauge, "Requests being answered now.", Double(snapshot.inFlight))
    text.family("mdoc_http_requests_total", .counter, "Requests by route template and status.")
    let order = snapshot.requests.sorted {
      ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
    }
    for (labels, count) in order {
      text.sample(
        "mdoc_http_requests_total",
        [("method", labels.method), ("route", labels.route), ("status", "\(labels.status)")], Double(count))
    }
    text.family("mdoc_http_refusals_total", .counter, "Requests that were answered with a problem, by its code.")
    for (code, count) in snapshot.refusals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      text.sample("mdoc_http_refusals_total", [("code", code.rawValue)], Double(count))
    }
    let name = "mdoc_http_request_duration_seconds"
    text.family(name, .histogram, "Seconds from the whole request to its reply, with what it waited for its turn.")
    for (route, histogram) in snapshot.durations.sorted(by: { $0.key < $1.key }) {
      text.histogram(name, [("route", route)], histogram)
    }
  }

  /// How near the server is to what it can do.
  private static func load(_ snapshot: Metrics.Snapshot, _ application: Application, _ text: inout MetricsWriter) {
    let gauges = application.edge.gauges
    text.single(
      "mdoc_http_queue_depth", .gauge, "Requests that wait for their turn.",
      Double(gauges.waiting.load(ordering: .relaxed)))
    text.single(
      "mdoc_http_requests_running", .gauge, "Requests that take one of the places among those handled at one time.",
      Double(gauges.running.load(ordering: .relaxed)))
    text.single(
      "mdoc_http_body_bytes", .gauge, "Bytes of request bodies that are held.",
      Double(gauges.bodyBytes.load(ordering: .relaxed)))
    text.family("mdoc_http_queue_wait_seconds", .histogram, "Seconds that requests waited for their turn.")
    text.histogram("mdoc_http_queue_wait_seconds", [], snapshot.queueWait)
    text.family("mdoc_http_shed_total", .counter, "Requests refused for load, by what was too much.")
    for overload in Overload.allCases {
      text.sample("mdoc_http_shed_total", [("reason", overload.rawValue)], Double(snapshot.shed[overload] ?? 0))
    }
    text.family("mdoc_http_rate_limited_total", .counter, "Requests refused for their rate, by whose limit it was.")
    for subject in RateLimiter.Subject.allCases {
      text.sample(
        "mdoc_http_rate_limited_total", [("limit", subject.rawValue)], Double(snapshot.limited[subject] ?? 0))
    }
    text.single(
      "mdoc_http_failed_authentications_total", .counter, "Requests whose credential was missing or wrong.",
      Double(snapshot.failedAuthentications))
  }

  private static func verifications(_ snapshot: Metrics.Snapshot, _ text: inout MetricsWriter) {
    text.family("mdoc_verifications_total", .counter, "Answers by outcome and first failed check.")
    let order = snapshot.verifications.sorted {
      ($0.key.outcome.rawValue, $0.key.code?.rawValue ?? "") < ($1.key.outcome.rawValue, $1.key.code?.rawValue ?? "")
    }
    for (labels, count) in order {
      text.sample(
        "mdoc_verifications_total",
        [("outcome", labels.outcome.rawValue), ("code", labels.code?.rawValue ?? "")], Double(count))
    }
    let name = "mdoc_verification_stage_duration_seconds"
    text.family(name, .histogram, "Seconds that the stages of answers' verifications took.")
    for (stage, histogram) in snapshot.stages.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      text.histogram(name, [("stage", stage.rawValue)], histogram)
    }
  }

  private static func store(_ snapshot: Metrics.Snapshot, _ text: inout MetricsWriter) {
    let operations = snapshot.store.sorted { $0.key < $1.key }
    let name = "mdoc_store_operation_duration_seconds"
    text.family(name, .histogram, "Seconds that the store's operations took, with what they waited for others.")
    for (operation, use) in operations { text.histogram(name, [("operation", operation)], use.durations) }
    text.family("mdoc_store_failures_total", .counter, "Operations of the store that failed.")
    for (operation, use) in operations {
      text.sample("mdoc_store_failures_total", [("operation", operation)], Double(use.failures))
    }
  }

  private static func fetches(_ counts: FetchLog.Counts, _ text: inout MetricsWriter) {
    text.family("mdoc_list_fetches_total", .counter, "Published lists that were asked for, by outcome.")
    for (outcome, count) in [
      ("fetched", counts.fetched), ("not_allowed", counts.notAllowed), ("too_large", counts.tooLarge),
      ("unavailable", counts.unavailable),
    ] {
      text.sample("mdoc_list_fetches_total", [("outcome", outcome)], Double(count))
    }
    text.single(
      "mdoc_list_fetched_bytes_total", .counter, "Bytes of the lists that were fetched.", Double(counts.fetchedBytes))
  }
}
