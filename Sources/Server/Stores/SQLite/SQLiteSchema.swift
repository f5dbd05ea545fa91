import Sessions

/// The steps that make the tables, from the first version on. A step is never changed once it has been released.
enum SQLiteSchema {
  private static let steps = [first, second, third, fourth, fifth, sixth, seventh, eighth]

  static var version: Int { steps.count }

  /// Brings the file to this version, in one transaction.
  ///
  /// - Throws: `newerSchema` if the file is of a newer version, `otherMode` if it belongs to another mode.
  static func prepare(_ connection: SQLiteConnection, mode: ServerMode) throws(StoreError) {
    try connection.transaction { connection throws(StoreError) in
      try connection.execute("CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY)")
      try connection.execute("CREATE TABLE IF NOT EXISTS mode (is_live INTEGER NOT NULL)")
      let found = try connection.first("SELECT coalesce(max(version), 0) FROM migrations") { Int($0.integer(0)) } ?? 0
      guard found <= steps.count else { throw .newerSchema(found: found, known: steps.count) }
      let recorded = try self.mode(connection, at: found)
      if let recorded, recorded != mode { throw .otherMode(recorded) }
      for (index, step) in steps.enumerated() where index >= found {
        try connection.execute(step)
        try connection.run("INSERT INTO migrations VALUES (?)", .integer(Int64(index + 1)))
      }
      if recorded == nil { try connection.run("INSERT INTO mode VALUES (?)", .text(mode.rawValue)) }
    }
  }

  /// The mode that the file of this version serves; nil in a new file.
  private static func mode(_ connection: SQLiteConnection, at version: Int) throws(StoreError) -> ServerMode? {
    guard version >= 7 else {
      return try connection.first("SELECT is_live FROM mode") { $0.integer(0) != 0 ? .live : .test }
    }
    guard let name = try connection.first("SELECT name FROM mode", read: { $0.text(0) }) else { return nil }
    guard let mode = ServerMode(rawValue: name) else { throw .corrupt("the store is of an unknown mode") }
    return mode
  }

  /// `seq` orders sessions by creation; times cannot, since they are whole Unix seconds. `content`, `last_error` and
  /// `report` are JSON. `material`, the results and the kept replies are sealed before they come here.
  private static let first = """
    CREATE TABLE sessions (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      relying_party TEXT NOT NULL,
      created INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      status TEXT NOT NULL,
      attempt TEXT,
      consumed_at INTEGER,
      ended_at INTEGER,
      client_secret_hash BLOB,
      content BLOB,
      last_error BLOB,
      result_expires_at INTEGER,
      waiting_result BLOB,
      retained_result BLOB,
      report_id TEXT,
      report BLOB
    );
    CREATE INDEX sessions_of_party ON sessions (relying_party, seq);
    CREATE UNIQUE INDEX sessions_by_secret ON sessions (client_secret_hash) WHERE client_secret_hash IS NOT NULL;
    CREATE UNIQUE INDEX sessions_by_report ON sessions (report_id) WHERE report_id IS NOT NULL;
    CREATE INDEX sessions_open ON sessions (expires_at) WHERE status = 'requires_input';
    CREATE INDEX sessions_processing ON sessions (consumed_at) WHERE status = 'processing';
    CREATE INDEX sessions_waiting ON sessions (result_expires_at) WHERE waiting_result IS NOT NULL;
    CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;

    CREATE TABLE offers (
      session INTEGER NOT NULL REFERENCES sessions (seq) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      protocol TEXT NOT NULL,
      data BLOB NOT NULL,
      material BLOB,
      PRIMARY KEY (session, position)
    ) WITHOUT ROWID;

    CREATE TABLE idempotency (
      scope BLOB PRIMARY KEY,
      body_hash BLOB NOT NULL,
      token BLOB NOT NULL,
      begun INTEGER NOT NULL,
      is_finished INTEGER NOT NULL DEFAULT 0,
      session TEXT,
      body BLOB,
      result BLOB,
      result_expires_at INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX idempotency_begun ON idempotency (begun);
    CREATE INDEX idempotency_session ON idempotency (session) WHERE session IS NOT NULL;
    CREATE INDEX idempotency_result ON idempotency (result_expires_at) WHERE result IS NOT NULL;
    """

