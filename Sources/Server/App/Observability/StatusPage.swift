import Base
import HTTP
import PKIX
import Sessions
import Synchronization
import Trust

/// Renders `/status`, the health page for operators. Script-free; refreshes every 15 s. It names relying parties, sources
/// and deliveries, and no person, session or key. For one relying party's admin it shows what is that party's.
struct StatusPage {
  static let mediaType = "text/html; charset=utf-8"
  /// Seconds until it loads itself again.
  static let refresh = 15

  private let application: Application
  private let snapshot: Metrics.Snapshot
  private let readings: Readings
  /// Whose figures it shows; nil for those of the whole server.
  private let only: RelyingParty?
  private let now: Timestamp

  /// What the store says; nil where it did not answer.
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
    let html = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta http-equiv="refresh" content="\(Self.refresh)">
      <title>mdoc: \(verdict.text)</title>
      <link rel="icon" href="data:,">
      <link rel="stylesheet" href="/assets/status.css">
      </head>
      <body>
      <header><h1>mdoc</h1><p class="state \(verdict.isGood ? "good" : "bad")">\(verdict.text)</p>
      <p class="hint">\(mode) mode, up \(Self.duration(application.metrics.uptimeSeconds)), \(now.description)</p></header>
      <main>
      \((only.map { [sessions(of: $0), certificates, section("Webhooks", letters), section("Audit", heads)] }
        ?? [answers, durations, trust, certificates, fetches, webhooks, store]).joined(separator: "\n"))
      </main>
      </body>
      </html>

