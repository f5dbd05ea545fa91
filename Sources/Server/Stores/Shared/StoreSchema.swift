import Sessions

/// The steps that make a database's tables. A released step is never changed.
struct StoreSchema: Sendable {
  let steps: [String]
  /// The first version that stores the mode's name. Older stores record only live or test mode.
  let named: Int

  var version: Int { steps.count }

  /// Performs all missing steps or none, and records the mode of a new store. `lock` admits only one process at a time.
  func prepare(_ connection: some DatabaseConnection, mode: ServerMode, lock: String? = nil) throws(StoreError) {
    try connection.atomically { () throws(StoreError) in
      if let lock { try connection.execute(lock) }
      try connection.execute("CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY)")
      try connection.execute("CREATE TABLE IF NOT EXISTS mode (is_live BOOLEAN NOT NULL)")
      let found = try found(connection)
      let recorded = try self.mode(connection, mode, at: found)
      for (index, step) in steps.enumerated() where index >= found {
        try connection.execute(step)
        try connection.run("INSERT INTO migrations VALUES ($1)", .integer(index + 1))
      }
      if recorded == nil { try connection.run("INSERT INTO mode VALUES ($1)", .text(mode.rawValue)) }
    }
  }

  /// Checks the schema's version (`olderSchema`, `newerSchema`). Also checks the mode (`otherMode`) if one is given.
  func check(_ connection: some DatabaseConnection, mode: ServerMode? = nil) throws(StoreError) {
    let found = try found(connection)
    guard found == version else { throw .olderSchema(found: found, known: version) }
    if let mode { _ = try self.mode(connection, mode, at: found) }
  }

  private func found(_ connection: some DatabaseConnection) throws(StoreError) -> Int {
    let found = try connection.first("SELECT coalesce(max(version), 0) FROM migrations") { Int($0.integer(0)) } ?? 0
    guard found <= version else { throw .newerSchema(found: found, known: version) }
    return found
  }

  /// The mode of a store with this version's schema; nil if the store is new.
  private func mode(
    _ connection: some DatabaseConnection, _ mode: ServerMode, at version: Int
  ) throws(StoreError) -> ServerMode? {
    let name =
      if version >= named {
        try connection.first("SELECT name FROM mode") { $0.text(0) }
      } else {
        try connection.first("SELECT is_live FROM mode") {
          ($0.integer(0) != 0 ? ServerMode.live : .test).rawValue
        }
      }
    guard let name else { return nil }
    guard let recorded = ServerMode(rawValue: name) else { throw .corrupt("the store has an unknown mode") }
    guard recorded == mode else { throw .otherMode(recorded) }
    return recorded
  }
}

// MARK: SQLite

extension StoreSchema {
  static let sqlite = StoreSchema(
    steps: [
      first, second, third, fourth, erasure, sixth, modeByName, eventResult, verifications { "(\($0), \($1))" },
      filters(
        text: "CAST(content AS TEXT)", reference: "json_extract(text, '$.clientReferenceID')",
        types: """
          SELECT group_concat(json_extract(value, '$.docType'), char(10)) FROM json_each(text, '$.request.documents')
          """, line: "char(10)", index: "(relying_party, created, doc_types)"),
      auditRows,
    ],
    named: 7)

  private static let first = """
    \(sessions("seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE"))
    CREATE TABLE offers (
      session INTEGER NOT NULL REFERENCES sessions (seq) ON DELETE CASCADE, position INTEGER NOT NULL,
      protocol TEXT NOT NULL, data BLOB NOT NULL, material BLOB,
      PRIMARY KEY (session, position)
    ) WITHOUT ROWID;
    \(idempotency(options: "WITHOUT ROWID"))
    """

  /// Adds events. An event refers to its session by `seq`, because an index of random ids costs more than the rest of
  /// an event. `distributed` is the `seq` of the last distributed event. One value is enough, since writers take turns.
  private static let second = """
    \(events(
      "seq INTEGER PRIMARY KEY AUTOINCREMENT", "session INTEGER NOT NULL REFERENCES sessions (seq) ON DELETE CASCADE"))
    CREATE UNIQUE INDEX events_by_session ON events (session, type);
    CREATE TABLE outbox (distributed INTEGER NOT NULL);
    INSERT INTO outbox VALUES (0);
    \(deliveries(options: "WITHOUT ROWID"))
    """

