import Base

/// The structured log: one JSON object a line.
package struct Log: Sendable {
  enum Level: String, Sendable { case info, warning, error }

  private let sink: @Sendable (String) -> Void

  /// `sink` takes whole lines without their end, on any thread, and must not block.
  package init(sink: @escaping @Sendable (String) -> Void) { self.sink = sink }

  func write(_ record: RequestRecord, at now: Timestamp) {
    let level: Level = record.status >= 500 ? .error : .info
    write(
      level, "request", at: now,
      [
        "request_id": .string(record.id), "trace_id": record.trace.map { .string($0.traceID) },
        "span_id": record.trace.map { .string($0.spanID) }, "method": .string(record.method),
        "route": .string(record.route),
        "status": .integer(Int64(record.status)),
        "duration_ms": .double((record.seconds * 1_000_000).rounded() / 1_000),
        "relying_party": record.relyingParty.map { .string($0) }, "api_key": record.apiKey.map { .string($0) },
        "session": record.session.map { .string($0) },
        "code": record.code.map { .string($0.rawValue) },
      ])
  }

  /// What happens beside requests: starts, stops, warnings about the configuration.
  func write(_ level: Level, _ event: String, at now: Timestamp, _ members: KeyValuePairs<String, JSON?> = [:]) {
    let head: [JSON.Member] = [
      .init("time", .string(now.description)), .init("level", .string(level.rawValue)),
      .init("event", .string(event)),
    ]
    sink(JSON.object(head + (JSON.members(members).object ?? [])).text())
  }
}
