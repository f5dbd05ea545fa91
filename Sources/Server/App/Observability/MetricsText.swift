import Base
import HTTP
import Longfellow
import PKIX
import Sessions
import Synchronization
import Trust

/// Writes the text of `/metrics`. Labels are fixed words of the program, or names of trust sources and nodes.
enum MetricsText {
  static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  static func render(
    _ application: Application, audit heads: [AuditHead], tokens: [(holder: String, isAvailable: Bool)]
  ) -> [UInt8] {
    let (service, snapshot) = (application.service, application.metrics.snapshot)
    var text = MetricsWriter()
    text.add(
      "mdoc_info", "Mode and version of this server.", by: ["mode", "version"],
      [([service.mode.rawValue, ProgramVersion.text], 1)])
    text.add("mdoc_uptime_seconds", "Seconds since the start.", application.metrics.uptimeSeconds)
    requests(snapshot, application.edge.gauges, &text)
    verifications(snapshot, service.circuits, &text)
    text.add(
      "mdoc_store_operation_duration_seconds",
      "Duration of store operations in seconds, including waits for other operations.",
      by: "operation", snapshot.store.mapValues(\.durations).byName(\.self))
    text.add(
      "mdoc_store_failures_total", "Failed operations of the store.", by: "operation",
      snapshot.store.mapValues(\.failures).byName(\.self))
    trust(application, &text)
    certificates(service.relyingParties, application, &text)
    text.add(
      "mdoc_token_up", "1 if the PKCS #11 token responds now, otherwise 0.", by: "token",
      tokens.map { ($0.holder, $0.isAvailable) })
    let (fetches, state) = (application.fetches.counts, application.state.configuration)
    text.add(
      "mdoc_list_fetches_total", "Fetches of published lists, by outcome.", by: "outcome",
      [
        ("fetched", fetches.fetched), ("not_allowed", fetches.notAllowed), ("too_large", fetches.tooLarge),
        ("unavailable", fetches.unavailable),
      ])
    text.add("mdoc_list_fetched_bytes_total", "Bytes of fetched lists.", fetches.fetchedBytes)
    text.add(
      "mdoc_configuration_loaded_timestamp_seconds",
      "The time at which the configuration in force was read, in Unix seconds.",
      state.loadedAt)
    text.add(
      "mdoc_configuration_current",
      "1 if the latest reading of the file is in force, otherwise 0.", state.isCurrent)
    text.add(
      "mdoc_configuration_reload_failures_total",
      "Failed reloads of the configuration. The previous configuration stays in force.",
      state.failures)
    text.add(
      "mdoc_api_key_next_expiry_timestamp_seconds", "The earliest expiry of a valid API key, in Unix seconds.",
      service.relyingParties.nextKeyExpiry(after: application.clock()))
    webhooks(application.webhooks.snapshot, &text)
    // The count comes from the heads in the store. It therefore falls if a chain is shortened.
    text.add(
      "mdoc_audit_entries_total", "Audit entries in the store, by node.", by: "node",
      heads.map { ($0.node.text, $0.sequence) })
    return Array(text.lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
  }

  private static func requests(
    _ snapshot: Metrics.Snapshot, _ gauges: TransportGauges, _ text: inout MetricsWriter
  ) {
    text.add("mdoc_http_requests_in_flight", "Requests in progress.", snapshot.inFlight)
    let order = snapshot.requests.sorted {
      ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
    }
    text.add(
      "mdoc_http_requests_total", "Requests by route template and status.", by: ["method", "route", "status"],
      order.map { ([$0.key.method, $0.key.route, "\($0.key.status)"], $0.value) })
    text.add(
      "mdoc_http_refusals_total", "Requests refused with a problem.", by: "code", snapshot.refusals.byName(\.rawValue))
    text.add(
      "mdoc_http_request_duration_seconds",
      "Seconds from receiving the whole request to its reply, including the time in the queue.",
      by: "route", snapshot.durations.byName(\.self))
    text.add("mdoc_http_queue_depth", "Queued requests.", gauges.waiting.load(ordering: .relaxed))
    text.add(
      "mdoc_http_requests_running", "Requests being handled now. The server limits their number.",
      gauges.running.load(ordering: .relaxed))
    text.add("mdoc_http_body_bytes", "Bytes of request bodies in memory.", gauges.bodyBytes.load(ordering: .relaxed))
    text.add("mdoc_http_queue_wait_seconds", "Seconds that requests spent in the queue.", snapshot.queueWait)
    text.add(
      "mdoc_http_shed_total", "Requests refused because of load, by the exceeded limit.", by: "reason",
      Overload.allCases.map { ($0.rawValue, snapshot.shed[$0] ?? 0) })
    text.add(
      "mdoc_http_rate_limited_total", "Requests refused because of their rate, by the exceeded limit.", by: "limit",
      RateLimiter.Subject.allCases.map { ($0.rawValue, snapshot.limited[$0] ?? 0) })
    text.add(
      "mdoc_http_failed_authentications_total", "Requests whose credential was missing or wrong.",
      snapshot.failedAuthentications)
  }

  /// Counts verifications. Every loadable circuit (at most eight) has samples from the start.
  private static func verifications(
    _ snapshot: Metrics.Snapshot, _ library: CircuitLibrary?, _ text: inout MetricsWriter
  ) {
    let order = snapshot.verifications.map { ([$0.key.outcome.rawValue, $0.key.code?.rawValue ?? ""], $0.value) }
    text.add(
      "mdoc_verifications_total", "Responses by outcome and first failed check.", by: ["outcome", "code"],
      order.sorted { ($0.0[0], $0.0[1]) < ($1.0[0], $1.0[1]) })
    text.add(
      "mdoc_verification_stage_duration_seconds", "Duration of the stages of verification, in seconds.", by: "stage",
      snapshot.stages.byName(\.rawValue))
    let circuits = library?.circuits ?? []
    let used = KnownCircuit.all.filter { snapshot.proofs[$0] != nil || circuits.contains($0) }
      .map { (name: $0.name, use: snapshot.proofs[$0] ?? Metrics.ProofUse()) }
    text.add(
      "mdoc_zk_proofs_total", "Zero-knowledge proofs that were verified to the end, by circuit and outcome.",
      by: ["circuit", "outcome"],
      used.flatMap { [([$0.name, "verified"], $0.use.verified), ([$0.name, "refused"], $0.use.refused)] })
    text.add(
      "mdoc_zk_proof_duration_seconds", "Duration of the verification of proofs, in seconds.", by: "circuit",
      used.map { ($0.name, $0.use.durations) })
    text.add(
      "mdoc_zk_circuit_loaded", "1 if the circuit is in memory, 0 before its first use or if it is damaged.",
      by: "circuit", circuits.map { ($0.name, library?.isLoaded($0) == true) })
  }

  private static func trust(_ application: Application, _ text: inout MetricsWriter) {
    let (now, store, status) = (application.clock(), application.trust.inForce.current, application.trust.status)
    text.add("mdoc_trust_anchors", "Trust anchors that are valid now.", store.anchorsInForce(at: now))
    text.add(
      "mdoc_trust_anchor_next_expiry_timestamp_seconds", "The earliest expiry of a valid anchor, in Unix seconds.",
      store.nextExpiry(after: now))
    text.add(
      "mdoc_trust_loaded_timestamp_seconds", "The time at which the anchors in force were loaded, in Unix seconds.",
      status.loadedAt)
    text.add(
      "mdoc_trust_age_seconds", "Seconds since the anchors in force were loaded.",
      max(0, now.secondsSince1970 - status.loadedAt.secondsSince1970))
    text.add(
      "mdoc_trust_list_next_expiry_timestamp_seconds", "The earliest expiry of a list in force, in Unix seconds.",
      status.sources.filter { $0.outcome != .failed }.compactMap(\.validUntil).min())
    text.add(
      "mdoc_trust_reload_failures_total",
      "Failed loads of the anchors. The previous anchors stay in force.", status.failures)
    text.add(
      "mdoc_trust_source_anchors", "Anchors by source and outcome of its last load.", by: ["source", "outcome"],
      status.sources.map { ([$0.name, $0.outcome.rawValue], $0.anchorCount) })
  }

  /// The operator's own certificates: of readers, merchants and the server.
  private static func certificates(
    _ parties: RelyingParties, _ application: Application, _ text: inout MetricsWriter
  ) {
    for kind in PartyCertificates.Kind.allCases {
      let (found, kind) = (PartyCertificates(kind, of: parties, at: application.clock()), kind.rawValue)
      text.add(
        "mdoc_\(kind)_certificates", "Certificates of the relying parties' \(kind)s, by validity.", by: "state",
        [
          ("valid", found.count - found.expired - found.expiring), ("expiring", found.expiring),
          ("expired", found.expired),
        ])
      text.add(
        "mdoc_\(kind)_certificate_next_expiry_timestamp_seconds",
        "The earliest expiry of a valid \(kind) certificate, in Unix seconds.", found.nextExpiry)
    }
    text.add(
      "mdoc_tls_certificate_expiry_timestamp_seconds",
      "The earliest expiry in the server's TLS chain, in Unix seconds.", application.edge.tls?.expiry)
  }

  private static func webhooks(_ snapshot: WebhookMetrics.Snapshot, _ text: inout MetricsWriter) {
    text.add(
      "mdoc_webhook_attempts_total", "Attempts to deliver an event, by outcome.", by: "outcome",
      [("delivered", snapshot.delivered), ("retry", snapshot.retried), ("dead", snapshot.dead)])
    text.add(
      "mdoc_webhook_deliveries", "Open deliveries in the store, by status.", by: "status",
      snapshot.outbox.map { [("pending", $0.pending), ("dead", $0.dead)] } ?? [])
    text.add(
      "mdoc_webhook_oldest_pending_seconds", "Seconds that the oldest pending delivery has waited.",
      snapshot.outbox.map { _ in snapshot.oldestPendingSeconds })
  }
}

extension Dictionary where Value: MetricValue {
  fileprivate func byName(_ name: (Key) -> String) -> [(String, Value)] {
    map { (name($0.key), $0.value) }.sorted { $0.0 < $1.0 }
  }
}

extension TrustStore {
  func anchorsInForce(at now: Timestamp) -> Int { anchors.count { $0.isInForce(at: now) } }

