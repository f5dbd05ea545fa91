import Sessions
import Stores

/// Where sessions are stored: `sqlite:` and a path, or `postgresql://…`.
package enum StoreLocation: Sendable, CustomStringConvertible {
  case sqlite(path: String)
  case postgreSQL(PostgreSQLAddress)

  /// - Parameter resolve: turns a path of the text into the path to open.
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

  /// Text for people, without a password.
  package var description: String {
    switch self {
    case .sqlite(let path): path
    case .postgreSQL(let address): "\(address)"
    }
  }

  // MARK: Opening

  /// - Parameter node: names the chain of audit entries that is written.
  package func open(mode: ServerMode, node: NodeName = .standard) throws(StartError) -> any SessionStore {
    do throws(StoreError) {
      return switch self {
      case .sqlite(let path): try SQLiteStore(path: path, mode: mode, node: node)
      case .postgreSQL(let address): try PostgreSQLStore(address, mode: mode, node: node)
      }
    } catch {
      throw startError(error)
    }
  }

  /// Brings the store to this version's schema. A SQLite file belongs to one server, and opening it changes its schema.
  func migrate(mode: ServerMode) async throws(StartError) {
    do throws(StoreError) {
      switch self {
      case .sqlite(let path): await (try SQLiteStore(path: path, mode: mode)).close()
      case .postgreSQL(let address): try PostgreSQLStore.migrate(address, mode: mode)
      }
    } catch {
      throw startError(error)
    }
  }

  func startError(_ error: StoreError) -> StartError {
    switch error {
    case .otherMode(let mode):
      .configuration("\(self): is a store of \(mode.rawValue) mode and serves no other")
    case .newerSchema(let found, let known):
      .configuration(
        "\(self): was written by a newer version (schema \(found), known \(known)); run that version, or put back a "
          + "backup from before it")
    case .olderSchema(0, _):
      .configuration("\(self): has no tables yet; make them with \"mdoc serve --migrate\" and the same options")
    case .olderSchema(let found, let known):
      .configuration(
        "\(self): has the tables of an older version (schema \(found), needed \(known)); change them with "
          + "\"mdoc serve --migrate\" and the same options")
    case .unavailable(let reason), .corrupt(let reason): .unavailable("\(self): \(reason)")
    case .closed: .unavailable("\(self): closed")
    }
  }
}

/// The audit entries of a store, for reading them without a server. Nothing is written.
package enum AuditSource {
  /// Opens the store of a configuration. Nothing else of the configuration is opened.
  package static func open(configurationFile: String) throws(StartError) -> any AuditStore {
    try open(try ConfigurationLoader(path: configurationFile).store())
  }

  /// Opens a store of any mode.
  package static func open(_ store: StoreLocation) throws(StartError) -> any AuditStore {
    do throws(StoreError) {
      switch store {
      case .sqlite(let path): return try SQLiteAuditReader(path: path)
      case .postgreSQL(let address): return try open(address)
      }
    } catch {
      throw store.startError(error)
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
