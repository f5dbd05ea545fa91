import Base
import Sessions

extension DatabaseStore {
  package func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    let found = try await perform("sessions", .list) {
      connection throws(StoreError) -> [(row: SessionRow, found: Int)]? in
      var before = Int64.max
      if let cursor = query.startingAfter {
        let seq = try connection.first(
          "SELECT seq FROM sessions WHERE id = $1 AND relying_party = $2", .text(cursor.text), .text(relyingParty)
        ) { $0.integer(0) }
        guard let seq else { return nil }
        before = seq
      }
      let listing = SessionListing(query, of: relyingParty, before: before, at: now, Connection.dialect)
      return try connection.rows(listing.sql, listing.values) { row in
        (row: SessionRow(row), found: Int(row.integer(SessionRow.width + 3)))
      }
    }
    guard let found else { return nil }
    let sessions = try found.prefix(query.limit).map { found throws(StoreError) in try found.row.record() }
    return SessionPage(entries: sessions, hasMore: found.first.map { $0.found > sessions.count } ?? false)
  }
}

/// The statement that reads a page of one relying party's sessions, newest first.
///
/// No index orders all sessions of a relying party, since each change of status has to update such an index. Instead,
/// one index has waiting sessions, one has sessions in verification, and one has ended sessions by status. The query
/// merges them. A page ends once `Limits.pageBytes` are read.
///
/// A filter other than the status reads one index, by reference or by time. In SQLite, the index by time also contains
/// the sessions' document types.
///
/// A status filter applies to the current status. An overdue session counts as expired or failed even before the store
/// writes this status.
struct SessionListing: Sendable {
  let sql: String
  /// The statement's parameters, from `$1`.
  let values: [SQLValue]

  /// A condition on sessions, and the index that orders them. A condition must have the same wording as its index.
  /// Otherwise the database does not use the index.
  private typealias Branch = (condition: String, index: String?)

  /// - Parameter before: the exclusive upper bound for the `seq` of the page's sessions.
  init(
    _ query: SessionQuery, of relyingParty: String, before: Int64, at now: Timestamp, _ dialect: Dialect
  ) {
    // One row beyond the page size shows whether another page follows.
    var values: [SQLValue] = [.text(relyingParty), .integer(before), .integer(query.limit + 1)]
    var branches = Self.branches(of: query.status, time: "$4")
    switch query.status {
    case .requiresInput, .expired: values.append(.time(now))
    case .processing, .failed: values.append(.time(now - Limits.processingTimeout))
    case nil, .verified, .canceled, .redacted: break
    }
    if query.isFiltered {
      var condition =
        query.status == nil ? "" : "(\(branches.map { "(\($0.condition))" }.joined(separator: " OR "))) AND "
      func require(_ text: String, _ value: SQLValue) {
        values.append(value)
        condition += text.replacing("?", with: "$\(values.count)")
      }
      require("created >= ?", .integer(query.createdFrom ?? 0))
      if let end = query.createdBefore { require(" AND created < ?", .integer(end)) }
      if let type = query.docType {
        require(" AND \(dialect.position)(doc_types, ?) > 0", .text(SessionContent.lines(of: [type])))
      }
      if let id = query.clientReferenceID { require(" AND client_reference_id = ?", .text(id)) }
      branches = [(condition, query.clientReferenceID == nil ? "sessions_created" : "sessions_by_reference")]
    }
    self.values = values
    sql = Self.sql(branches, query.parts, dialect)
  }

  private static func branches(of status: SessionStatus?, time: String) -> [Branch] {
    func waiting(_ time: String = "") -> Branch { ("status = 'requires_input'\(time)", nil) }
    func processing(_ time: String = "") -> Branch { ("status = 'processing'\(time)", "sessions_processing") }
    func ended(_ status: SessionStatus) -> Branch { ("ended_at IS NOT NULL AND status = '\(status.rawValue)'", nil) }
    switch status {
    case nil: return [waiting(), processing()] + SessionStatus.allCases.filter(\.isFinal).map(ended)
    case .requiresInput: return [waiting(" AND expires_at > \(time)")]
    case .processing: return [processing(" AND consumed_at >= \(time)")]
    case .expired: return [waiting(" AND expires_at <= \(time)"), ended(.expired)]
    case .failed: return [processing(" AND consumed_at < \(time)"), ended(.failed)]
    case let status?: return [ended(status)]
    }
  }

  private static func sql(_ branches: [Branch], _ parts: Set<SessionPart>, _ dialect: Dialect) -> String {
    let key = dialect.sessionKey
    // A list never shows the material.
    let requests = (parts.contains(.requests) ? ["protocols", "requests"] : ["NULL", "NULL"]) + ["NULL"]
    let found = branches.map { branch in
      """
      SELECT * FROM (SELECT \(key) AS held, seq AS ordinal FROM sessions \(branch.index.map(dialect.using) ?? "")
      WHERE relying_party = $1 AND seq < $2 AND \(branch.condition) ORDER BY seq DESC LIMIT $3) AS found
      """
    }.joined(separator: " UNION ALL ")
    let lengths =
      ["length(content)", "length(last_error)"] + (parts.contains(.report) ? ["length(report)"] : [])
      + (parts.contains(.requests) ? [dialect.requestBytes] : [])
    let size = "(" + lengths.map { "coalesce(\($0), 0)" }.joined(separator: " + ") + ")"
    return """
      WITH page AS (SELECT * FROM (\(found)) AS merged ORDER BY ordinal DESC LIMIT $3),
      sized AS (SELECT sessions.\(key) AS held, \(size) AS size, sum(\(size)) OVER (ORDER BY sessions.seq DESC) AS total,
        count(*) OVER () AS found FROM page JOIN sessions ON sessions.\(key) = page.held)
      SELECT \((SessionRow.columns(listing: parts) + requests + ["found"]).joined(separator: ", "))
      FROM sized JOIN sessions ON sessions.\(key) = sized.held
      WHERE total - size < \(Limits.pageBytes) ORDER BY sessions.seq DESC
      """
  }
}
