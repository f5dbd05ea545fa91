import Base
import Sessions

/// Sessions in one SQLite file: one writer thread that commits in groups, one that reads single rows, and one that reads
/// lists, so that nobody waits for somebody else's.
///
/// A consumed challenge survives power loss (`synchronous = FULL`), erased data leave neither the file nor its log
/// (`secure_delete`, truncated log), and a fault of the disk is `unavailable` with nothing half-done.
package final class SQLiteStore: SessionStore {
  package let isLive: Bool
  /// Whose chain of audit entries this process writes.
  package let node: NodeName
  let writer: DatabaseThread
  let reader: DatabaseThread
  let lister: DatabaseThread

  /// Opens or makes the file, and its schema. It blocks: for the start of the program, not for a task.
  package convenience init(path: String, isLive: Bool, node: NodeName = .standard) throws(StoreError) {
    let writing = try SQLiteConnection(path: path, role: .writer)
    try SQLiteSchema.prepare(writing, isLive: isLive)
    try self.init(path: path, isLive: isLive, node: node, writer: DatabaseThread(writing, role: .writer))
  }

  /// - Parameter writer: of a file that has this version's schema.
  init(path: String, isLive: Bool, node: NodeName = .standard, writer: DatabaseThread) throws(StoreError) {
    self.isLive = isLive
    self.node = node
    self.writer = writer
    // After the schema: a reader makes no file.
    let reading = try SQLiteConnection(path: path, role: .reader)
    let listing = try SQLiteConnection(path: path, role: .reader)
    reader = try DatabaseThread(reading, role: .reader)
    lister = try DatabaseThread(listing, role: .reader)
  }

  deinit {
    writer.stop()
    reader.stop()
    lister.stop()
  }

  package func probe() async throws(StoreError) {
    _ = try await reader.perform { connection throws(StoreError) in
      try connection.first("SELECT count(*) FROM migrations") { $0.integer(0) }
    }
    try await writer.perform { connection throws(StoreError) in try connection.proveWritable() }
  }

  package func close() async {
    await reader.close()
    await lister.close()
    await writer.close()
  }
}
