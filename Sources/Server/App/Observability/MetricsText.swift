import Base
import HTTP
import Longfellow
import PKIX
import Sessions
import Synchronization
import Trust

/// Writes the text of `/metrics`. It names no person, session or caller: labels are words of the program, and names of
/// trust sources and nodes.
enum MetricsText {
  static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  static func render(_ application: Application, audit heads: [AuditHead]) -> [UInt8] {
    let snapshot = application.metrics.snapshot
    var text = MetricsWriter()
    text.family("mdoc_info", .gauge, "What this server is.")
    text.sample("mdoc_info", [("mode", application.service.mode.rawValue), ("version", ProgramVersion.text)], 1)
    text.single("mdoc_uptime_seconds", .gauge, "Seconds since the start.", application.metrics.uptimeSeconds)
    requests(snapshot, &text)
    load(snapshot, application, &text)
    verifications(snapshot, &text)
    proofs(snapshot, application.service.circuits, &text)
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

  /// Metrics of the load: requests that wait, run or were refused.
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

  /// Zero-knowledge proofs by circuit, of which there are eight at most. Those at hand have samples from the start.
  private static func proofs(
    _ snapshot: Metrics.Snapshot, _ library: CircuitLibrary?, _ text: inout MetricsWriter
  ) {
    let atHand = library?.circuits ?? []
    let used = KnownCircuit.all.filter { snapshot.proofs[$0] != nil || atHand.contains($0) }
    text.family("mdoc_zk_proofs_total", .counter, "Proofs that were computed through, by circuit and outcome.")
    for circuit in used {
      let use = snapshot.proofs[circuit] ?? Metrics.ProofUse()
      for (outcome, count) in [("verified", use.verified), ("refused", use.refused)] {
        text.sample("mdoc_zk_proofs_total", [("circuit", circuit.name), ("outcome", outcome)], Double(count))
      }
    }
    let name = "mdoc_zk_proof_duration_seconds"
    text.family(name, .histogram, "Seconds that proofs' verifications took, by circuit.")
    for circuit in used {
      text.histogram(name, [("circuit", circuit.name)], snapshot.proofs[circuit]?.durations ?? Histogram())
    }
    text.family(
      "mdoc_zk_circuit_loaded", .gauge, "1 where the circuit is in memory, 0 before its first use or if it is damaged.")
    for circuit in atHand {
      text.sample("mdoc_zk_circuit_loaded", [("circuit", circuit.name)], library?.isLoaded(circuit) == true ? 1 : 0)
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

/// Metrics of trust and of certificates, which end some day and must be renewed before.
extension MetricsText {
  static func trust(_ application: Application, _ text: inout MetricsWriter) {
    let now = application.clock()
    let store = application.trust.inForce.current
    text.single(
      "mdoc_trust_anchors", .gauge, "Trust anchors that are valid now.", Double(store.anchorsInForce(at: now)))
    expiry(
      "mdoc_trust_anchor_next_expiry_timestamp_seconds",
      "When the next of the anchors that are valid now expires, in Unix seconds.", store.nextExpiry(after: now), &text)
    let status = application.trust.status
    text.single(
      "mdoc_trust_loaded_timestamp_seconds", .gauge, "When the anchors in force were loaded, in Unix seconds.",
      Double(status.loadedAt.secondsSince1970))
    text.single(
      "mdoc_trust_age_seconds", .gauge, "Seconds since the anchors in force were loaded.",
      Double(max(0, now.secondsSince1970 - status.loadedAt.secondsSince1970)))
    expiry(
      "mdoc_trust_list_next_expiry_timestamp_seconds",
      "When the first of the lists in force may no longer be relied on, in Unix seconds.",
      status.sources.filter { $0.outcome != .failed }.compactMap(\.validUntil).min(), &text)
    text.single(
      "mdoc_trust_reload_failures_total", .counter, "Loads that left the anchors before in force.",
      Double(status.failures))
    text.family(
      "mdoc_trust_source_anchors", .gauge, "Anchors by source and by what its last load came to.")
    for source in status.sources {
      text.sample(
        "mdoc_trust_source_anchors", [("source", source.name), ("outcome", source.outcome.rawValue)],
        Double(source.anchorCount))
    }
  }

  /// Our own certificates: those of the readers, the merchants and the server.
  static func certificates(_ application: Application, _ text: inout MetricsWriter) {
    for kind in PartyCertificates.Kind.allCases {
      certificates(
        kind, PartyCertificates(kind, of: application.service.relyingParties, at: application.clock()), &text)
    }
    expiry(
      "mdoc_tls_certificate_expiry_timestamp_seconds",
      "When the first certificate of the server's TLS chain expires, in Unix seconds.", application.edge.tls?.expiry,
      &text)
  }

  private static func certificates(
    _ kind: PartyCertificates.Kind, _ found: PartyCertificates, _ text: inout MetricsWriter
  ) {
    let name = "mdoc_\(kind.rawValue)_certificates"
    text.family(name, .gauge, "Certificates of the relying parties' \(kind.rawValue)s by how long they hold.")
    for (state, count) in [
      ("valid", found.count - found.expired - found.expiring), ("expiring", found.expiring),
      ("expired", found.expired),
    ] {
      text.sample(name, [("state", state)], Double(count))
    }
    expiry(
      "mdoc_\(kind.rawValue)_certificate_next_expiry_timestamp_seconds",
      "When the next \(kind.rawValue) certificate that is valid now expires, in Unix seconds.", found.nextExpiry, &text)
  }

  /// Writes a family with one expiry. It has no sample if nothing can expire.
  static func expiry(_ name: String, _ help: String, _ end: Timestamp?, _ text: inout MetricsWriter) {
    text.family(name, .gauge, help)
    if let end { text.sample(name, Double(end.secondsSince1970)) }
  }
}

extension TrustStore {
  /// How many anchors are valid now.
  func anchorsInForce(at now: Timestamp) -> Int {
    anchors.count { $0.isInForce(at: now) }
  }

  func nextExpiry(after now: Timestamp) -> Timestamp? {
    anchors.map(\.certificate.validity).filter { $0.contains(now) }.map(\.upperBound).min()
  }
}

/// Metrics of the configuration: when it was read, whether the latest reading of the file is in force, and when the
/// next API key expires.
enum ConfigurationMetrics {
  static func write(_ application: Application, to text: inout MetricsWriter) {
    let status = application.state.configuration
    text.single(
      "mdoc_configuration_loaded_timestamp_seconds", .gauge,
      "When the configuration in force was read, in Unix seconds.", Double(status.loadedAt.secondsSince1970))
    text.single(
      "mdoc_configuration_current", .gauge, "1 where the latest reading of the file is in force, else 0.",
      status.isCurrent ? 1 : 0)
    text.single(
      "mdoc_configuration_reload_failures_total", .counter,
      "Readings that left the configuration before in force.", Double(status.failures))
    MetricsText.expiry(
      "mdoc_api_key_next_expiry_timestamp_seconds",
      "When the next of the API keys that are good now expires, in Unix seconds.",
      application.service.relyingParties.nextKeyExpiry(after: application.clock()), &text)
  }
}

extension MetricsText {
  /// Counts audit entries by the store's heads, so that a chain that was shortened shows as a counter that fell.
  static func audit(_ heads: [AuditHead], _ text: inout MetricsWriter) {
    text.family("mdoc_audit_entries_total", .counter, "Audit entries in the store, by node.")
    for head in heads {
      text.sample("mdoc_audit_entries_total", [("node", head.node.text)], Double(head.sequence))
    }
  }
}

/// Writes Prometheus' text exposition format, 0.0.4.
struct MetricsWriter {
  private(set) var lines: [String] = []

  enum Kind: String { case gauge, counter, histogram }

  /// Begins a family: all of its samples follow.
  mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    lines += ["# HELP \(name) \(Self.escaped(help, quotes: false))", "# TYPE \(name) \(kind.rawValue)"]
  }

  mutating func sample(_ name: String, _ value: Double) { sample(name, [], value) }

  mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
    let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }.joined(separator: ",")
    lines.append("\(name)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(value))")
  }

  /// A family of one sample.
  mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
    family(name, kind, help)
    sample(name, value)
  }

  /// The samples of one histogram. Each bucket counts all durations up to its bound.
  mutating func histogram(_ name: String, _ labels: [(String, String)], _ histogram: Histogram) {
    var sum = 0
    for (bound, count) in zip(Histogram.bounds, histogram.counts) {
      sum += count
      sample(name + "_bucket", labels + [("le", Self.number(bound))], Double(sum))
    }
    sample(name + "_bucket", labels + [("le", "+Inf")], Double(histogram.count))
    sample(name + "_sum", labels, histogram.sum)
    sample(name + "_count", labels, Double(histogram.count))
  }

  private static func number(_ value: Double) -> String {
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
