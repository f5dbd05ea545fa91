import Sessions

@testable import Stores

/// Brings a file back to a schema of earlier versions, for tests of its migration.
extension SQLiteConnection {
  /// Reverts the fourth and the fifth step for sessions and replies.
  func undoLaterSteps() throws(StoreError) {
    try undoSeventhStep()
    try undoSixthStep()
    for index in [
      "sessions_erasure", "sessions_ended", "sessions_waiting_of_party", "sessions_ended_of_party",
      "idempotency_of_party",
    ] {
      try execute("DROP INDEX \(index)")
    }
    for column in [
      "sessions DROP COLUMN next_erasure", "sessions DROP COLUMN bytes", "idempotency DROP COLUMN bytes",
      "idempotency DROP COLUMN relying_party",
    ] {
      try execute("ALTER TABLE \(column)")
    }
    try execute("CREATE INDEX sessions_of_party ON sessions (relying_party, seq)")
    try execute("CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL")
  }

  /// The mode as it was stored when there were only two modes.
  func undoSeventhStep() throws(StoreError) {
    try execute(
      """
      ALTER TABLE mode ADD COLUMN is_live INTEGER NOT NULL DEFAULT 0;
      UPDATE mode SET is_live = 1 WHERE name = 'live';
      ALTER TABLE mode DROP COLUMN name;
      """)
  }

  func undoEleventhStep() throws(StoreError) {
    try execute(
      """
      DROP INDEX audit_by_node;
      DROP INDEX audit_of_party;
      ALTER TABLE audit RENAME TO later_audit;
      CREATE TABLE audit (
        node TEXT NOT NULL, sequence INTEGER NOT NULL, entry BLOB NOT NULL, hash BLOB NOT NULL, relying_party TEXT,
        PRIMARY KEY (node, sequence)
      ) WITHOUT ROWID;
      INSERT INTO audit SELECT node, sequence, entry, hash, relying_party FROM later_audit;
      DROP TABLE later_audit;
      CREATE INDEX audit_of_party ON audit (relying_party, node, sequence);
      """)
  }

  func undoTenthStep() throws(StoreError) {
    try execute("DROP INDEX sessions_created; DROP INDEX sessions_by_reference")
    for column in ["client_reference_id", "doc_types"] { try execute("ALTER TABLE sessions DROP COLUMN \(column)") }
  }

  /// Sessions in the older form, with a table of offers; each has the offer of `makeSession`.
  private func undoSixthStep() throws(StoreError) {
    try execute(
      """
      CREATE TABLE offers (
        session INTEGER NOT NULL REFERENCES sessions (seq) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        protocol TEXT NOT NULL,
        data BLOB NOT NULL,
        material BLOB,
        PRIMARY KEY (session, position)
      ) WITHOUT ROWID;
      UPDATE sessions SET client_secret_hash = secret_hash;
      """)
    try run(
      "INSERT INTO offers SELECT seq, 0, protocols, $1, $2 FROM sessions",
      .blob(Array(#"["o","zulu",1,"alpha",["o","b",true,"a",null]]"#.utf8)), .blob([UInt8](repeating: 0x5a, count: 16)))
    for column in ["secret_hash", "protocols", "requests", "materials"] {
      try execute("ALTER TABLE sessions DROP COLUMN \(column)")
    }
  }
}