  /// Adds evidence and the audit log. The audit log contains no entries for attempts that ended before this step.
  private static let third = """
    \(evidence)
    CREATE TABLE audit (
      node TEXT NOT NULL, sequence INTEGER NOT NULL, entry BLOB NOT NULL, hash BLOB NOT NULL,
      PRIMARY KEY (node, sequence)
    ) WITHOUT ROWID;
    """

  private static let fourth = """
    \(quotas { "(\($0), \($1))" })
    UPDATE audit SET relying_party = json_extract(CAST(entry AS TEXT), '$.relying_party')
      WHERE json_valid(CAST(entry AS TEXT));
    CREATE INDEX audit_of_party ON audit (relying_party, node, sequence);
    """

  /// Stores a session in one row. Protocols, requests and materials are lines of text in the order of the offers. A
  /// request is JSON without line breaks. A material is in hexadecimal.
  private static let sixth = """
    \(secrets)
    ALTER TABLE sessions ADD COLUMN protocols TEXT;
    ALTER TABLE sessions ADD COLUMN requests BLOB;
    ALTER TABLE sessions ADD COLUMN materials TEXT;
    UPDATE sessions SET protocols = lines.protocols, requests = CAST(lines.requests AS BLOB), materials = lines.materials
      FROM (SELECT session, group_concat(protocol, char(10)) AS protocols,
          group_concat(CAST(data AS TEXT), char(10)) AS requests,
          group_concat(coalesce(hex(material), ''), char(10)) AS materials
        FROM (SELECT * FROM offers ORDER BY session, position) GROUP BY session) AS lines
      WHERE lines.session = sessions.seq;
    DROP TABLE offers;
    """

  /// Stores audit entries in order of insertion, so that several fit on a page. In the older table's index, each entry
  /// occupied its own overflow page.
  private static let auditRows = """
    DROP INDEX audit_of_party;
    ALTER TABLE audit RENAME TO older_audit;
    CREATE TABLE audit (
      node TEXT NOT NULL, sequence INTEGER NOT NULL, entry BLOB NOT NULL, hash BLOB NOT NULL, relying_party TEXT
    );
    INSERT INTO audit SELECT node, sequence, entry, hash, relying_party FROM older_audit ORDER BY node, sequence;
    DROP TABLE older_audit;
    CREATE UNIQUE INDEX audit_by_node ON audit (node, sequence);
    CREATE INDEX audit_of_party ON audit (relying_party, node, sequence);
    """
}

// MARK: PostgreSQL

extension StoreSchema {
  /// The same tables as for SQLite, except that the first step already stores a session's offers in its row.
  static let postgreSQL = StoreSchema(
    steps: [
      postgreSQLFirst, postgreSQLSecond, postgreSQLThird, erasure, secrets, modeByName, eventResult,
      verifications { "(\($0)) INCLUDE (\($1))" },
      filters(
        text: "convert_from(content, 'UTF8')", reference: "text::json ->> 'clientReferenceID'",
        types: """
          SELECT string_agg(document ->> 'docType', chr(10))
          FROM json_array_elements(text::json -> 'request' -> 'documents') AS document
          """, line: "chr(10)", index: "(relying_party, created) INCLUDE (seq)"),
    ].map {
      $0.replacing("INTEGER", with: "BIGINT").replacing("BLOB", with: "BYTEA")
    }, named: 6)

  /// Most rows live for a minute and change three times, so autovacuum collects dead rows early.
  private static let vacuum =
    "WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05)"

  private static let postgreSQLFirst = """
    \(sessions(
      "id TEXT PRIMARY KEY, seq BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY",
      "protocols TEXT[], requests BYTEA[], materials BYTEA[],", options: vacuum))
    \(idempotency(options: vacuum))
    \(events(
      "seq BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY", "is_distributed BOOLEAN NOT NULL DEFAULT false",
      options: vacuum))
    CREATE UNIQUE INDEX events_by_session ON events (session_id, type);
    CREATE INDEX events_new ON events (seq) WHERE NOT is_distributed;
    \(deliveries(options: vacuum))
    """

