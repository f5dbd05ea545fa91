import Sessions

/// The steps that make the tables, from the first version on. A step is never changed once it has been released.
enum PostgreSQLSchema {
  private static let steps = [first, second, third, fourth, fifth, sixth, seventh]
  /// The advisory lock under which steps are taken: "mdoc" in ASCII.
  private static let lock = 0x6d64_6f63

  static var version: Int { steps.count }

  /// Checks, at a server's start, that the schema is this version's and the database serves this mode. Changes nothing.
  ///
  /// - Throws: `olderSchema` or `newerSchema` if it is another version's, `otherMode` if it serves another mode.
  static func check(_ connection: PostgreSQLConnection, mode: ServerMode) throws(StoreError) {
    let isPrepared = try connection.first("SELECT to_regclass('migrations') IS NOT NULL") { $0.integer(0) != 0 }
    guard isPrepared == true else { throw .olderSchema(found: 0, known: steps.count) }
    let found = try version(connection)
    guard found == steps.count else { throw .olderSchema(found: found, known: steps.count) }
    try checkMode(connection, mode, at: found)
  }

  /// Takes the missing steps, all of them or none.
  static func prepare(_ connection: PostgreSQLConnection, mode: ServerMode) throws(StoreError) {
    try connection.allowMinutes()
    try connection.transaction { connection throws(StoreError) in
      try connection.execute("SELECT pg_advisory_xact_lock(\(lock))")
      try connection.execute(
        """
        CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS mode (is_live BOOLEAN NOT NULL);
        """)
      let found = try version(connection)
      let recorded = try checkMode(connection, mode, at: found)
      for (index, step) in steps.enumerated() where index >= found {
        try connection.execute(step)
        try connection.run("INSERT INTO migrations VALUES ($1)", .integer(Int64(index + 1)))
      }
      if recorded == nil { try connection.run("INSERT INTO mode VALUES ($1)", .text(mode.rawValue)) }
    }
  }

  private static func version(_ connection: PostgreSQLConnection) throws(StoreError) -> Int {
    let found = try connection.first("SELECT coalesce(max(version), 0) FROM migrations") { Int($0.integer(0)) } ?? 0
    guard found <= steps.count else { throw .newerSchema(found: found, known: steps.count) }
    return found
  }

  /// Returns the mode that the tables of this version serve; nil if they are new.
  @discardableResult
  private static func checkMode(
    _ connection: PostgreSQLConnection, _ mode: ServerMode, at version: Int
  ) throws(StoreError) -> ServerMode? {
    let recorded = try self.mode(connection, at: version)
    if let recorded, recorded != mode { throw .otherMode(recorded) }
    return recorded
  }

  private static func mode(_ connection: PostgreSQLConnection, at version: Int) throws(StoreError) -> ServerMode? {
    guard version >= 6 else {
      return try connection.first("SELECT is_live FROM mode") { $0.integer(0) != 0 ? .live : .test }
    }
    guard let name = try connection.first("SELECT name FROM mode", read: { $0.text(0) }) else { return nil }
    guard let mode = ServerMode(rawValue: name) else { throw .corrupt("the store is of an unknown mode") }
    return mode
  }

  /// The same tables as SQLite's, except that a session's offers are in the session's own row: to create a session, and
  /// to consume its challenge with all consequences, is then one statement on one row. Times are Unix seconds.
  /// `content`, `requests`, `last_error` and `report` are JSON. `materials`, the results and the kept replies are
  /// sealed before they come here.
  ///
  /// Most rows live for a minute and change three times, so autovacuum is set to collect dead rows early.
  private static let first = """
    CREATE TABLE sessions (
      id TEXT PRIMARY KEY,
      seq BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY,
      relying_party TEXT NOT NULL,
      created BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      status TEXT NOT NULL,
      attempt TEXT,
      consumed_at BIGINT,
      ended_at BIGINT,
      client_secret_hash BYTEA,
      content BYTEA,
      protocols TEXT[],
      requests BYTEA[],
      materials BYTEA[],
      last_error BYTEA,
      result_expires_at BIGINT,
      waiting_result BYTEA,
      retained_result BYTEA,
      report_id TEXT,
      report BYTEA
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
    CREATE INDEX sessions_of_party ON sessions (relying_party, seq);
    CREATE UNIQUE INDEX sessions_by_secret ON sessions (client_secret_hash) WHERE client_secret_hash IS NOT NULL;
    CREATE UNIQUE INDEX sessions_by_report ON sessions (report_id) WHERE report_id IS NOT NULL;
    CREATE INDEX sessions_open ON sessions (expires_at) WHERE status = 'requires_input';
    CREATE INDEX sessions_processing ON sessions (consumed_at) WHERE status = 'processing';
    CREATE INDEX sessions_waiting ON sessions (result_expires_at) WHERE waiting_result IS NOT NULL;
    CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;

    CREATE TABLE idempotency (
      scope BYTEA PRIMARY KEY,
      body_hash BYTEA NOT NULL,
      token BYTEA NOT NULL,
      begun BIGINT NOT NULL,
      is_finished BOOLEAN NOT NULL DEFAULT false,
      session TEXT,
      body BYTEA,
      result BYTEA,
      result_expires_at BIGINT
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
    CREATE INDEX idempotency_begun ON idempotency (begun);
    CREATE INDEX idempotency_session ON idempotency (session) WHERE session IS NOT NULL;
    CREATE INDEX idempotency_result ON idempotency (result_expires_at) WHERE result IS NOT NULL;

    CREATE TABLE events (
      seq BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      session_id TEXT NOT NULL,
      type TEXT NOT NULL,
      relying_party TEXT NOT NULL,
      created BIGINT NOT NULL,
      error_code TEXT,
      is_distributed BOOLEAN NOT NULL DEFAULT false
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
    CREATE UNIQUE INDEX events_by_session ON events (session_id, type);
    CREATE INDEX events_of_party ON events (relying_party, seq);
    CREATE INDEX events_new ON events (seq) WHERE NOT is_distributed;
    CREATE INDEX events_created ON events (created);

    CREATE TABLE deliveries (
      event BIGINT NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
      endpoint TEXT NOT NULL,
      relying_party TEXT NOT NULL,
      status TEXT NOT NULL,
      attempts BIGINT NOT NULL,
      begun BIGINT NOT NULL,
      due BIGINT NOT NULL,
      fault TEXT,
      fault_status BIGINT,
      PRIMARY KEY (event, endpoint)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
    CREATE INDEX deliveries_due ON deliveries (relying_party, endpoint, due) WHERE status = 'pending';
    CREATE INDEX deliveries_pending ON deliveries (begun) WHERE status = 'pending';
    CREATE INDEX deliveries_dead ON deliveries (event) WHERE status = 'dead';
    CREATE INDEX deliveries_of_party ON deliveries (relying_party, status, event, endpoint);
    """

