import Base

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