  /// Events, and the outbox.
  ///
  /// `type` is the status that the session took with the event. `due` is when a pending delivery is tried next; while
  /// it is tried, `due` is the end of its lease. An event refers to its session by `seq` and not by id: ids are random,
  /// and an index of them costs more than the rest of an event.
  ///
  /// `distributed` is the `seq` of the last event for which deliveries were made. One number is enough, because writes
  /// come one after another, also from several processes. No events are made for changes from before this step.
  private static let second = """
    CREATE TABLE events (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      session INTEGER NOT NULL REFERENCES sessions (seq) ON DELETE CASCADE,
      session_id TEXT NOT NULL,
      type TEXT NOT NULL,
      relying_party TEXT NOT NULL,
      created INTEGER NOT NULL,
      error_code TEXT
    );
    CREATE UNIQUE INDEX events_by_session ON events (session, type);
    CREATE INDEX events_of_party ON events (relying_party, seq);
    CREATE INDEX events_created ON events (created);

    CREATE TABLE outbox (distributed INTEGER NOT NULL);
    INSERT INTO outbox VALUES (0);

    CREATE TABLE deliveries (
      event INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
      endpoint TEXT NOT NULL,
      relying_party TEXT NOT NULL,
      status TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      begun INTEGER NOT NULL,
      due INTEGER NOT NULL,
      fault TEXT,
      fault_status INTEGER,
      PRIMARY KEY (event, endpoint)
    ) WITHOUT ROWID;
    CREATE INDEX deliveries_due ON deliveries (relying_party, endpoint, due) WHERE status = 'pending';
    CREATE INDEX deliveries_pending ON deliveries (begun) WHERE status = 'pending';
    CREATE INDEX deliveries_dead ON deliveries (event) WHERE status = 'dead';
    CREATE INDEX deliveries_of_party ON deliveries (relying_party, status, event, endpoint);
    """

  /// The chains of audit entries; the status of a session's evidence, and its sealed bundle. No entries are made for
  /// attempts that ended before this step.
  private static let third = """
    ALTER TABLE sessions ADD COLUMN attempt_protocol TEXT;
    ALTER TABLE sessions ADD COLUMN evidence TEXT;
    ALTER TABLE sessions ADD COLUMN evidence_bundle BLOB;

    CREATE TABLE audit (
      node TEXT NOT NULL,
      sequence INTEGER NOT NULL,
      entry BLOB NOT NULL,
      hash BLOB NOT NULL,
      PRIMARY KEY (node, sequence)
    ) WITHOUT ROWID;
    """

  /// Indexes and columns for lists, quotas and a relying party's own audit entries.
  ///
  /// Waiting sessions and ended sessions have an index each (`SessionListing`): the two are written less often than one
  /// index of all sessions by status. They include the columns that usage is counted from, so counting reads no rows.
  /// Events are listed by type; a list of all types merges them.
  ///
  /// `bytes` is the number of bytes that are kept of a session or a reply. It is 0 for those from before this step,
  /// whose size is not known.
  private static let fourth = """
    ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    DROP INDEX sessions_of_party;
    CREATE INDEX sessions_waiting_of_party ON sessions (relying_party, seq, expires_at, bytes)
      WHERE status = 'requires_input';
    CREATE INDEX sessions_ended_of_party ON sessions (relying_party, status, seq, bytes) WHERE ended_at IS NOT NULL;

    DROP INDEX events_of_party;
    CREATE INDEX events_of_party ON events (relying_party, type, seq);

    ALTER TABLE idempotency ADD COLUMN relying_party TEXT;
    ALTER TABLE idempotency ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX idempotency_of_party ON idempotency (relying_party, bytes) WHERE is_finished;

    ALTER TABLE audit ADD COLUMN relying_party TEXT;
    UPDATE audit SET relying_party = json_extract(CAST(entry AS TEXT), '$.relying_party')
      WHERE json_valid(CAST(entry AS TEXT));
    CREATE INDEX audit_of_party ON audit (relying_party, node, sequence);
    """

  /// `next_erasure` is when the next retained value of a session must be erased; NULL if none is left. A session's row
  /// is not deleted before that.
  ///
  /// From this step on, `retained_result` has the form of `KeptValues`. A result from before this step is still erased
  /// with its session.
  private static let fifth = """
    ALTER TABLE sessions ADD COLUMN next_erasure INTEGER;
    CREATE INDEX sessions_erasure ON sessions (next_erasure) WHERE next_erasure IS NOT NULL;
    DROP INDEX sessions_ended;
    CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL AND next_erasure IS NULL;
    """

  /// A session in one row. The protocols, requests and materials of its offers are lines of text, in the order of the
  /// offers. A request is JSON without line breaks, and a material is in hexadecimal.
  ///
  /// A client secret or a report id names its session, so both are found by the session and need no index of random
  /// values; those from before this step keep their index. Events are stored in order of time, so expired events are
  /// found from the beginning of the table.
  private static let sixth = """
    ALTER TABLE sessions ADD COLUMN secret_hash BLOB;
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
    DROP INDEX events_created;
    """

  /// The mode by its name: there are three. A file from before this step is of live or of test mode.
  private static let seventh = """
    ALTER TABLE mode ADD COLUMN name TEXT NOT NULL DEFAULT 'test';
    UPDATE mode SET name = 'live' WHERE is_live <> 0;
    ALTER TABLE mode DROP COLUMN is_live;
    """

  /// Where the result of a verified session was, in its event.
  private static let eighth = "ALTER TABLE events ADD COLUMN result TEXT"

  /// Checks, for a reader that changes nothing, that the file has exactly this version's schema.
  static func check(_ connection: SQLiteConnection) throws(StoreError) {
    let found = try connection.first("SELECT coalesce(max(version), 0) FROM migrations") { Int($0.integer(0)) } ?? 0
    guard found <= steps.count else { throw .newerSchema(found: found, known: steps.count) }
    guard found == steps.count else { throw .olderSchema(found: found, known: steps.count) }
  }
}
