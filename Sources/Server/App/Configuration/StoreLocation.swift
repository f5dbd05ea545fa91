import Sessions
import Stores

/// The location of stored sessions: `sqlite:` and a path, or `postgresql://…`.
package enum StoreLocation: Sendable, CustomStringConvertible {
  case sqlite(path: String)
  case postgreSQL(PostgreSQLAddress)

  /// - Parameter resolve: turns a path in the text into the path to open.
  package init(_ text: String, resolve: (String) -> String = { $0 }) throws(ConfigurationError) {
    let scheme = "sqlite:"
    if PostgreSQLAddress.isOne(text) {
      self = .postgreSQL(try PostgreSQLAddress(text))
    } else if text.hasPrefix(scheme), text.count > scheme.count {
      self = .sqlite(path: resolve(String(text.dropFirst(scheme.count))))
    } else {
      throw ConfigurationError("must be \"sqlite:\" and a path, or a postgresql:// URL")
    }
  }

  /// Display text, without a password.
  package var description: String {
    switch self {
    case .sqlite(let path): path
    case .postgreSQL(let address): "\(address)"
    }
  }

  // MARK: Opening

  /// - Parameter node: the name of the chain to which audit entries are appended.
  package func open(mode: ServerMode, node: NodeName = .standard) throws(StartError) -> any SessionStore {
    try attempt { () throws(StoreError) in
      switch self {
      case .sqlite(let path): try SQLiteStore(path: path, mode: mode, node: node)
      case .postgreSQL(let address): try PostgreSQLStore(address, mode: mode, node: node)
      }
    }
  }

  /// Upgrades the store to this version's schema. Opening a SQLite file already upgrades it, since the file belongs to
  /// one server.
  func migrate(mode: ServerMode) async throws(StartError) {
    switch self {
    case .sqlite: await (try open(mode: mode)).close()
    case .postgreSQL(let address):
      try attempt { () throws(StoreError) in try PostgreSQLStore.migrate(address, mode: mode) }
    }
  }

  fileprivate func attempt<Value>(_ open: () throws(StoreError) -> Value) throws(StartError) -> Value {
    do throws(StoreError) { return try open() } catch { throw startError(error) }
  }

  private func startError(_ error: StoreError) -> StartError {
    switch error {
    case .otherMode(let mode):
      .configuration("\(self): is a store of \(mode.rawValue) mode and serves no other")
    case .newerSchema(let found, let known):
      .configuration(
        "\(self): was written by a newer version (schema \(found), known \(known)); run that version, or restore a "
          + "backup from before the upgrade")
    case .olderSchema(0, _):
      .configuration("\(self): has no tables yet; create them with \"mdoc serve --migrate\" and the same options")
    case .olderSchema(let found, let known):
      .configuration(
        "\(self): has the tables of an older version (schema \(found), needed \(known)); upgrade them with "
          + "\"mdoc serve --migrate\" and the same options")
    case .unavailable(let reason), .corrupt(let reason): .unavailable("\(self): \(reason)")
    case .closed: .unavailable("\(self): closed")
    }
  }
}

/// Opens a store to read its audit entries without a server. Writes nothing.
package enum AuditSource {
  package static func open(configurationFile: String) throws(StartError) -> any AuditStore {
    try open(try ConfigurationLoader(path: configurationFile).store())
  }

  package static func open(_ store: StoreLocation) throws(StartError) -> any AuditStore {
    try store.attempt { () throws(StoreError) in
      switch store {
      case .sqlite(let path): try SQLiteAuditReader(path: path)
      case .postgreSQL(let address): try open(address)
      }
    }
  }

  private static func open(_ address: PostgreSQLAddress) throws(StoreError) -> any AuditStore {
    do throws(StoreError) {
      return try PostgreSQLStore(address, mode: .live, connections: 1)
    } catch {
      guard case .otherMode(let mode) = error else { throw error }
      return try PostgreSQLStore(address, mode: mode, connections: 1)
    }
  }
}
