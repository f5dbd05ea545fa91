import Base
import PKIX
import Trust

/// Trust and certificates: what ends some day and must be renewed before.
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

  /// Our own: the readers', the merchants' and the server's.
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

  /// A family without a sample where there is nothing that could end.
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
