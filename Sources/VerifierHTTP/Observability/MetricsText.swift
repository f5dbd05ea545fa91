import PKIX
import Primitives
import Trust

/// Prometheus' text exposition format, 0.0.4.
enum MetricsText {
  static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  static func render(_ application: Application) -> [UInt8] {
    let snapshot = application.metrics.snapshot
    var text = Writer()
    text.family("mdoc_info", "gauge", "What this server is.")
    text.sample("mdoc_info", [("mode", application.service.isLive ? "live" : "test")], 1)
    text.family("mdoc_uptime_seconds", "gauge", "Seconds since the start.")
    text.sample("mdoc_uptime_seconds", [], application.metrics.uptimeSeconds)
    requests(snapshot, &text)
    verifications(snapshot, &text)
    trust(application, &text)
    readers(application, &text)
    loads(application, &text)
    fetches(application.fetches.counts, &text)
    webhooks(application.webhooks.snapshot, &text)
    return Array(text.lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
  }

  private static func requests(_ snapshot: Metrics.Snapshot, _ text: inout Writer) {
    text.family("mdoc_http_requests_in_flight", "gauge", "Requests being answered now.")
    text.sample("mdoc_http_requests_in_flight", [], Double(snapshot.inFlight))
    text.family("mdoc_http_requests_total", "counter", "Requests by route template and status.")
    let order = snapshot.requests.sorted {
      ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
    }
    for (labels, count) in order {
      text.sample(
        "mdoc_http_requests_total",
        [("method", labels.method), ("route", labels.route), ("status", "\(labels.status)")], Double(count))
    }
    let name = "mdoc_http_request_duration_seconds"
    text.family(name, "histogram", "Seconds from the whole request to its reply.")
    for (route, histogram) in snapshot.durations.sorted(by: { $0.key < $1.key }) {
      var sum = 0
      for (bound, count) in zip(Metrics.Histogram.bounds, histogram.counts) {
        sum += count
        text.sample(name + "_bucket", [("route", route), ("le", "\(bound)")], Double(sum))
      }
      text.sample(name + "_bucket", [("route", route), ("le", "+Inf")], Double(histogram.count))
      text.sample(name + "_sum", [("route", route)], histogram.sum)
      text.sample(name + "_count", [("route", route)], Double(histogram.count))
    }
  }

  private static func verifications(_ snapshot: Metrics.Snapshot, _ text: inout Writer) {
    text.family("mdoc_verifications_total", "counter", "Answers by outcome and first failed check.")
    let order = snapshot.verifications.sorted {
      ($0.key.outcome.rawValue, $0.key.code?.rawValue ?? "") < ($1.key.outcome.rawValue, $1.key.code?.rawValue ?? "")
    }
    for (labels, count) in order {
      text.sample(
        "mdoc_verifications_total",
        [("outcome", labels.outcome.rawValue), ("code", labels.code?.rawValue ?? "")], Double(count))
    }
  }

  private static func trust(_ application: Application, _ text: inout Writer) {
    let now = application.clock()
    text.family("mdoc_trust_anchors", "gauge", "Trust anchors that are valid now.")
    text.sample("mdoc_trust_anchors", [], Double(application.trust.inForce.current.anchorsInForce(at: now)))
    text.family(
      "mdoc_trust_anchor_next_expiry_timestamp_seconds", "gauge",
      "When the next of the anchors that are valid now expires, in Unix seconds.")
    if let next = application.trust.inForce.current.nextExpiry(after: now) {
      text.sample("mdoc_trust_anchor_next_expiry_timestamp_seconds", [], Double(next.secondsSince1970))
    }
  }

  private static func readers(_ application: Application, _ text: inout Writer) {
    let readers = ReaderCertificates(of: application.service.relyingParties, at: application.clock())
    let name = "mdoc_reader_certificates"
    text.family(name, "gauge", "Certificates of the relying parties' readers by how long they hold.")
    for (state, count) in [
      ("valid", readers.count - readers.expired - readers.expiring), ("expiring", readers.expiring),
      ("expired", readers.expired),
    ] {
      text.sample(name, [("state", state)], Double(count))
    }
    let expiry = "mdoc_reader_certificate_next_expiry_timestamp_seconds"
    text.family(expiry, "gauge", "When the next reader certificate that is valid now expires, in Unix seconds.")
    if let next = readers.nextExpiry { text.sample(expiry, [], Double(next.secondsSince1970)) }
  }

  private static func fetches(_ counts: FetchLog.Counts, _ text: inout Writer) {
    text.family("mdoc_list_fetches_total", "counter", "Published lists that were asked for, by outcome.")
    for (outcome, count) in [
      ("fetched", counts.fetched), ("not_allowed", counts.notAllowed), ("too_large", counts.tooLarge),
      ("unavailable", counts.unavailable),
    ] {
      text.sample("mdoc_list_fetches_total", [("outcome", outcome)], Double(count))
    }
    text.family("mdoc_list_fetched_bytes_total", "counter", "Bytes of the lists that were fetched.")
    text.sample("mdoc_list_fetched_bytes_total", [], Double(counts.fetchedBytes))
  }

  private static func loads(_ application: Application, _ text: inout Writer) {
    let status = application.trust.status
    text.family(
      "mdoc_trust_loaded_timestamp_seconds", "gauge", "When the anchors in force were loaded, in Unix seconds.")
    text.sample("mdoc_trust_loaded_timestamp_seconds", [], Double(status.loadedAt.secondsSince1970))
    text.family("mdoc_trust_reload_failures_total", "counter", "Loads that left the anchors before in force.")
    text.sample("mdoc_trust_reload_failures_total", [], Double(status.failures))
    text.family(
      "mdoc_trust_source_anchors", "gauge", "Anchors by source and by what its last load came to.")
    for source in status.sources {
      text.sample(
        "mdoc_trust_source_anchors", [("source", source.name), ("outcome", source.outcome.rawValue)],
        Double(source.anchorCount))
    }
  }

  struct Writer {
    var lines: [String] = []

    mutating func family(_ name: String, _ type: String, _ help: String) {
      lines += ["# HELP \(name) \(help)", "# TYPE \(name) \(type)"]
    }

    /// Label values are our own words: no quote, backslash or line break is in them.
    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
      let list = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
      let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
      lines.append("\(name)\(list.isEmpty ? "" : "{\(list)}") \(number)")
    }
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
