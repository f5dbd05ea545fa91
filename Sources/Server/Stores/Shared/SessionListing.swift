import Base
import Sessions

/// The statement that reads a page of one relying party's sessions, newest first, for either database.
///
/// No index has all sessions of a relying party in their order, since a session's status would move it about there with
/// each change. Those that wait, those that are being verified and those of each final status are found apart, each by
/// an index that has them in order, and merged: what a filter leaves out is never read. The status is as a reader sees
/// it now: what time has ended is not yet written. The page ends where `Limits.pageBytes` are read.
struct SessionListing: Sendable {
  /// How a database says it.
  struct Dialect: Sendable {
    /// Before a parameter's number.
    let mark: String
    /// The column by which a session is found.
    let key: String
    /// Holds the database to the index of those that are being verified, of which there are few; it might rather go
    /// through all sessions in their order.
    let processingIndex: String
    /// The bytes of its requests.
    let requestBytes: String
    /// Columns of the requests, after those of `SessionRow`.
    let requestColumns: [String]
  }

  private enum Kind {
    case waiting, processing
    case ended(SessionStatus)
  }

  /// Some sessions that one index has in order.
  private struct Branch {
    let kind: Kind
    /// Of those that time ends: whether it has, or nil where that makes no difference.
    var isOver: Bool?
  }

  private static let final: [SessionStatus] = [.verified, .failed, .canceled, .expired, .redacted]

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

  /// The time that is the fourth parameter, after relying party, place and number of rows; nil where there is none.
  func time(at now: Timestamp) -> Timestamp? {
    switch query.status {
    case .requiresInput, .expired: now
    case .processing, .failed: now - Limits.processingTimeout
    case nil, .verified, .canceled, .redacted: nil
    }
  }

  /// Rows to look for: one more than are shown.
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

  /// In words that match the index's own condition.
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
  /// - Parameter found: rows that were found before the page's bytes were counted.
  init(rows: [SessionRow], found: Int, limit: Int) throws(StoreError) {
    var sessions: [SessionRecord] = []
    for row in rows.prefix(limit) { sessions.append(try row.record()) }
    self.init(sessions: sessions, hasMore: found > sessions.count)
  }
}
