import Base

/// The structured log: each line is one JSON object.
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

  /// Writes an event other than a request: a start, a stop, a warning about the configuration.
  func write(_ level: Level, _ event: String, at now: Timestamp, _ members: KeyValuePairs<String, JSON?> = [:]) {
    let head: [JSON.Member] = [
      .init("time", .string(now.description)), .init("level", .string(level.rawValue)),
      .init("event", .string(event)),
    ]
    sink(JSON.object(head + (JSON.members(members).object ?? [])).text())
  }
}

/// Writes requests to the log. A request that was served has a line, unless it is routine. Of refused requests only a
/// few a second for each code have one, since a line for each would be load itself; the log then tells how many were
/// left out. The metrics have the exact numbers.
final class RequestLog: Sendable {
  private struct State {
    /// Lines of refusals in `second`, by code.
    var lines: [Code: Int] = [:]
    var second: Timestamp?
    /// Refused requests that got no line, and when their number was last written.
    var leftOut: [Code: Int64] = [:]
    var said: Timestamp?

    mutating func takesLine(_ record: RequestRecord, _ code: Code, at now: Timestamp) -> Bool {
      if second != now { (second, lines) = (now, [:]) }
      guard !record.isUnread, lines[code, default: 0] < Limits.refusalLines else {
        leftOut[code, default: 0] += 1
        return false
      }
      lines[code, default: 0] += 1
      return true
    }

    /// The numbers of requests without a line that must be written now: at once, and then once a second.
    mutating func due(at now: Timestamp) -> [Code: Int64] {
      guard !leftOut.isEmpty, said != now else { return [:] }
      said = now
      defer { leftOut = [:] }
      return leftOut
    }
  }

  private let state = Locked(State())
  private let log: Log

  init(_ log: Log) { self.log = log }

  func write(_ record: RequestRecord, at now: Timestamp) {
    let (hasLine, due) = state.withLock { state in
      let code = record.isRefused ? record.code : nil
      let hasLine = code.map { state.takesLine(record, $0, at: now) } ?? !record.isRoutine
      return (hasLine, state.due(at: now))
    }
    if hasLine { log.write(record, at: now) }
    for (code, count) in due {
      log.write(
        .warning, "requests.refused", at: now, ["code": .string(code.rawValue), "requests": .integer(count)])
    }
  }
}

/// What is remembered of one request, for the log and the metrics: templates, ids and codes.
///
/// It has no place for a path, a query, a header or a body, so that none of them can get into a log.
struct RequestRecord: Sendable {
  static let unmatchedRoute = "unmatched"
  /// The route of a request that the transport turned away before it was routed.
  static let refusedRoute = "refused"

  let id: String
  /// Nil if the caller sent none, or if the request was turned away before it was read.
  var trace: TraceContext?
  /// One of the methods that the API knows, or `other`: a client's own words must not become a label.
  let method: String
  /// The route's template.
  var route = unmatchedRoute
  /// Whether the route is answered whatever the load is. If it answers `api.overloaded`, that is a report and not a
  /// refusal for load.
  var isEssential = false
  /// Whether the log has no line for it if it succeeds. Such requests come often and tell little: those that ask how
  /// the server is, and preflights of pages.
  var isRoutine = false
  var relyingParty: String?
  /// The id of the caller's API key in the configuration; nil if there is none.
  var apiKey: String?
  var session: String?
  private(set) var status = 0
  private(set) var code: Code?
  private(set) var verification: Answer.Verification?
  private(set) var seconds = 0.0

  init(id: String, method: String) {
    self.id = id
    self.method = ["GET", "HEAD", "POST", "OPTIONS"].contains(method) ? method : "other"
  }

  /// Whether it was answered with a problem.
  var isRefused: Bool { status >= 400 && code != nil }

  /// Whether it made a session: no other operation answers 201.
  var isCreation: Bool { status == 201 }

  /// Whether it was turned away unread, for load or for its rate. Nothing more is known of it.
  var isUnread: Bool { route == Self.refusedRoute && (code == .apiOverloaded || code == .apiRateLimited) }

  mutating func note(_ answer: Answer, seconds: Double) {
    status = answer.status
    code = answer.code
    verification = answer.verification
    session = answer.session ?? session
    self.seconds = seconds
  }
}
