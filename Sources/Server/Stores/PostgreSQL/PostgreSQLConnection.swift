import Base
import CPostgreSQL
import Glibc
import Sessions

/// One connection and its prepared statements, for one thread. Every wait has a time limit. The connection to a silent
/// server counts as lost.
package final class PostgreSQLConnection: DatabaseConnection {
  package static let dialect = Dialect(
    sessionKey: "id", eventKey: ("", ""), isOfSession: "session_id = $1", isListed: "id = ANY ($1)",
    using: { _ in "" }, position: "strpos",
    metadata: "convert_from(content, 'UTF8')::json ->> 'metadata'",
    requestBytes: "(SELECT sum(length(request)) FROM unnest(requests) AS request)", forUpdate: "FOR UPDATE",
    forShare: "FOR SHARE", skipLocked: "FOR UPDATE SKIP LOCKED")

  let handle: OpaquePointer
  /// Nonzero once the server has announced that it ends the connection (FATAL or PANIC).
  private let farewell: UnsafeMutablePointer<Int32>
  private var prepared: [String: String] = [:]
  /// True once the connection's state is in doubt. It is then closed and never used again.
  private(set) var isLost = false
  /// The time to wait for a reply: a little more than the server's own limit for a statement (`settings`).
  private var replyTime = Duration.seconds(5)

  /// Connects. Blocks for at most three seconds for each host, plus the time to resolve its name.
  init(_ address: PostgreSQLAddress) throws(StoreError) {
    // libpq uses a keyword's last value. The URL overrides options before it, but not options after it.
    let options = [
      ("connect_timeout", "3"), ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
      ("tcp_user_timeout", "10000"), ("fallback_application_name", "mdoc"), ("target_session_attrs", "read-write"),
      // The sslmode check does not cover GSSAPI encryption, so GSSAPI is disabled.
      ("gssencmode", "disable"), ("dbname", address.url), ("client_encoding", "UTF8"),
    ]
    let handle = Self.withCStrings(options.map(\.0)) { keywords in
      Self.withCStrings(options.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
    }
    guard let handle else { throw .unavailable("out of memory") }
    guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0 else {
      let error = StoreError(connecting: handle)
      PQfinish(handle)
      throw error
    }
    self.handle = handle
    farewell = .allocate(capacity: 1)
    farewell.initialize(to: 0)
    mdoc_pq_note_farewell(handle, farewell)
    try execute(Self.settings)
  }

  deinit {
    PQfinish(handle)
    farewell.deallocate()
  }

  /// READ COMMITTED lets each statement see the current row. The server acknowledges a commit only once it is on disk.
  /// Otherwise a power cut could undo the consumption of a challenge. A setting that is already stricter remains
  /// unchanged.
  private static let settings = """
    SET default_transaction_isolation = 'read committed';
    SET statement_timeout = 4000;
    SET lock_timeout = 2000;
    SET idle_in_transaction_session_timeout = 10000;
    SET jit = off;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
    """

  /// Lets statements that create tables and indexes run for up to an hour.
  func allowMinutes() throws(StoreError) {
    replyTime = .seconds(3600)
    try execute("SET statement_timeout = 0; SET lock_timeout = 60000; SET idle_in_transaction_session_timeout = 0")
  }

  /// False if the server has announced the end of the connection.
  var isInPlace: Bool {
    // The server may send messages at any time, such as changed settings. Such messages are read in at most eight
    // rounds.
    for _ in 0..<8 {
      var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      if isLost || poll(&descriptor, 1, 0) <= 0 { break }
      // `PQisBusy` parses the received bytes. Outside a statement it returns 0.
      if PQconsumeInput(handle) == 0 || PQisBusy(handle) != 0 || PQstatus(handle) != CONNECTION_OK
        || farewell.pointee != 0
      {
        isLost = true
      }
    }
    return !isLost
  }

  // MARK: Statements

  /// Runs several statements without values. If they begin no transaction themselves, they run in a single transaction.
  package func execute(_ sql: String) throws(StoreError) {
    _ = try exchange { PQsendQuery(handle, sql) }
  }

  @discardableResult
  package func run(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> Int { try query(sql, values).changes }

  package func rows<Value>(
    _ sql: String, _ values: [SQLValue], _ read: (PostgreSQLRow) -> Value
  ) throws(StoreError) -> [Value] {
    try query(sql, values).rows.map(read)
  }

  private func query(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> PostgreSQLResult {
    let name = try prepare(sql, values)
    let bytes = values.map(\.binary.bytes)
    return try exchange { send(name, bytes) }
  }

  /// The name of the prepared statement. Its first use on a connection takes a round trip.
  func prepare(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> String {
    if let known = prepared[sql] { return known }
    let name = "s\(prepared.count)"
    let types = values.map(\.binary.type)
    _ = try exchange { PQsendPrepare(handle, name, sql, Int32(types.count), types) }
    prepared[sql] = name
    return name
  }

  func send(_ name: String, _ values: [[UInt8]?]) -> Int32 {
    // The extra byte at the end gives an address even to an empty last value.
    let all = values.reduce(into: [UInt8]()) { $0 += $1 ?? [] } + [0]
    return all.withUnsafeBytes { all in
      var offset = 0
      var addresses: [UnsafePointer<CChar>?] = []
      for value in values {
        addresses.append(value == nil ? nil : all.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
        offset += value?.count ?? 0
      }
      let lengths = values.map { Int32($0?.count ?? 0) }
      let formats = [Int32](repeating: 1, count: values.count)
      return PQsendQueryPrepared(handle, name, Int32(values.count), addresses, lengths, formats, 1)
    }
  }

  package func atomically<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    try execute("BEGIN")
    do throws(StoreError) {
      let value = try body()
      try execute("COMMIT")
      return value
    } catch {
      if !isLost {
        do throws(StoreError) { try execute("ROLLBACK") } catch { isLost = true }
      }
      throw error
    }
  }

  // MARK: Sending and waiting

  /// Sends, waits, and returns the last result, or throws the first error.
  private func exchange(_ send: () -> Int32) throws(StoreError) -> PostgreSQLResult {
    let deadline = Deadline(in: replyTime)
    guard !isLost, send() == 1 else { throw lost() }
    try flush(until: deadline)
    var last: PostgreSQLResult?
    var failure: StoreError?
    while let result = try nextResult(until: deadline) {
      last = result
      guard result.status != PGRES_COMMAND_OK, result.status != PGRES_TUPLES_OK, failure == nil else { continue }
      failure = try fault(of: result)
    }
    if PQstatus(handle) != CONNECTION_OK { isLost = true }
    if let failure { throw failure }
    guard let last, !isLost else { throw lost() }
    return last
  }

  func flush(until deadline: Deadline) throws(StoreError) {
    while true {
      let left = PQflush(handle)
      if left == 0 { return }
      guard left == 1, wait(for: POLLIN | POLLOUT, until: deadline) else { throw lost() }
    }
  }

  /// The next result; nil after a statement's last result.
  func nextResult(until deadline: Deadline) throws(StoreError) -> PostgreSQLResult? {
    while PQisBusy(handle) != 0 {
      guard wait(for: POLLIN, until: deadline) else { throw lost() }
    }
    return PQgetResult(handle).map(PostgreSQLResult.init)
  }

  func fault(of result: PostgreSQLResult) throws(StoreError) -> StoreError {
    guard let state = result.sqlState else { throw lost() }
    // The server is ending the connection, is read-only after a failover, or has lost or invalidated a prepared
    // statement.
    let last: Set = ["57P01", "57P02", "57P03", "57P05", "25006", "25P03", "26000", "0A000"]
    if state.hasPrefix("08") || last.contains(state) { isLost = true }
    return StoreError(sqlState: state)
  }

  /// Waits for the socket. Returns false if nothing arrived in time, or the connection is lost.
  private func wait(for events: Int32, until deadline: Deadline) -> Bool {
    var descriptor = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
    while true {
      switch poll(&descriptor, 1, deadline.milliseconds) {
      case 0: return false
      case -1 where errno == EINTR: continue
      case -1: return false
      default: return Int32(descriptor.revents) & ~POLLOUT == 0 || PQconsumeInput(handle) == 1
      }
    }
  }

  /// Marks the connection as lost. The caller must treat a sent statement as not executed.
  func lost() -> StoreError {
    isLost = true
    return .unavailable("the connection to PostgreSQL was lost, or it did not reply in time")
  }

  private static func withCStrings<Value>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value?
  ) -> Value? {
    let copies = texts.map { UnsafePointer(strdup($0)) }
    defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
    return (copies + [nil]).withUnsafeBufferPointer { list in list.baseAddress.flatMap(body) }
  }
}

struct PostgreSQLStatement: Sendable {
  let sql: String
  let values: [SQLValue]
}

extension PostgreSQLConnection {
  /// Runs statements in one round trip and one transaction. Returns the number of rows that each statement changed or
  /// found. The synchronisation point commits the transaction (PostgreSQL 15, 34.5.1). A commit error arrives before
  /// the result of the synchronisation point.
  func pipeline(_ statements: [PostgreSQLStatement]) throws(StoreError) -> [Int] {
    // Prepare the statements before sending anything, since preparing takes a round trip.
    var names: [String] = []
    for statement in statements { names.append(try prepare(statement.sql, statement.values)) }
    let deadline = Deadline(in: replyTime)
    guard !isLost, PQenterPipelineMode(handle) == 1 else { throw lost() }
    for (name, statement) in zip(names, statements) where send(name, statement.values.map(\.binary.bytes)) != 1 {
      throw lost()
    }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    try flush(until: deadline)
    var changes: [Int] = []
    var failure: StoreError?
    while true {
      guard let result = try nextResult(until: deadline) else {
        // libpq returns nil between the results of two statements, and also if the connection is gone.
        guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
        continue
      }
      switch result.status {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK: changes.append(result.changes)
      // An earlier statement failed.
      case PGRES_PIPELINE_ABORTED: continue
      case PGRES_PIPELINE_SYNC:
        guard PQexitPipelineMode(handle) == 1 else { throw lost() }
        if let failure { throw failure }
        return changes
      default:
        let fault = try fault(of: result)
        failure = failure ?? fault
      }
    }
  }
}

extension StoreError {
  /// Maps a SQLSTATE (PostgreSQL 15, Appendix A): `unavailable` if the cause may be temporary, otherwise `corrupt`. The
  /// server's message is left out, since it may quote values.
  init(sqlState: String) {
    let name = "PostgreSQL \(sqlState)"
    switch sqlState.prefix(2) {
    // 08 connection, 25 read-only after a failover, 28 authentication, 3D no database, 40 rolled back, 53 resources,
    // 55 object in use, 57 operator intervention, 58 system.
    case "08", "28", "3D", "40", "53", "55", "57", "58", "25": self = .unavailable(name)
    default: self = .corrupt(name)
    }
  }

  /// The first line of libpq's message, which contains host, port, user and database but no password.
  init(connecting handle: OpaquePointer?) {
    let text = handle.map { String(cString: PQerrorMessage($0)) } ?? "out of memory"
    self = .unavailable(text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no connection")
  }
}
