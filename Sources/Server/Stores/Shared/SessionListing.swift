import Base
import Sessions

/// The statement that reads a page of one relying party's sessions, newest first, for either database.
///
/// No index has all sessions of a relying party in order, since each change of status would move a session within it.
/// Instead, waiting sessions, sessions in verification and those of each final status are found separately, each by an
/// index that has them in order, and merged. Sessions that a filter leaves out are never read.
///
/// The status in a filter is the one that a reader sees now: a session whose time is over counts as expired or failed,
/// although that is not yet written. A page ends once `Limits.pageBytes` are read.
struct SessionListing: Sendable {
  /// The parts of the statement that differ between the databases.
  struct Dialect: Sendable {
    /// The mark before a parameter's number, "?" or "$".
    let mark: String
    /// The key column of a session's row.
    let key: String
    /// A hint that makes the database use the index of sessions in verification, which are few. Without it, the
    /// database may scan all sessions in order. Empty if the database takes no hint.
    let processingIndex: String
    /// An expression for the number of bytes in a session's requests.
    let requestBytes: String
    /// The columns of the offers, which follow those of `SessionRow`.
    let requestColumns: [String]
  }

  private enum Kind {
    case waiting, processing
    case ended(SessionStatus)
  }

  /// A set of sessions that one index has in order.
  private struct Branch {
    let kind: Kind
    /// Whether the sessions' time is over, for a kind that ends by time; nil if the branch takes both.
    var isOver: Bool?
  }

  private static let final = SessionStatus.allCases.filter(\.isFinal)

  let query: SessionQuery
  let dialect: Dialect

  private var branches: [Branch] {
    switch query.status {
    case nil: [Branch(kind: .waiting), Branch(kind: .processing)] + Self.final.map { Branch(kind: .ended($0)) }
    case .requiresInput: [Branch(kind: .waiting, isOver: false)]
    case .processing: [Branch(kind: .processing, isOver: false)]
    case .expired: [Branch(kind: .waiting, isOver: true), Branch(kind: .ended(.expired))]
    case .failed: [Branch(kind: .processing, isOver: true), Branch(kind: .ended(.failed))]
    case .verified: [Branch(kind: .ended(.verified))]
    case .canceled: [Branch(kind: .ended(.canceled))]
    case .redacted: [Branch(kind: .ended(.redacted))]
    }
  }

  /// The time that is compared with, the fourth parameter after relying party, place and number of rows. Nil if the
  /// filter needs none.
  func time(at now: Timestamp) -> Timestamp? {
    switch query.status {
    case .requiresInput, .expired: now
    case .processing, .failed: now - Limits.processingTimeout
    case nil, .verified, .canceled, .redacted: nil
    }
  }

  /// The number of rows to look for: one more than the page shows, which tells whether there is another page.
  var rows: Int64 { Int64(query.limit + 1) }

  var sql: String {
    let key = dialect.key
    let requests = query.parts.contains(.requests) ? dialect.requestColumns : dialect.requestColumns.map { _ in "NULL" }
    let found = branches.map { "SELECT * FROM (\(statement(of: $0))) AS found" }.joined(separator: " UNION ALL ")
    return """
      WITH page AS (SELECT * FROM (\(found)) AS merged ORDER BY place DESC LIMIT \(parameter(3))),
      sized AS (SELECT sessions.\(key) AS held, \(size) AS size, sum(\(size)) OVER (ORDER BY sessions.seq DESC) AS total,
        count(*) OVER () AS found FROM page JOIN sessions ON sessions.\(key) = page.held)
      SELECT \((SessionRow.columns(listing: query.parts) + requests + ["found"]).joined(separator: ", "))
      FROM sized JOIN sessions ON sessions.\(key) = sized.held
      WHERE total - size < \(Limits.pageBytes) ORDER BY sessions.seq DESC
      """
  }

  private func statement(of branch: Branch) -> String {
    """
    SELECT \(dialect.key) AS held, seq AS place FROM sessions \(hint(branch))
    WHERE relying_party = \(parameter(1)) AND seq < \(parameter(2)) AND \(condition(branch))
    ORDER BY seq DESC LIMIT \(parameter(3))
    """
  }

  private func hint(_ branch: Branch) -> String {
    if case .processing = branch.kind { dialect.processingIndex } else { "" }
  }

  /// The condition is worded like that of the index, or the database would not use the index.
  private func condition(_ branch: Branch) -> String {
    switch branch.kind {
    case .waiting:
      "status = 'requires_input'" + (branch.isOver.map { " AND expires_at \($0 ? "<=" : ">") \(parameter(4))" } ?? "")
    case .processing:
      "status = 'processing'" + (branch.isOver.map { " AND consumed_at \($0 ? "<" : ">=") \(parameter(4))" } ?? "")
    case .ended(let status): "ended_at IS NOT NULL AND status = '\(status.rawValue)'"
    }
  }

  private var size: String {
    let parts = ["length(content)", "length(last_error)"] + (query.parts.contains(.report) ? ["length(report)"] : [])
    return "("
      + (parts + (query.parts.contains(.requests) ? [dialect.requestBytes] : [])).map { "coalesce(\($0), 0)" }
      .joined(separator: " + ") + ")"
  }

  private func parameter(_ number: Int) -> String { "\(dialect.mark)\(number)" }
}

extension SessionPage {
  /// - Parameter found: the number of rows found before the page was cut at `Limits.pageBytes`.
  init(rows: [SessionRow], found: Int, limit: Int) throws(StoreError) {
    var sessions: [SessionRecord] = []
    for row in rows.prefix(limit) { sessions.append(try row.record()) }
    self.init(sessions: sessions, hasMore: found > sessions.count)
  }
}