  func nextExpiry(after now: Timestamp) -> Timestamp? {
    anchors.map(\.certificate.validity).filter { $0.contains(now) }.map(\.upperBound).min()
  }
}

/// Writes Prometheus' text exposition format, 0.0.4. A name that ends in `_total` denotes a counter.
struct MetricsWriter {
  private(set) var lines: [String] = []

  /// Writes a family with one sample, or with none if the value is nil.
  mutating func add<Value: MetricValue>(_ name: String, _ help: String, _ value: Value?) {
    add(name, help, by: [], value.map { [([], $0)] } ?? [])
  }

  mutating func add<Value: MetricValue>(_ name: String, _ help: String, by label: String, _ samples: [(String, Value)])
  {
    add(name, help, by: [label], samples.map { ([$0], $1) })
  }

  /// - Parameter samples: the samples, each with the values of its labels.
  mutating func add<Value: MetricValue>(
    _ name: String, _ help: String, by labels: [String], _ samples: [([String], Value)]
  ) {
    let kind = Value.self == Histogram.self ? "histogram" : name.hasSuffix("_total") ? "counter" : "gauge"
    lines += ["# HELP \(name) \(Self.escaped(help, quotes: false))", "# TYPE \(name) \(kind)"]
    for (values, value) in samples {
      let named = zip(labels, values).map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
      for sample in value.samples {
        let list = (named + (sample.bound.map { ["le=\"\($0)\""] } ?? [])).joined(separator: ",")
        lines.append("\(name)\(sample.suffix)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(sample.value))")
      }
    }
  }

  fileprivate static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }
}

protocol MetricValue {
  typealias Sample = (suffix: String, bound: String?, value: Double)
  var samples: [Sample] { get }
}

extension MetricValue where Self: BinaryInteger { var samples: [Sample] { [("", nil, Double(self))] } }

extension Int: MetricValue {}
extension Int64: MetricValue {}
extension Double: MetricValue { var samples: [Sample] { [("", nil, self)] } }
extension Bool: MetricValue { var samples: [Sample] { [("", nil, self ? 1 : 0)] } }
extension Timestamp: MetricValue { var samples: [Sample] { [("", nil, Double(secondsSince1970))] } }

extension Histogram: MetricValue {
  /// Each bucket counts all durations up to its bound.
  var samples: [Sample] {
    var sum = 0
    let buckets = zip(Self.bounds, counts).map { bound, count -> Sample in
      sum += count
      return ("_bucket", MetricsWriter.number(bound), Double(sum))
    }
    return buckets + [("_bucket", "+Inf", Double(count)), ("_sum", nil, self.sum), ("_count", nil, Double(count))]
  }
}