  /// `audit_heads` contains the head of each chain. An append locks the head until its commit. An evidence bundle is
  /// not compressible, so it is stored uncompressed.
  private static let postgreSQLSecond = """
    \(evidence)
    ALTER TABLE sessions ALTER COLUMN evidence_bundle SET STORAGE EXTERNAL;
    CREATE TABLE audit (
      node TEXT COLLATE "C" NOT NULL, sequence INTEGER NOT NULL, entry BLOB NOT NULL, hash BLOB NOT NULL,
      PRIMARY KEY (node, sequence)
    );
    CREATE TABLE audit_heads (
      node TEXT COLLATE "C" PRIMARY KEY, sequence INTEGER NOT NULL, hash BLOB NOT NULL
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
    """

  private static let postgreSQLThird = """
    \(quotas { "(\($0)) INCLUDE (\($1))" })
    UPDATE audit SET relying_party = convert_from(entry, 'UTF8')::json ->> 'relying_party';
    CREATE INDEX audit_of_party ON audit (relying_party, node, sequence);
    """
}

// MARK: Parts of steps

extension StoreSchema {
  /// `seq` orders sessions by creation, since times are whole Unix seconds. `content`, `last_error` and `report` are
  /// JSON. Material, results and stored replies are already sealed.
  private static func sessions(_ keys: String, _ offers: String = "", options: String = "") -> String {
    """
    CREATE TABLE sessions (
      \(keys),
      relying_party TEXT NOT NULL, created INTEGER NOT NULL, expires_at INTEGER NOT NULL, status TEXT NOT NULL,
      attempt TEXT, consumed_at INTEGER, ended_at INTEGER,
      client_secret_hash BLOB, content BLOB, \(offers) last_error BLOB,
      result_expires_at INTEGER, waiting_result BLOB, retained_result BLOB,
      report_id TEXT, report BLOB
    ) \(options);
    CREATE INDEX sessions_of_party ON sessions (relying_party, seq);
    CREATE UNIQUE INDEX sessions_by_secret ON sessions (client_secret_hash) WHERE client_secret_hash IS NOT NULL;
    CREATE UNIQUE INDEX sessions_by_report ON sessions (report_id) WHERE report_id IS NOT NULL;
    CREATE INDEX sessions_open ON sessions (expires_at) WHERE status = 'requires_input';
    CREATE INDEX sessions_processing ON sessions (consumed_at) WHERE status = 'processing';
    CREATE INDEX sessions_waiting ON sessions (result_expires_at) WHERE waiting_result IS NOT NULL;
    CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;
    """
  }

  private static func idempotency(options: String) -> String {
    """
    CREATE TABLE idempotency (
      scope BLOB PRIMARY KEY, body_hash BLOB NOT NULL, token BLOB NOT NULL, begun INTEGER NOT NULL,
      is_finished BOOLEAN NOT NULL DEFAULT false, session TEXT, body BLOB, result BLOB, result_expires_at INTEGER
    ) \(options);
    CREATE INDEX idempotency_begun ON idempotency (begun);
    CREATE INDEX idempotency_session ON idempotency (session) WHERE session IS NOT NULL;
    CREATE INDEX idempotency_result ON idempotency (result_expires_at) WHERE result IS NOT NULL;
    """
  }

  /// `type` is the session's status after the event.
  private static func events(_ key: String, _ column: String, options: String = "") -> String {
    """
    CREATE TABLE events (
      \(key), \(column),
      session_id TEXT NOT NULL, type TEXT NOT NULL, relying_party TEXT NOT NULL, created INTEGER NOT NULL,
      error_code TEXT
    ) \(options);
    CREATE INDEX events_of_party ON events (relying_party, seq);
    CREATE INDEX events_created ON events (created);
    """
  }

  /// `due` is the time of a pending delivery's next attempt. During an attempt, `due` is the end of its lease.
  private static func deliveries(options: String) -> String {
    """
    CREATE TABLE deliveries (
      event INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
      endpoint TEXT NOT NULL, relying_party TEXT NOT NULL, status TEXT NOT NULL,
      attempts INTEGER NOT NULL, begun INTEGER NOT NULL, due INTEGER NOT NULL, fault TEXT, fault_status INTEGER,
      PRIMARY KEY (event, endpoint)
    ) \(options);
    CREATE INDEX deliveries_due ON deliveries (relying_party, endpoint, due) WHERE status = 'pending';
    CREATE INDEX deliveries_pending ON deliveries (begun) WHERE status = 'pending';
    CREATE INDEX deliveries_dead ON deliveries (event) WHERE status = 'dead';
    CREATE INDEX deliveries_of_party ON deliveries (relying_party, status, event, endpoint);
    """
  }

