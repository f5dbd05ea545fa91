import Base
import Sessions

/// A store in a SQL database. All databases share its statements. A `Dialect` contains the differences. Each database
/// has its own code for connections, `consume`, the recording of outcomes, and claims of deliveries.
package protocol DatabaseStore: SessionStore, DatabaseReader {
  var observer: (any StoreObserver)? { get set }

  /// This process's node. Audit entries are appended to its chain.
  var node: NodeName { get }

  /// Records an outcome with its event, its audit entry and the stored reply. Changes nothing and returns false if the
  /// outcome does not apply.
  func record(
    _ change: OutcomeChange, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> Bool
}

extension DatabaseStore {
  package func observed(by observer: any StoreObserver) -> any SessionStore {
    var store = self
    store.observer = observer
    return store
  }
}

package protocol DatabaseReader: AuditStore {
  associatedtype Connection: DatabaseConnection

  var observer: (any StoreObserver)? { get }

  /// Runs `body` on a connection. Its changes are durable when this returns.
  func perform<Value: Sendable>(
    _ lane: Lane, _ body: @escaping @Sendable (Connection) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value
}

/// The kind of work. A list may take long, but delays no other work.
package enum Lane: Sendable { case write, read, list }

extension DatabaseReader {
  func perform<Value: Sendable>(
    _ operation: StaticString, _ lane: Lane, _ body: @escaping @Sendable (Connection) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await measured(operation) { () async throws(StoreError) in try await perform(lane, body) }
  }

  /// Reports to the observer how long an operation took, including waits, and whether it failed.
  func measured<Value: Sendable>(
    _ operation: StaticString, _ body: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    guard let observer else { return try await body() }
    let start = ContinuousClock.now
    var failed = true
    defer { observer.used(operation, seconds: (ContinuousClock.now - start) / .seconds(1), failed: failed) }
    let value = try await body()
    failed = false
    return value
  }
}

/// The parts of SQL that differ between the databases.
package struct Dialect: Sendable {
  let sessionKey: String
  /// Additional columns that link an event to its session; empty if the id is enough.
  let eventKey: (column: String, of: String)
  /// Selects the events of the session with the id `$1`.
  let isOfSession: String
  /// Selects the sessions with the ids of the list `$1`.
  let isListed: String
  /// A hint to use an index of sessions; empty if the database supports no hints.
  let using: @Sendable (_ index: String) -> String
  /// The SQL function that finds one text in another.
  let position: String
  /// A session's metadata, as JSON.
  let metadata: String
  let requestBytes: String
  /// Clauses that lock a query's rows until the transaction ends. `forUpdate` locks exclusively. `forShare` prevents
  /// changes. `skipLocked` skips rows that another transaction has locked. They are empty if writers take turns.
  let forUpdate: String
  let forShare: String
  let skipLocked: String
}

/// One connection of a database, and its prepared statements. Only one thread uses it.
package protocol DatabaseConnection: AnyObject {
  associatedtype Row: StoredRow
  static var dialect: Dialect { get }

  func execute(_ sql: String) throws(StoreError)
  /// Runs a statement with the values `$1`, `$2` … and returns the number of changed rows. Prepares the statement at
  /// its first use.
  @discardableResult
  func run(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> Int
  func rows<Value>(_ sql: String, _ values: [SQLValue], _ read: (Row) -> Value) throws(StoreError) -> [Value]
  /// Runs several statements as one transaction, or as part of the current transaction.
  func atomically<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value

  /// Runs a change, and stores the request's reply in the same transaction.
  func run(_ sql: String, _ values: [SQLValue], finishing completion: IdempotencyCompletion?) throws(StoreError)
  /// Appends an audit entry to a node's chain, in the same transaction as the recorded change.
  func append(_ entry: AuditEntry, to node: NodeName) throws(StoreError)
  func auditHeads(of relyingParty: String?) throws(StoreError) -> [AuditHead]
  /// Notes an erasure, since the database may still store the data elsewhere.
  func noteErasure()
}

extension DatabaseConnection {
  @discardableResult
  func run(_ sql: String, _ values: SQLValue...) throws(StoreError) -> Int { try run(sql, values) }

  func first<Value>(_ sql: String, _ values: SQLValue..., read: (Row) -> Value) throws(StoreError) -> Value? {
    try rows(sql, values, read).first
  }
}

extension DatabaseConnection {
  /// The head of a node's last entry, or of the last entry for the relying party.
  func auditHead(of node: NodeName, _ relyingParty: String?) throws(StoreError) -> AuditHead? {
    try rows(
      """
      SELECT sequence, hash FROM audit WHERE node = $1 \(relyingParty == nil ? "" : "AND relying_party = $2")
      ORDER BY sequence DESC LIMIT 1
      """, [.text(node.text)] + (relyingParty.map { [.text($0)] } ?? [])
    ) { AuditHead(node, $0) }.first
  }
}

extension AuditHead {
  /// Reads a row that begins with the sequence and the hash.
  init(_ node: NodeName, _ row: some StoredRow) {
    self.init(node: node, sequence: row.integer(0), hash: row.blob(1))
  }
}

/// A value for a statement; NULL if nil. Only PostgreSQL has arrays of bytes.
package enum SQLValue: Sendable {
  case integer(Int64?)
  case text(String?)
  case blob([UInt8]?)
  case integers([Int64])
  case texts([String])
  case blobs([[UInt8]?])

  static func integer(_ number: Int) -> SQLValue { .integer(Int64(number)) }
  static func time(_ time: Timestamp?) -> SQLValue { .integer(time?.secondsSince1970) }
  /// A text for a search column. A text with a NUL character becomes NULL, since a database may truncate it.
  static func searchable(_ text: String?) -> SQLValue { .text(text.flatMap { $0.contains("\0") ? nil : $0 }) }
  static func type(_ type: EventType) -> SQLValue { .text(type.status.rawValue) }
}

/// Returns the value of a row; throws `corrupt` if the row could not be decoded.
func intact<Value>(_ value: Value?, _ name: String) throws(StoreError) -> Value {
  guard let value else { throw .corrupt(name) }
  return value
}

func intact<Value>(all values: some Sequence<Value?>, _ name: String) throws(StoreError) -> [Value] {
  try values.map { value throws(StoreError) in try intact(value, name) }
}

/// The current row of a query. Columns are numbered from 0 and returned as copies.
package protocol StoredRow: SendableMetatype {
  func isNull(_ column: Int32) -> Bool
  func integer(_ column: Int32) -> Int64
  func text(_ column: Int32) -> String
  func blob(_ column: Int32) -> [UInt8]

  /// The offers, from their three columns.
  func offers(_ column: Int32) -> [SessionRow.Offer]
  static func values(of offers: [ProtocolOffer]) -> [SQLValue]
}

extension StoredRow {
  func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
  func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }
  func time(_ column: Int32) -> Timestamp { Timestamp(secondsSince1970: integer(column)) }
  func optionalTime(_ column: Int32) -> Timestamp? { isNull(column) ? nil : time(column) }
}

/// Work for a connection's thread, and the callback for the caller that waits.
struct StoreJob<Connection> {
  let work: (Connection) throws(StoreError) -> Void
  /// Called once on the thread that learns the outcome. The argument is nil on success.
  let finish: (StoreError?) -> Void
  let flow = Flow.current

  /// Passes a job to `enqueue`, and suspends until the job has ended.
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws(StoreError) -> Value, enqueue: (StoreJob) -> Void
  ) async throws(StoreError) -> Value {
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      var value: Value?
      enqueue(
        StoreJob(
          work: { connection throws(StoreError) in value = try body(connection) },
          finish: { error in
            if error == nil, let value { return continuation.resume(returning: .success(value)) }
            continuation.resume(returning: .failure(error ?? .closed))
          }))
    }
    return try result.get()
  }
}
