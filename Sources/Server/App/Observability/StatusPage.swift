import Base
import HTTP
import PKIX
import Pages
import Sessions
import Synchronization
import Trust

/// Renders `/status`, the health page for operators. Shows no personal data, sessions or keys. The page has no scripts;
/// a link reloads it. A relying party's admin gets the figures of that party only.
struct StatusPage {
  static let mediaType = "text/html; charset=utf-8"

  private let application: Application
  private let snapshot: Metrics.Snapshot
  private let readings: Readings
  /// The relying party whose figures the page shows; nil for the whole server.
  private let only: RelyingParty?
  private let now: Timestamp

  /// The store's figures; nil if the store failed.
  struct Readings: Sendable {
    var isReady = false
    var heads: [AuditHead]?
    var outbox: OutboxState?
    var usage: StoreUsage?
    var deadLetters: [(relyingParty: String, deliveries: [DeliveryRecord])] = []
  }

  init(_ application: Application, _ readings: Readings, of only: RelyingParty?) {
    self.application = application
    self.only = only
    self.readings = readings
    snapshot = application.metrics.snapshot
    now = application.clock()
  }

  var body: [UInt8] {
    let mode = application.service.mode.rawValue
    return HTMLText.page(
      "mdoc: \(verdict.text)", style: "status.css", meta: "",
      """
      <header><h1>mdoc</h1><p class="state \(verdict.isGood ? "good" : "bad")">\(verdict.text)</p>
      <p class="hint">\(mode) mode, up \(Self.duration(application.metrics.uptimeSeconds)), \(now). \
      <a href="">Load again</a></p></header>
      <main>
      \((only.map { [sessions(of: $0), certificates, section("Webhooks", letters), section("Audit", heads)] }
        ?? [responses, durations, trust, certificates, fetches, webhooks, store]).joined(separator: "\n"))
      </main>
      """)
  }

  private var verdict: (text: String, isGood: Bool) {
    if application.state.isStopping { return ("stopping", false) }
    if !readings.isReady { return ("the store accepts no writes", false) }
    if application.trust.inForce.current.anchorsInForce(at: now) == 0 { return ("no trust anchor is valid", false) }
    if !application.state.configuration.isCurrent { return ("an older configuration is in force", false) }
    return ("ready", true)
  }

  private func sessions(of party: RelyingParty) -> String {
    let quota = party.quota
    let of = { (used: Int64?, most: Int64?) in (used.map { "\($0)" } ?? "–") + (most.map { " of \($0)" } ?? "") }
    return section(
      "Sessions",
      figures([
        ("open", of(readings.usage?.openSessions, quota.openSessions)),
        ("bytes kept", of(readings.usage?.bytes, quota.bytes)),
        ("bytes of kept replies", of(readings.usage?.idempotencyBytes, quota.idempotencyBytes)),
      ]))
  }

  private var responses: String {
    let minutes = snapshot.activity.last(at: application.metrics.minute)
    let total = { (outcome: Reply.Verification) in
      snapshot.verifications.filter { $0.key.outcome == outcome }.reduce(0) { $0 + $1.value }
    }
    let codes = snapshot.verifications.sorted {
      ($1.value, $0.key.code?.rawValue ?? "") < ($0.value, $1.key.code?.rawValue ?? "")
    }
    .compactMap { labels, count in labels.code.map { [$0.rawValue, $0.entry.summary, "\(count)"] } }
    return section(
      "Responses",
      figures([
        ("verified", "\(total(.verified))"), ("failed", "\(total(.failed))"), ("canceled", "\(total(.canceled))"),
        ("sessions in the last hour", "\(minutes.reduce(0) { $0 + $1.created })"),
        ("requests in progress", "\(snapshot.inFlight)"),
        ("queued requests", "\(application.edge.gauges.waiting.load(ordering: .relaxed))"),
      ]) + Self.chart(minutes)
        + table(["Code", "Meaning", "Responses"], codes, empty: "No response was rejected since the start."))
  }