  /// The chains of audit entries, and the head of each chain: whoever appends an entry locks the head's row until the
  /// commit. No entries are made for attempts that ended before this step.
  ///
  /// Also the status of a session's evidence, and its sealed bundle. The bundle does not compress, so it is stored
  /// uncompressed and outside the row.
  private static let second = """
    ALTER TABLE sessions ADD COLUMN attempt_protocol TEXT;
    ALTER TABLE sessions ADD COLUMN evidence TEXT;
    ALTER TABLE sessions ADD COLUMN evidence_bundle BYTEA;
    ALTER TABLE sessions ALTER COLUMN evidence_bundle SET STORAGE EXTERNAL;

    CREATE TABLE audit (
      node TEXT COLLATE "C" NOT NULL,
      sequence BIGINT NOT NULL,
      entry BYTEA NOT NULL,
      hash BYTEA NOT NULL,
      PRIMARY KEY (node, sequence)
    );

    CREATE TABLE audit_heads (
      node TEXT COLLATE "C" PRIMARY KEY,
      sequence BIGINT NOT NULL,
      hash BYTEA NOT NULL
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
    """

  /// The same as SQLite's fourth step: indexes and columns for lists, quotas and a relying party's own audit entries.
  private static let third = """
    ALTER TABLE sessions ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
    DROP INDEX sessions_of_party;
    CREATE INDEX sessions_waiting_of_party ON sessions (relying_party, seq) INCLUDE (expires_at, bytes)
      WHERE status = 'requires_input';
    CREATE INDEX sessions_ended_of_party ON sessions (relying_party, status, seq) INCLUDE (bytes)
      WHERE ended_at IS NOT NULL;

    DROP INDEX events_of_party;
    CREATE INDEX events_of_party ON events (relying_party, type, seq);

    ALTER TABLE idempotency ADD COLUMN relying_party TEXT;
    ALTER TABLE idempotency ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
    CREATE INDEX idempotency_of_party ON idempotency (relying_party) INCLUDE (bytes) WHERE is_finished;

    ALTER TABLE audit ADD COLUMN relying_party TEXT;
    UPDATE audit SET relying_party = convert_from(entry, 'UTF8')::json ->> 'relying_party';
    CREATE INDEX audit_of_party ON audit (relying_party, node, sequence);
    """

  /// `next_erasure` is when the next retained value of a session must be erased; NULL if none is left. A session's row
  /// is not deleted before that.
  ///
  /// From this step on, `retained_result` has the form of `KeptValues`. A result from before this step is still erased
  /// with its session.
  private static let fourth = """
    ALTER TABLE sessions ADD COLUMN next_erasure BIGINT;
    CREATE INDEX sessions_erasure ON sessions (next_erasure) WHERE next_erasure IS NOT NULL;
    DROP INDEX sessions_ended;
    CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL AND next_erasure IS NULL;
    """

  /// As in SQLite's sixth step, client secrets and reports are found by their session.
  private static let fifth = """
    ALTER TABLE sessions ADD COLUMN secret_hash BYTEA;
    DROP INDEX events_created;
    """

  /// The same as SQLite's seventh step: the mode by its name.
  private static let sixth = """
    ALTER TABLE mode ADD COLUMN name TEXT NOT NULL DEFAULT 'test';
    UPDATE mode SET name = 'live' WHERE is_live;
    ALTER TABLE mode DROP COLUMN is_live;
    """

  /// The same as SQLite's eighth step.
  private static let seventh = "ALTER TABLE events ADD COLUMN result TEXT"
}
