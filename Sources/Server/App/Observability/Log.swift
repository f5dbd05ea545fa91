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

/// What the log says of requests: a line for each that was served, but for what is asked all the time; of those that were
/// refused a few lines a second for each code, since a line for each would be load itself, and how many were left out.
/// How many there were exactly is in the metrics.
final class RequestLog: Sendable {
  private struct State {
    /// Lines of this second.
    var lines: [Code: Int] = [:]
    var second: Timestamp?
    /// Refused without a line, and when that was last said.
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

    /// What is to be said of those without a line: at once, and then once a second.
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
  /// Turned away by the transport, before anything was routed.
  static let refusedRoute = "refused"

  let id: String
  /// Nil where the caller sent none, and for what was turned away before it was read.
  var trace: TraceContext?
  /// One of the methods that the API knows, or `other`: a client's own words are no label.
  let method: String
  /// The route's template.
  var route = unmatchedRoute
  /// Of a route that is answered whatever the load is: what it says of it is no refusal.
  var isEssential = false
  /// Asked so often, and of so little interest where it succeeds, that the log has no line of it: how the server is, and
  /// whether a page may ask.
  var isRoutine = false
  var relyingParty: String?
  /// What the configuration calls the caller's API key.
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

  /// Whether it was asked in vain.
  var isRefused: Bool { status >= 400 && code != nil }

  /// Turned away for load or for its rate, unread: there is nothing to say of it but that it was.
  var isUnread: Bool { route == Self.refusedRoute && (code == .apiOverloaded || code == .apiRateLimited) }

  mutating func note(_ answer: Answer, seconds: Double) {
    status = answer.status
    code = answer.code
    verification = answer.verification
    session = answer.session ?? session
    self.seconds = seconds
  }
}