  /// One bar for each minute of the last hour, with verified responses at the bottom.
  private static func chart(_ minutes: [Activity.Minute]) -> String {
    let most = max(1, minutes.map(\.ended).max() ?? 1)
    let height = 60
    let bars = minutes.enumerated().map { index, minute -> String in
      let good = minute.verified * height / most
      let bad = (minute.failed + minute.canceled) * height / most
      return """
        <rect class="good" x="\(index * 10)" y="\(height - good)" width="8" height="\(good)"/>\
        <rect class="bad" x="\(index * 10)" y="\(height - good - bad)" width="8" height="\(bad)"/>
        """
    }
    let text = "Responses per minute in the last hour; peak: \(most)"
    return """
      <figure><svg viewBox="0 0 600 \(height)" preserveAspectRatio="none" role="img" aria-label="\(text)">\
      \(bars.joined())</svg><figcaption class="hint">\(text)</figcaption></figure>
      """
  }

  private var durations: String {
    // Omit scripts and styles, whose durations are all alike.
    let routes = snapshot.durations.filter { route, _ in ![".js", ".css"].contains { route.hasSuffix($0) } }
      .sorted { $0.value.count > $1.value.count }.prefix(8).map { [$0] + Self.times($1) }
    let stages = snapshot.stages.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      ["stage: \($0.rawValue)"] + Self.times($1)
    }
    return section(
      "Time",
      table(["Route or stage", "Times", "Half within", "99 % within"], routes + stages, empty: "No requests yet."))
  }

  private var trust: String {
    let store = application.trust.inForce.current
    let status = application.trust.status
    let rows = status.sources.map { source in
      [
        source.name, source.outcome.rawValue, "\(source.anchorCount)", "\(source.leftOut)",
        source.validUntil.map(until) ?? "–",
      ]
    }
    return section(
      "Trust",
      figures([
        ("anchors valid now", "\(store.anchorsInForce(at: now))"),
        ("until the next anchor expires", store.nextExpiry(after: now).map(left) ?? "–"),
        ("loaded", "\(Self.duration(Double(now.secondsSince1970 - status.loadedAt.secondsSince1970))) ago"),
        ("loads that failed", "\(status.failures)"),
      ]) + alarm(status.problem)
        + table(
          ["Source", "Last load", "Anchors", "Left out", "Renew by"], rows,
          empty: "The server generated its anchors."))
  }

  private var certificates: String {
    // `RelyingParties` cannot throw here: the party comes from a valid configuration.
    let parties = only.flatMap { try? RelyingParties([$0]) } ?? application.service.relyingParties
    func row(_ name: String, _ count: Int, _ expiring: Int, _ expired: Int, _ next: Timestamp?) -> [String] {
      [name, "\(count)", "\(expiring)", "\(expired)", next.map(until) ?? "–"]
    }
    var rows = PartyCertificates.Kind.allCases.map { kind in
      let found = PartyCertificates(kind, of: parties, at: now)
      return row(kind.rawValue + " certificates", found.count, found.expiring, found.expired, found.nextExpiry)
    }
    let keys = parties.all.flatMap(\.apiKeys)
    let isSoon = { (key: APIKey) in key.isGood(at: now) && !key.isGood(at: now + PartyCertificates.notice) }
    let ended = keys.count { !$0.isGood(at: now) }
    rows.append(row("API keys", keys.count, keys.count(where: isSoon), ended, parties.nextKeyExpiry(after: now)))
    if only == nil, let tls = application.edge.tls { rows.append(["TLS certificate", "1", "", "", until(tls.expiry)]) }
    let warnings = PartyCertificates.warnings(of: parties, at: now)
    return section(
      "Certificates and keys",
      warnings.map(alarm).joined()
        + table(["Kind", "Count", "Expire within 30 days", "Expired", "Next expiry"], rows, empty: ""))
  }

  private var fetches: String {
    let counts = application.fetches.counts
    return section(
      "Fetches of published lists",
      figures([
        ("fetched", "\(counts.fetched)"), ("unavailable", "\(counts.unavailable)"),
        ("too large", "\(counts.tooLarge)"), ("not allowed", "\(counts.notAllowed)"),
      ]))
  }

  private var webhooks: String {
    let attempts = application.webhooks.snapshot
    return section(
      "Webhooks",
      figures([
        ("delivered", "\(attempts.delivered)"), ("to be retried", "\(attempts.retried)"),
        ("waiting", readings.outbox.map { "\($0.pending)" } ?? "–"),
        ("dead letters", readings.outbox.map { "\($0.dead)" } ?? "–"),
      ]) + letters)
  }

  private var letters: String {
    let rows = readings.deadLetters.flatMap { party, deliveries in
      deliveries.map { [party, $0.endpoint, "\($0.id)", "POST /v1/webhook_deliveries/\($0.id)/retry"] }
    }
    return table(["Relying party", "Endpoint", "Dead letter", "Retry with"], rows, empty: "No dead letter.")
  }

  private var store: String {
    let operations = snapshot.store.sorted { $0.value.durations.count > $1.value.durations.count }.prefix(8)
    let rows = operations.map { name, use in
      let times = Self.times(use.durations)
      return [name, times[0], "\(use.failures)"] + times[1...]
    }
    return section(
      "Store and audit",
      alarm(readings.isReady ? nil : "The store accepts no writes now.")
        + table(["Operation", "Times", "Failed", "Half within", "99 % within"], rows, empty: "Not used yet.")
        + heads)
  }

  private var heads: String {
    let rows = (readings.heads ?? []).map { [$0.node.text, "\($0.sequence)", Hex.encode($0.hash)] }
    return table(["Node", "Audit entries", "Head of its chain"], rows, empty: "No audit entry.")
  }

  // MARK: HTML

  private func section(_ title: String, _ content: String) -> String {
    "<section><h2>\(title)</h2>\(content)</section>"
  }

  private func figures(_ figures: [(String, String)]) -> String {
    "<dl>\(figures.map { "<div><dt>\($0)</dt><dd>\(HTMLText.escaped($1))</dd></div>" }.joined())</dl>"
  }

  private func table(_ heads: [String], _ rows: [[String]], empty: String) -> String {
    guard !rows.isEmpty else { return empty.isEmpty ? "" : "<p class=\"hint\">\(empty)</p>" }
    let lines = rows.map { row in "<tr>\(row.map { "<td>\(HTMLText.escaped($0))</td>" }.joined())</tr>" }
    return """
      <div class="wide"><table><thead><tr>\(heads.map { "<th scope=\"col\">\($0)</th>" }.joined())</tr></thead>\
      <tbody>\(lines.joined())</tbody></table></div>
      """
  }

  private func alarm(_ text: String?) -> String {
    text.map { "<p class=\"alarm\">\(HTMLText.escaped($0))</p>" } ?? ""
  }

  private func until(_ time: Timestamp) -> String { "\(time.description) (\(left(time)))" }

  private func left(_ time: Timestamp) -> String {
    Self.duration(Double(max(0, time.secondsSince1970 - now.secondsSince1970)))
  }

  private static func times(_ histogram: Histogram) -> [String] {
    ["\(histogram.count)", seconds(histogram.quantile(0.5)), seconds(histogram.quantile(0.99))]
  }

  private static func seconds(_ bound: Double?) -> String {
    guard let bound else { return "over \(Histogram.bounds.last.map { "\(Int($0))" } ?? "") s" }
    return bound < 1 ? "\((bound * 100_000).rounded() / 100) ms" : "\(bound) s"
  }

  private static func duration(_ seconds: Double) -> String {
    let minutes = Int(seconds) / 60
    return switch minutes {
    case ..<1: "\(Int(seconds)) s"
    case ..<120: "\(minutes) min"
    case ..<2_880: "\(minutes / 60) h"
    default: "\(minutes / 1_440) days"
    }
  }
}

extension Histogram {
  /// The upper bound of this quantile; nil if the quantile is above the last bound.
  func quantile(_ part: Double) -> Double? {
    let wanted = Int((Double(count) * part).rounded(.up))
    var seen = 0
    for (bound, count) in zip(Self.bounds, counts) {
      seen += count
      if seen >= wanted { return bound }
    }
    return nil
  }
}