  private static let evidence = """
    ALTER TABLE sessions ADD COLUMN attempt_protocol TEXT;
    ALTER TABLE sessions ADD COLUMN evidence TEXT;
    ALTER TABLE sessions ADD COLUMN evidence_bundle BLOB;
    """

  /// Waiting and ended sessions each have an index (`SessionListing`). A single index by status needs more writes. The
  /// indexes include the columns for counting usage. `bytes` is the stored size of a session or a reply. It is 0 for
  /// rows older than this step.
  private static func quotas(_ covering: (String, String) -> String) -> String {
    """
    ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    DROP INDEX sessions_of_party;
    CREATE INDEX sessions_waiting_of_party ON sessions \(covering("relying_party, seq", "expires_at, bytes"))
      WHERE status = 'requires_input';
    CREATE INDEX sessions_ended_of_party ON sessions \(covering("relying_party, status, seq", "bytes"))
      WHERE ended_at IS NOT NULL;
    DROP INDEX events_of_party;
    CREATE INDEX events_of_party ON events (relying_party, type, seq);
    ALTER TABLE idempotency ADD COLUMN relying_party TEXT;
    ALTER TABLE idempotency ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX idempotency_of_party ON idempotency \(covering("relying_party", "bytes")) WHERE is_finished;
    ALTER TABLE audit ADD COLUMN relying_party TEXT;
    """
  }

  /// `next_erasure` is the time to erase a session's next retained value; NULL if none is left. The session's row is
  /// not deleted until `next_erasure` is NULL. From this step on, `retained_result` has the form of `KeptValues`. An
  /// older result is erased with its session.
  private static let erasure = """
    ALTER TABLE sessions ADD COLUMN next_erasure INTEGER;
    CREATE INDEX sessions_erasure ON sessions (next_erasure) WHERE next_erasure IS NOT NULL;
    DROP INDEX sessions_ended;
    CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL AND next_erasure IS NULL;
    """

  /// New client secrets and report ids contain their session's id, so they need no index of random values. Older
  /// secrets and ids keep their indexes. Events are stored in chronological order, so expired events are at the
  /// beginning of the table.
  private static let secrets = """
    ALTER TABLE sessions ADD COLUMN secret_hash BLOB;
    DROP INDEX events_created;
    """

  private static let modeByName = """
    ALTER TABLE mode ADD COLUMN name TEXT NOT NULL DEFAULT 'test';
    UPDATE mode SET name = 'live' WHERE is_live;
    ALTER TABLE mode DROP COLUMN is_live;
    """

  private static let eventResult = "ALTER TABLE events ADD COLUMN result TEXT"

  /// Reports of verifications without a session. The id has the form of a session's id, but there is no such session.
  /// The report's id is derived from this id.
  private static func verifications(_ covering: (String, String) -> String) -> String {
    """
    CREATE TABLE verifications (
      id TEXT PRIMARY KEY, relying_party TEXT NOT NULL, ended_at INTEGER NOT NULL, report BLOB NOT NULL,
      bytes INTEGER NOT NULL
    );
    CREATE INDEX verifications_ended ON verifications (ended_at);
    CREATE INDEX verifications_of_party ON verifications \(covering("relying_party", "bytes"));
    """
  }

  /// The filters of a list of sessions, copied from `content` and erased with it. `doc_types` has a line break before
  /// and after each document type. PostgreSQL's index entries must be short, so its index omits the document types.
  private static func filters(
    text: String, reference: String, types: String, line: String, index: String
  ) -> String {
    """
    ALTER TABLE sessions ADD COLUMN client_reference_id TEXT;
    ALTER TABLE sessions ADD COLUMN doc_types TEXT;
    UPDATE sessions SET client_reference_id = found.reference, doc_types = \(line) || found.types || \(line)
      FROM (SELECT id AS session, \(reference) AS reference, (\(types)) AS types
        FROM (SELECT id, \(text) AS text FROM sessions WHERE content IS NOT NULL) AS contents) AS found
      WHERE found.session = sessions.id;
    CREATE INDEX sessions_created ON sessions \(index);
    CREATE INDEX sessions_by_reference ON sessions (relying_party, client_reference_id, seq)
      WHERE client_reference_id IS NOT NULL;
    """
  }
}
