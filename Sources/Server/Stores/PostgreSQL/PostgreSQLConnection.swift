import Base
import CPostgreSQL
import Glibc
import Sessions

/// One connection and its prepared statements. Only one thread uses it.
///
/// Every wait ends: libpq is asked not to block, and if the server does not answer in time, the connection is given up.
final class PostgreSQLConnection {
  /// A little more than the time after which the server itself ends a statement (`settings`).
  private static let answerTime = Duration.seconds(5)

  let handle: OpaquePointer
  /// Not 0 once the server has announced that it ends the connection (FATAL or PANIC).
  private let farewell: UnsafeMutablePointer<Int32>
  /// Names of the prepared statements, by their SQL text.
  private var prepared: [String: String] = [:]
  /// Set by anything that leaves the connection's state in doubt. The connection is then closed and never used again.
  private(set) var isLost = false
  /// How long to wait for an answer; longer while tables are made.
  private(set) var answerTime = PostgreSQLConnection.answerTime

  /// Connects, and blocks until that is done or has failed: at most three seconds a host, plus the time that the
  /// resolver takes for its name.
  init(_ address: PostgreSQLAddress) throws(StoreError) {
    // The last value of a keyword counts. So the URL may override the options before it, and not those after it.
    let options = [
      ("connect_timeout", "3"), ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
      ("tcp_user_timeout", "10000"), ("fallback_application_name", "mdoc"), ("target_session_attrs", "read-write"),
      // The rule on sslmode does not cover encryption by GSSAPI, so GSSAPI is off.
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

  /// The statements are written for READ COMMITTED: if another transaction has changed a row meanwhile, the row is
  /// judged as it is now.
  ///
  /// A commit is acknowledged only once it is on disk. Otherwise a power cut could undo the consume of a challenge
  /// whose answer was already verified. A stricter setting, which waits for standbys too, is left as it is.
  private static let settings = """
    SET default_transaction_isolation = 'read committed';
    SET statement_timeout = 4000;
    SET lock_timeout = 2000;
    SET idle_in_transaction_session_timeout = 10000;
    SET jit = off;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
    """

  /// Lets statements run for up to an hour, to make tables and indexes. No request waits for that.
  func allowMinutes() throws(StoreError) {
    answerTime = .seconds(3600)
    try execute("SET statement_timeout = 0; SET lock_timeout = 60000; SET idle_in_transaction_session_timeout = 0")
  }

  /// Whether the server is still there, as far as the socket tells without a query: a server that ends a connection
  /// says so.
  var isInPlace: Bool {
    // The server may send messages at any time, such as changed settings. Up to eight times, what is there is read.
    for _ in 0..<8 {
      var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      if isLost || poll(&descriptor, 1, 0) <= 0 { break }
      // `PQisBusy` is called because it parses what came; outside a statement it returns 0.
      if PQconsumeInput(handle) == 0 || PQisBusy(handle) != 0 || PQstatus(handle) != CONNECTION_OK
        || farewell.pointee != 0
      {
        isLost = true
      }
    }
    return !isLost
  }

  // MARK: Statements

  /// Runs several statements without values, in one transaction if they begin none themselves.
  func execute(_ sql: String) throws(StoreError) {
    _ = try exchange { PQsendQuery(handle, sql) }
  }

  /// Runs a statement and returns the number of rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: PostgreSQLValue...) throws(StoreError) -> Int { try query(sql, values).changes }

  func rows<Value>(
    _ sql: String, _ values: PostgreSQLValue..., read: (PostgreSQLRow) -> Value
  ) throws(StoreError) -> [Value] {
    try query(sql, values).rows.map(read)
  }

  func rows<Value>(
    _ sql: String, _ values: [PostgreSQLValue], read: (PostgreSQLRow) -> Value
  ) throws(StoreError) -> [Value] {
    try query(sql, values).rows.map(read)
  }

  func first<Value>(
    _ sql: String, _ values: [PostgreSQLValue], read: (PostgreSQLRow) -> Value
  ) throws(StoreError) -> Value? {
    try query(sql, values).rows.first.map(read)
  }

  func first<Value>(
    _ sql: String, _ values: PostgreSQLValue..., read: (PostgreSQLRow) -> Value
  ) throws(StoreError) -> Value? {
    try query(sql, values).rows.first.map(read)
  }

  func query(_ sql: String, _ values: [PostgreSQLValue]) throws(StoreError) -> PostgreSQLResult {
    let name = try prepare(sql, values)
    let bytes = values.map(\.bytes)
    return try exchange { send(name, bytes) }
  }

  /// The name of the prepared statement on this connection; prepares it at first use, which is a round trip.
  func prepare(_ sql: String, _ values: [PostgreSQLValue]) throws(StoreError) -> String {
    if let known = prepared[sql] { return known }
    let name = "s\(prepared.count)"
    let types = values.map(\.type)
    _ = try exchange { PQsendPrepare(handle, name, sql, Int32(types.count), types) }
    prepared[sql] = name
    return name
  }

  func send(_ name: String, _ values: [[UInt8]?]) -> Int32 {
    // All values stand one after the other in memory, so that each has an address. The byte at the end gives an empty
    // last value one too.
    let all = values.reduce(into: [UInt8]()) { $0 += $1 ?? [] } + [0]
    return all.withUnsafeBytes { all in
      var offset = 0
      var places: [UnsafePointer<CChar>?] = []
      for value in values {
        places.append(value == nil ? nil : all.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
        offset += value?.count ?? 0
      }
      let lengths = values.map { Int32($0?.count ?? 0) }
      let formats = [Int32](repeating: 1, count: values.count)
      return PQsendQueryPrepared(handle, name, Int32(values.count), places, lengths, formats, 1)
    }
  }

  // MARK: Transactions

  /// Runs several statements as one transaction, for the few operations that one statement cannot do.
  func transaction<Value>(
    _ body: (PostgreSQLConnection) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try execute("BEGIN")
    do throws(StoreError) {
      let value = try body(self)
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

  /// Sends, waits, and returns the last result.
  ///
  /// - Throws: the first error.
  private func exchange(_ send: () -> Int32) throws(StoreError) -> PostgreSQLResult {
    let deadline = Deadline(in: answerTime)
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

  /// Nil after the last result of a statement.
  func nextResult(until deadline: Deadline) throws(StoreError) -> PostgreSQLResult? {
    while PQisBusy(handle) != 0 {
      guard wait(for: POLLIN, until: deadline) else { throw lost() }
    }
    return PQgetResult(handle).map(PostgreSQLResult.init)
  }

  /// The error that the server reported.
  func fault(of result: PostgreSQLResult) throws(StoreError) -> StoreError {
    guard let state = result.sqlState else { throw lost() }
    if PostgreSQLState.endsConnection(state) { isLost = true }
    return StoreError(sqlState: state)
  }

  /// Waits for the socket. False if nothing came in time, or the connection is gone.
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

  /// Marks the connection as lost, and returns the error for it. It is not known whether the server did what was sent;
  /// the caller must take it as not done.
  func lost() -> StoreError {
    isLost = true
    return .unavailable("the connection to PostgreSQL was lost, or it did not answer in time")
  }

  private static func withCStrings<Value>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value?
  ) -> Value? {
    let copies = texts.map { UnsafePointer(strdup($0)) }
    defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
    return (copies + [nil]).withUnsafeBufferPointer { list in list.baseAddress.flatMap(body) }
  }
}

/// A statement and its values, to be run later.
struct PostgreSQLStatement: Sendable {
  let sql: String
  let values: [PostgreSQLValue]
}

extension PostgreSQLConnection {
  /// Runs statements in one round trip and one transaction, and returns for each how many rows it changed or found. If
  /// one of them fails, none is done.
  ///
  /// All that is sent before a synchronisation point is one transaction, which is committed there (PostgreSQL 15,
  /// 34.5.1). So a failure of the commit itself arrives before the point's own result.
  func pipeline(_ statements: [PostgreSQLStatement]) throws(StoreError) -> [Int] {
    // Prepared before anything is sent, since the first use of a statement on a connection takes a round trip of its
    // own.
    var names: [String] = []
    for statement in statements { names.append(try prepare(statement.sql, statement.values)) }
    let deadline = Deadline(in: answerTime)
    guard !isLost, PQenterPipelineMode(handle) == 1 else { throw lost() }
    for (name, statement) in zip(names, statements) where send(name, statement.values.map(\.bytes)) != 1 {
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
      // Not run, because a statement before it failed.
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
  /// Maps a SQLSTATE (PostgreSQL 15, Appendix A): `unavailable` if the cause may pass by itself, else `corrupt`. The
  /// server's message is left out, since it may quote values.
  init(sqlState: String) {
    let name = "PostgreSQL \(sqlState)"
    switch sqlState.prefix(2) {
    // 08 connection, 40 transaction rolled back, 53 resources, 55 object in use, 57 operator intervention, 58 system.
    // 28 authentication and 3D missing database, while somebody sets them up. 25 a read-only transaction, after a
    // failover.
    case "08", "28", "3D", "40", "53", "55", "57", "58", "25": self = .unavailable(name)
    default: self = .corrupt(name)
    }
  }

  /// Says why there is no connection: the first line of libpq's message, which names host, port, user and database but
  /// no password.
  init(connecting handle: OpaquePointer?) {
    let text = handle.map { String(cString: PQerrorMessage($0)) } ?? "out of memory"
    self = .unavailable(text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no connection")
  }
}

/// The states after which a connection is of no more use: the server ends it, a failover made the server read-only, or
/// a prepared statement is gone or no longer fits.
enum PostgreSQLState {
  static func endsConnection(_ sqlState: String) -> Bool {
    sqlState.hasPrefix("08")
      || ["57P01", "57P02", "57P03", "57P05", "25006", "25P03", "26000", "0A000"].contains(sqlState)
  }
}