      """
    return Array(html.utf8)
  }

  private var verdict: (text: String, isGood: Bool) {
    if application.state.isStopping { return ("stopping", false) }
    if !readings.isReady { return ("the store does not take writes", false) }
    if application.trust.inForce.current.anchorsInForce(at: now) == 0 { return ("no trust anchor is valid", false) }
    if !application.state.configuration.isCurrent { return ("an older configuration is in force", false) }
    return ("ready", true)
  }

  private var parties: RelyingParties {
    // One relying party of a valid configuration cannot be refused.
    only.flatMap { try? RelyingParties([$0]) } ?? application.service.relyingParties
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

  // MARK: Answers

  private var answers: String {
    let minutes = snapshot.activity.last(at: application.metrics.minute)
    let total = { (outcome: Answer.Verification) in
      snapshot.verifications.filter { $0.key.outcome == outcome }.reduce(0) { $0 + $1.value }
    }
    let codes = snapshot.verifications.sorted {
      ($1.value, $0.key.code?.rawValue ?? "") < ($0.value, $1.key.code?.rawValue ?? "")
    }
    .compactMap { labels, count in labels.code.map { [$0.rawValue, $0.entry.summary, "\(count)"] } }
    return section(
      "Answers",
      figures([
        ("verified", "\(total(.verified))"), ("failed", "\(total(.failed))"), ("canceled", "\(total(.canceled))"),
        ("sessions in the last hour", "\(minutes.reduce(0) { $0 + $1.created })"),
        ("being answered now", "\(snapshot.inFlight)"),
        ("waiting for their turn", "\(application.edge.gauges.waiting.load(ordering: .relaxed))"),
      ]) + Self.chart(minutes)
        + table(["Code", "What was found", "Answers"], codes, empty: "No answer was refused since the start."))
  }

  /// One bar for each minute of the last hour, verified answers below the others.
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
    let text = "Answers in each minute of the last hour, at most \(most)"
    return """
      <figure><svg viewBox="0 0 600 \(height)" preserveAspectRatio="none" role="img" aria-label="\(text)">\
      \(bars.joined())</svg><figcaption class="hint">\(text)</figcaption></figure>
      """
  }

  private var durations: String {
    let routes = snapshot.durations.sorted { $0.value.count > $1.value.count }.prefix(8).map { route, histogram in
      [route, "\(histogram.count)", Self.seconds(histogram.quantile(0.5)), Self.seconds(histogram.quantile(0.99))]
    }
    let stages = snapshot.stages.sorted { $0.key.rawValue < $1.key.rawValue }.map { stage, histogram in
      [
        "stage: \(stage.rawValue)", "\(histogram.count)", Self.seconds(histogram.quantile(0.5)),
        Self.seconds(histogram.quantile(0.99)),
      ]
    }
    return section(
      "Time",
      table(
        ["Route or stage", "Times", "Half within", "99 % within"], routes + stages, empty: "Nothing was asked yet."))
  }

  // MARK: Trust

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
        ("until the next anchor ends", store.nextExpiry(after: now).map(left) ?? "–"),
        ("loaded", "\(Self.duration(Double(now.secondsSince1970 - status.loadedAt.secondsSince1970))) ago"),
        ("loads that failed", "\(status.failures)"),
      ]) + alarm(status.problem)
        + table(
          ["Source", "Last load", "Anchors", "Left out", "To be renewed by"], rows,
          empty: "The server made its anchors itself."))
  }

  private var certificates: String {
    let parties = parties
    let rows = PartyCertificates.Kind.allCases.map { kind -> [String] in
      let found = PartyCertificates(kind, of: parties, at: now)
      return [
        kind.rawValue + " certificates", "\(found.count)", "\(found.expiring)", "\(found.expired)",
        found.nextExpiry.map(until) ?? "–",
      ]
    }
    let keys = parties.all.flatMap(\.apiKeys)
    let isSoon = { (key: APIKey) in key.isGood(at: now) && !key.isGood(at: now + PartyCertificates.notice) }
    let own: [[String]] =
      [
        [
          "API keys", "\(keys.count)", "\(keys.count(where: isSoon))", "\(keys.count { !$0.isGood(at: now) })",
          parties.nextKeyExpiry(after: now).map(until) ?? "–",
        ]
      ]
      + ((only == nil ? application.edge.tls : nil).map { [["TLS certificate", "1", "", "", until($0.expiry)]] } ?? [])
    let warnings = PartyCertificates.warnings(of: parties, at: now)
    return section(
      "Certificates and keys",
      warnings.map(alarm).joined()
        + table(["What", "There are", "End within 30 days", "Ended", "Next end"], rows + own, empty: ""))
  }

  // MARK: The world outside

  private var fetches: String {
    let counts = application.fetches.counts
    return section(
      "Published lists that were asked for",
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
        ("delivered", "\(attempts.delivered)"), ("to be tried again", "\(attempts.retried)"),
        ("waiting", readings.outbox.map { "\($0.pending)" } ?? "–"),
        ("dead letters", readings.outbox.map { "\($0.dead)" } ?? "–"),
      ]) + letters)
  }

  private var letters: String {
    let rows = readings.deadLetters.flatMap { party, deliveries in
      deliveries.map { delivery in
        [
          party, delivery.endpoint, delivery.id.description,
          "POST /v1/webhook_deliveries/\(delivery.id)/retry",
        ]
      }
    }
    return table(["Relying party", "Endpoint", "Dead letter", "Retry with"], rows, empty: "No dead letter.")
  }

  // MARK: The store

  private var store: String {
    let operations = snapshot.store.sorted { $0.value.durations.count > $1.value.durations.count }.prefix(8)
    let rows = operations.map { name, use in
      [
        name, "\(use.durations.count)", "\(use.failures)", Self.seconds(use.durations.quantile(0.5)),
        Self.seconds(use.durations.quantile(0.99)),
      ]
    }
    return section(
      "Store and audit",
      alarm(readings.isReady ? nil : "The store does not take writes now.")
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
    let items = figures.map { "<div><dt>\($0)</dt><dd>\(HTMLText.escaped($1))</dd></div>" }
    return "<dl>\(items.joined())</dl>"
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

  /// A time, and how long it is until then.
  private func until(_ time: Timestamp) -> String { "\(time.description) (\(left(time)))" }

  private func left(_ time: Timestamp) -> String {
    Self.duration(Double(max(0, time.secondsSince1970 - now.secondsSince1970)))
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
  /// The bound within which this part of the durations lies; nil if that is above all bounds.
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
